"""The double for the tests of users: their tools run with the real adapters, and end as the test says."""

from __future__ import annotations

import asyncio
import base64
import secrets
from contextlib import AsyncExitStack
from typing import Any

import psycopg
import pytest
from conftest import required
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ElicitResult
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from urlmode import BegunClaim, ElicitationOpenError, ElicitationTimeoutError, Expected, TargetArguments, UrlMode
from urlmode.mcp import Accepted, Input, ToolAnswer, collect_input, request_state_security, with_elicitation
from urlmode.testing import ScriptedUrlMode, accept, approve, decline, expire, hold, temporary_database, type_in

KEYS = f"1 {base64.b64encode(secrets.token_bytes(32)).decode()}\n"

PAYMENT: dict[str, Any] = {"provider": "stripe", "kind": "payment", "subject": "ada", "item": "report:42", "expected": Expected(1050, "EUR")}


def make_server(urlmode: ScriptedUrlMode) -> MCPServer:
    """As a user would write it."""
    server = MCPServer("reports", request_state_security=request_state_security(urlmode))

    @server.tool()
    async def buy(ctx: Context) -> ToolAnswer:
        return await with_elicitation(
            ctx, paid, urlmode=urlmode, subject="ada", provider="stripe", kind="payment", item="report:42",
            expected=Expected(1050, "EUR"), message="10.50 EUR", target_url=checkout,
        )  # fmt: skip

    @server.tool()
    async def store(ctx: Context) -> ToolAnswer:
        return await collect_input(
            ctx, typed, urlmode=urlmode, subject="ada", provider="intake", message="Your key.",
            form={"title": "Your key", "fields": [{"name": "key", "type": "secret", "label": "Key"}]},
        )  # fmt: skip

    return server


def paid(accepted: Accepted) -> str:
    return f"Paid {accepted.amount} {accepted.currency} with {accepted.reference}."


def typed(given: Input) -> str:
    return f"A key of {len(str(given.values['key']))} characters."


def checkout(urls: TargetArguments) -> str:
    return f"https://checkout.example/?reference={urls.elicitation_id}"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_tool_of_a_user_ends_as_the_test_says(mode: Any) -> None:
    asked: list[str] = []

    async def user(context: Any, params: Any) -> ElicitResult:
        asked.append(params.url)
        return ElicitResult(action="accept")

    ends = [accept(reference="cs_1"), accept(amount=2000), type_in({"key": "12345"}), decline(), expire(), hold()]
    async with ScriptedUrlMode(*ends) as urlmode, Client(make_server(urlmode), mode=mode, elicitation_callback=user) as client:
        said = []
        for tool in ("buy", "buy", "store", "buy", "buy", "buy"):
            result = await client.call_tool(tool, {})
            content: Any = result.content[0]
            said.append(content.text)
        held = said.pop()
        assert held.startswith("Not done: it was paid, but another amount than was asked for, or a part of it may have gone back.")
        assert said == [
            "Paid 1050 EUR with cs_1.", f"Paid 2000 EUR with test_{urlmode.created[1]}.", "A key of 5 characters.",
            "Not done: declined.", "Not done: nobody completed it in time.",
        ]  # fmt: skip
    assert len(asked) == 6 and all(url.startswith("https://callback.example/") for url in asked)


async def test_the_methods_end_as_the_test_says_and_check_what_they_are_given() -> None:
    async with ScriptedUrlMode(accept({"event": "e"}), approve("eve", "Fine.")) as urlmode:
        one = await urlmode.create(**PAYMENT, target_url=checkout)
        outcome = await urlmode.wait_for_completion(one.elicitation_id, subject="ada")
        assert (outcome.action, outcome.result, outcome.amount, outcome.expected) == ("accept", {"event": "e"}, 1050, Expected(1050, "EUR"))
        claim = await urlmode.begin_claim(one.elicitation_id, subject="ada")
        assert isinstance(claim, BegunClaim)
        async with claim:
            assert await claim.fulfil("done") and await claim.confirm()
        two = await urlmode.create_approval(provider="approvals", subject="ada", form={"title": "Sure?"}, approver="others")
        decided = await urlmode.wait_for_completion(two.elicitation_id, subject="ada")
        assert (decided.approver, decided.comment) == ("eve", "Fine.") and decided.decided_at is not None
        three = await urlmode.create(**PAYMENT, target_url=checkout)
        with pytest.raises(ElicitationTimeoutError):
            await urlmode.wait_for_completion(three.elicitation_id, subject="ada", timeout=0.05)
        with pytest.raises(ElicitationOpenError):
            await urlmode.begin_claim(three.elicitation_id, subject="ada")
        with pytest.raises(TypeError, match="item is required"):
            await urlmode.create(**{**PAYMENT, "item": None}, target_url=checkout)
        assert await urlmode.unclaimed() == [] and not await urlmode.paid(subject="ada", item="report:42")


async def test_a_temporary_database_is_a_real_one_and_is_dropped() -> None:
    admin_url = required("URLMODE_ADMIN_DATABASE_URL")
    with pytest.raises(KeyError, match="the test fails"):
        # Two at once, as test processes have them: the roles are the same.
        async with AsyncExitStack() as stack:
            urls = await asyncio.gather(*(stack.enter_async_context(temporary_database(admin_url)) for _ in range(2)))
            names = [conninfo_to_dict(url)["dbname"] for url in urls]
            assert len(set(names)) == 2 and await rows_of(admin_url, names) == 2
            for url in urls:
                urlmode = await stack.enter_async_context(UrlMode(database_url=url, keys=KEYS, base_url="https://callback.example"))
                one = await urlmode.create(**PAYMENT, target_url=checkout)
                waiting = asyncio.create_task(urlmode.wait_for_completion(one.elicitation_id, subject="ada"))
                await urlmode.complete(one.elicitation_id, subject="ada", action="accept", amount=1050, currency="EUR", reference="cs_1")
                assert (await waiting).reference == "cs_1"
                assert isinstance(await urlmode.begin_claim(one.elicitation_id, subject="ada"), BegunClaim)
                async with await psycopg.AsyncConnection.connect(url) as server:
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        await server.execute("SELECT FROM urlmode.elicitation")
            raise KeyError("the test fails")
    assert await rows_of(admin_url, names) == 0


async def test_a_temporary_database_has_what_the_migrations_make() -> None:
    objects = "SELECT kind, name, holder, digest FROM urlmode.object ORDER BY 1, 2, 3"
    admin_url = required("URLMODE_ADMIN_DATABASE_URL")
    async with temporary_database(admin_url) as url, await psycopg.AsyncConnection.connect(make_conninfo(url, options="")) as own:
        async with await psycopg.AsyncConnection.connect(admin_url) as migrated:
            made, wanted = [await (await each.execute(objects.encode())).fetchall() for each in (own, migrated)]
    assert made == wanted != []


async def rows_of(admin_url: str, names: list[Any]) -> Any:
    async with await psycopg.AsyncConnection.connect(admin_url) as admin:
        cursor = await admin.execute("SELECT count(*) FROM pg_database WHERE datname = ANY (%s)", [names])
        row = await cursor.fetchone()
    return row and row[0]
