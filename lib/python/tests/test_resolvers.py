"""Resolvers: of the official SDK 2.x (`Resolve`), and of FastMCP (`Depends`), with the oldest and newest of each. The same
servers use an account of a vault, also with SDK 1.x."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, cast

import fastmcp
import fork_server
import psycopg
import pytest
import resolver_server
from conftest import ROOT, Callback, Owner, owner, required, until
from fastmcp.dependencies import CurrentContext, Depends
from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import Context, MCPServer, Resolve
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequestURLParams, ElicitResult
from shop import FastMcpClient
from token_endpoint import TokenEndpoint
from vault_bed import endpoint, key_line

import urlmode
from urlmode import UrlMode
from urlmode import fastmcp as with_fastmcp
from urlmode.mcp import Accepted, Input, collect_input, resolve, resolver_extension, with_elicitation

__all__ = ["endpoint"]
LEGACY, ROUNDS = "legacy", "2026-07-28"
SERVERS = [
    ("python-oldest", "sdk1", LEGACY), ("python-1", "sdk1", LEGACY),
    ("python-2", "sdk", LEGACY), ("python-2", "sdk", ROUNDS), ("python", "sdk", LEGACY), ("python", "sdk", ROUNDS),
    ("python-oldest", "fastmcp", LEGACY), ("python-1", "fastmcp", LEGACY), ("python-2", "fastmcp", ROUNDS),
    ("python", "fastmcp", LEGACY), ("python", "fastmcp", ROUNDS),
]  # fmt: skip


class User:
    """What the user does when the client asks."""

    def __init__(self, callback: Callback) -> None:
        self.subject = owner()["subject"]
        self.callback = callback
        self.does = "pays"
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams)
        self.asked.append(params.url)
        if self.does in ("pays", "connects"):
            async with await psycopg.AsyncConnection.connect(required("URLMODE_ADMIN_DATABASE_URL")) as connection:
                statement = "SELECT id::text FROM urlmode.elicitation WHERE subject = %s AND status <> 'completed'"
                row = await (await connection.execute(statement, [self.subject])).fetchone()
            assert row is not None
            if self.does == "pays":
                await self.callback.paid(row[0])
            else:
                me: Owner = {"subject": self.subject, "session": ""}
                await self.callback.open(row[0], me)
                await self.callback.come_back(row[0], me, {"code": "a-code"})
        return ElicitResult(action="decline" if self.does == "declines" else "accept")

    async def answered(self) -> None:
        """Returns when the server knows that its answers were written: until then, the next call has the same result."""
        statement = """SELECT count(*) FROM urlmode.lease l JOIN urlmode.elicitation e ON e.id = l.elicitation
            WHERE e.subject = %s AND e.kind <> 'oauth'"""
        async with await psycopg.AsyncConnection.connect(
            required("URLMODE_ADMIN_DATABASE_URL"), autocommit=True
        ) as connection:
            for _ in range(600):
                if await (await connection.execute(statement, [self.subject])).fetchone() == (0,):
                    return
                await asyncio.sleep(0.05)
        raise AssertionError("no answer was written in 30 s")


def text_of(result: Any) -> str:
    return str(result.content[0].text)


@asynccontextmanager
async def client_of(
    environment: str, framework: str, mode: Any, user: User, keys_file: Path, endpoint: TokenEndpoint
) -> AsyncIterator[Client]:
    python, path = ROOT / "build" / environment / "bin/python", str(Path(urlmode.__file__).parents[1])
    program, *args = fork_server.command(python, path, resolver_server.__file__, framework)
    server = StdioServerParameters(
        command=program, args=args,
        env={
            **os.environ, "SUBJECT": user.subject, "URLMODE_KEYS_FILE": str(keys_file), "VAULT_KEYS": key_line(7),
            "OAUTH": json.dumps(endpoint.oauth),
        },
    )  # fmt: skip
    async with Client(server, mode=mode, elicitation_callback=user) as client:
        yield client


@pytest.mark.parametrize(("environment", "framework", "mode"), SERVERS)
async def test_each_version(
    callback: Callback, keys_file: Path, endpoint: TokenEndpoint, environment: str, framework: str, mode: str
) -> None:
    user = User(callback)
    async with client_of(environment, framework, mode, user, keys_file, endpoint) as client:
        user.does = "connects"
        for _ in range(2):
            assert text_of(await client.call_tool("use", {})) == "access-1 of acme"
        assert (len(user.asked), endpoint.codes) == (1, ["a-code"])
        if framework == "sdk1":
            return  # It has no resolvers.
        user.does = "pays"
        user.asked.clear()
        # A tool that fails runs again, with the same payment.
        assert (await client.call_tool("buy", {"how": "raises"})).is_error
        thanks = text_of(await client.call_tool("buy", {"how": "works"}))
        assert thanks.startswith("Thanks for cs_") and len(user.asked) == 1
        await user.answered()
        # The next call is about another one.
        assert text_of(await client.call_tool("buy", {"how": "works"})) != thanks
        assert len(user.asked) == 2
        await user.answered()
        user.does = "declines"
        declined = await client.call_tool("buy", {"how": "works"})
        assert "The client did not open it: it declined." in text_of(declined)


def client_in_process(server: Any, user: User, mode: Any = LEGACY) -> Any:
    if isinstance(server, MCPServer):
        return Client(server, mode=mode, elicitation_callback=user)

    async def choose(message: str, response_type: Any, params: Any, context: Any) -> ElicitResult:
        return await user(context, params)

    return FastMcpClient(server, mode=mode, elicitation_handler=choose)


class Shop:
    """In this process. The tool waits for the gate."""

    def __init__(self, urlmode: UrlMode, callback: Callback, framework: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.user = User(callback)
        self.begun, self.gate = asyncio.Event(), asyncio.Event()
        self.ends: list[str] = []
        self._framework, self._urlmode = framework, urlmode
        monkeypatch.setattr(resolver_server, "SUBJECT", self.user.subject)
        monkeypatch.setattr(resolver_server, "paid", self._buy)

    async def _buy(self, accepted: Any, how: str) -> str:
        self.begun.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.ends.append("cancelled")
            raise
        self.ends.append("made")
        return f"Made for {accepted.reference}."

    def client(self, mode: Any = LEGACY, **options: Any) -> Any:
        return client_in_process(resolver_server.MAKE[self._framework](self._urlmode, **options), self.user, mode)


@pytest.fixture(params=["sdk", "fastmcp"])
def shop(
    request: pytest.FixtureRequest, urlmode: UrlMode, callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> Shop:
    return Shop(urlmode, callback, request.param, monkeypatch)


@pytest.mark.parametrize("mode", [LEGACY, ROUNDS])
async def test_without_an_outcome_the_call_has_the_link(shop: Shop, mode: str) -> None:
    shop.user.does = "waits"
    async with shop.client(mode, round_timeout=0.3) as client:
        result = await client.call_tool("buy", {"how": "works"})
    assert result.structured_content is not None
    assert result.structured_content["elicitation"]["url"] == shop.user.asked[0]
    assert shop.user.asked[0] in text_of(result) and not result.is_error
    assert not shop.begun.is_set()


async def test_the_next_call_has_what_a_cancelled_one_has_made(shop: Shop, urlmode: UrlMode) -> None:
    async with shop.client() as client:
        call = asyncio.create_task(client.call_tool("buy", {"how": "works"}))
        await asyncio.wait_for(shop.begun.wait(), 30)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.sleep(0.2)  # The server hears of it.
        shop.gate.set()
        await until("it is made", lambda: shop.ends == ["made"])
        assert text_of(await client.call_tool("buy", {"how": "works"})).startswith("Made for cs_")
    assert (shop.ends, len(shop.user.asked)) == (["made"], 1)


async def test_a_call_that_is_cancelled_while_its_user_is_asked(shop: Shop, urlmode: UrlMode) -> None:
    shop.user.does = "waits"
    async with shop.client() as client:
        call = asyncio.create_task(client.call_tool("buy", {"how": "works"}))
        await until("the user is asked", lambda: len(shop.user.asked) == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until("nobody waits but for the notification", lambda: urlmode.open_waits <= 1)
        shop.user.does = "pays"
        shop.gate.set()
        assert text_of(await client.call_tool("buy", {"how": "works"})).startswith("Made for cs_")
    assert shop.ends == ["made"]


async def test_aclose_stops_the_tool(shop: Shop, urlmode: UrlMode) -> None:
    async with shop.client() as client:
        call = asyncio.create_task(client.call_tool("buy", {"how": "works"}))
        await asyncio.wait_for(shop.begun.wait(), 30)
        await urlmode.aclose()
        assert (await call).is_error
    assert shop.ends == ["cancelled"]


async def test_a_mistake_in_the_options_is_an_error_of_the_tool(shop: Shop) -> None:
    async with shop.client(message="") as client:
        result = await client.call_tool("buy", {"how": "works"})
    assert result.is_error and "buy" in text_of(result)
    assert not shop.begun.is_set()


async def test_an_error_of_the_protocol_stays_one(shop: Shop) -> None:
    async with shop.client(ask="error") as client:
        with pytest.raises(MCPError) as error:
            await client.call_tool("buy", {"how": "works"})
    assert error.value.code == -32042
    assert error.value.data["elicitations"][0]["message"] == "10.50 EUR"


@pytest.mark.parametrize("wrong", ["it is missing", "two ask"])
async def test_what_the_server_lacks_is_said(
    urlmode: UrlMode, callback: Callback, wrong: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def one(ctx: Context[Any, Any]) -> Accepted:
        return await resolve(cast(Any, with_elicitation), ctx, **resolver_server.options(urlmode, subject=subject))

    async def other(ctx: Context[Any, Any]) -> Accepted:
        more = {"subject": subject, "provider": "github", "kind": "oauth", "item": None, "expected": None}
        return await resolve(cast(Any, with_elicitation), ctx, **resolver_server.options(urlmode, **more))

    async def buy(one: Any, other: Any) -> str:
        return "never"

    for resolver in (one, other):
        resolver.__annotations__.update({"ctx": Context[Any, Any], "return": Accepted})
    buy.__annotations__ = {"one": Annotated[Accepted, Resolve(one)], "other": Annotated[Accepted, Resolve(other)]}
    user = User(callback)
    subject = user.subject
    server = MCPServer("shop", extensions=[] if wrong == "it is missing" else [resolver_extension()])
    server.tool(structured_output=False)(buy)
    async with client_in_process(server, user) as client:
        assert (await client.call_tool("buy", {})).is_error
    said = "extensions=[urlmode.mcp.resolver_extension()]" if wrong == "it is missing" else "only one resolver of a call"
    assert said in caplog.text
    assert len(user.asked) == (0 if wrong == "it is missing" else 1)


async def test_a_resolver_of_fastmcp_needs_its_middleware(urlmode: UrlMode, callback: Callback) -> None:
    server: Any = fastmcp.FastMCP("shop")

    async def payment(ctx: Any = CurrentContext()) -> Any:
        options = resolver_server.options(urlmode, subject="a")
        return await with_fastmcp.resolve(cast(Any, with_fastmcp.with_elicitation), ctx, **options)

    async def buy(payment: Any = Depends(payment)) -> Any:
        return "never"

    server.tool(buy, output_schema=None)
    async with client_in_process(server, User(callback)) as client:
        assert (await client.call_tool("buy", {})).is_error


@pytest.mark.parametrize("mode", [LEGACY, ROUNDS])
async def test_what_a_user_types_is_a_parameter(urlmode: UrlMode, callback: Callback, mode: Any) -> None:
    async def key(ctx: Context[Any, Any]) -> Input:
        return await resolve(
            collect_input, ctx, urlmode=urlmode, **me, provider="intake", message="Type it.", round_timeout=0.3,
            form={"title": "Key", "fields": [{"name": "key", "type": "text", "label": "Key"}]},
        )  # fmt: skip

    async def store(key: Any) -> str:
        return f"Stored {len(key.values['key'])} characters."

    key.__annotations__.update({"ctx": Context[Any, Any], "return": Input})
    store.__annotations__ = {"key": Annotated[Input, Resolve(key)]}
    user, me = User(callback), owner()
    user.does = "waits"
    server = MCPServer("shop", extensions=[resolver_extension()])
    server.tool(structured_output=False)(store)
    async with client_in_process(server, user, mode) as client:
        first: Any = await client.call_tool("store", {})
        id = first.structured_content["elicitation"]["elicitationId"]
        await callback.open(id, me, "intake")
        assert await callback.answer(id, me, {"values": {"key": "abcdef"}}) == "completed"
        assert text_of(await client.call_tool("store", {})) == "Stored 6 characters."
