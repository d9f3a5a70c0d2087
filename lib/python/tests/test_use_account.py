"""An account is used with its token, or connected first: what a user is asked for, what the page after the return is told,
and what becomes of tokens between their provider and the vault."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

import fastmcp
import pytest
from conftest import ROOT, Callback, required, until
from fastmcp.dependencies import CurrentContext, Depends
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer, Resolve
from mcp.types import ElicitResult
from vault_bed import Bed, Gate, answering, bed, endpoint

from urlmode import UrlModeClosedError
from urlmode import fastmcp as with_fastmcp
from urlmode import mcp as with_sdk
from urlmode.mcp import request_state_security
from urlmode.vault import AccessToken, Vault

__all__ = ["bed", "endpoint"]
MODES = ["legacy", "2026-07-28", "FastMCP legacy", "FastMCP 2026-07-28"]


class App:
    """A server with one tool that uses an account, and a client whose user connects it at once unless `connects` is False."""

    def __init__(self, bed: Bed, callback: Callback, mode: str = "legacy", vault: Vault | None = None) -> None:
        self.bed = bed
        self.callback = callback
        self.connects = True
        self.asked = 0
        self.errors: list[BaseException] = []
        self.options: dict[str, Any] = {}
        self.result: dict[str, Any] = {"code": "a-code"}
        framework, _, revision = mode.rpartition(" ")
        adapter: Any = with_fastmcp if framework else with_sdk
        used = vault or bed.vault

        async def use(ctx: Any) -> Any:
            try:
                return await adapter.use_account(
                    ctx, lambda token: f"{token.access_token} of {token.account}", vault=used, **bed.key,
                    message="Please.", round_timeout=20, **self.options,
                )
            except BaseException as error:  # The SDK does not tell it to the client.
                self.errors.append(error)
                raise

        security: Any = request_state_security(used._urlmode)
        if framework:
            use.__annotations__["ctx"] = fastmcp.Context
            server = fastmcp.FastMCP("app", request_state_security=security)
            server.tool(use)
            self.client: Any = fastmcp.Client(server, mode=revision, elicitation_handler=self._choose)
        else:
            use.__annotations__["ctx"] = Context[Any, Any]
            plain = MCPServer("app", request_state_security=security)
            plain.tool(structured_output=False)(use)
            self.client = Client(plain, mode=revision, elicitation_callback=self._answer)
        self._call = self.client.call_tool_mcp if framework else self.client.call_tool

    async def _choose(self, message: str, response_type: Any, params: Any, context: Any) -> ElicitResult:
        return await self._answer(context, params)

    async def _answer(self, context: Any, params: Any) -> ElicitResult:
        self.asked += 1
        if self.connects:
            await self.come_back()
        return ElicitResult(action="accept")

    async def come_back(self) -> None:
        me: Any = {"subject": self.bed.subject, "session": ""}
        id = str((await self.elicitation()).id)
        await self.callback.open(id, me)
        await self.callback.come_back(id, me, self.result)

    async def elicitation(self) -> Any:
        from psycopg.rows import namedtuple_row

        cursor = self.bed.admin.cursor(row_factory=namedtuple_row)
        await cursor.execute("SELECT * FROM urlmode.elicitation WHERE subject = %s ORDER BY created_at DESC LIMIT 1", [self.bed.subject])
        return await cursor.fetchone()

    async def scopes_asked(self) -> str:
        target: str = (await self.elicitation()).target_url
        return parse_qs(urlsplit(target).query)["scope"][0]

    async def use(self, **options: Any) -> str:
        """The text of the result, or of the error of the tool."""
        self.options = options
        errors = len(self.errors)
        result = await self._call("use", {})
        return str(result.content[0].text if len(self.errors) == errors else self.errors[-1])

    async def names(self) -> list[str]:
        return [one.account for one in await self.bed.vault.list_accounts(**self.bed.key)]


@pytest.mark.parametrize("mode", MODES)
async def test_the_user_connects_once_and_every_call_after_that_has_the_token(bed: Bed, callback: Callback, mode: str) -> None:
    app = App(bed, callback, mode)
    async with app.client:
        assert await app.use() == "access-1 of acme"
        assert (app.asked, (await app.elicitation()).exchange) == (1, "")
        assert await app.use() == "access-1 of acme"
    assert (app.asked, bed.endpoint.codes, bed.endpoint.asked) == (1, ["a-code"], [])
    (listed,) = await bed.vault.list_accounts(**bed.key)
    assert (listed.scopes, listed.requested_scopes) == (["read", "write"], ["read"])


async def test_tokens_of_an_account_that_is_not_named_replace_none(
    bed: Bed, callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are revoked, but not where others could be revoked with them."""
    monkeypatch.setattr("urlmode._accounts._AGAIN_S", 0.01)
    bed.endpoint.oauth["account"] = {"endpoint": bed.endpoint.oauth["token_endpoint"].replace("/token", "/me"), "id": "/id"}
    bed.endpoint.me = 503, {}
    refused = "Not done: the provider could not be asked for access (status_503)."
    app = App(bed, callback)
    async with app.client:
        assert await app.use() == refused
        assert (await app.names(), (await app.elicitation()).exchange) == ([], "exchange_failed")
        assert bed.endpoint.revoked == ["refresh-1", "access-1"]
        await bed.store()
        bed.endpoint.scope = "read write more"
        assert await app.use(required_scopes=["more"]) == refused
        assert (await app.names(), len(bed.endpoint.revoked)) == (["acme"], 2)
        bed.endpoint.me = 200, {"id": "acme"}
        assert await app.use(required_scopes=["more"]) == "access-4 of acme"
        assert await app.names() == ["acme"]


async def test_a_token_that_has_expired_is_refreshed_and_one_that_is_refused_connected_again(bed: Bed, callback: Callback) -> None:
    app = App(bed, callback)
    async with app.client:
        await app.use()
        await bed.expire()
        assert await app.use() == "access-2 of acme"
        await bed.expire()

        async def refuse(form: dict[str, str]) -> tuple[int, Any] | None:
            return (400, {"error": "invalid_grant"}) if "refresh_token" in form else None

        bed.endpoint.instead = refuse
        assert await app.use() == "access-3 of acme"
    assert (app.asked, bed.endpoint.asked) == (2, ["refresh-1", "refresh-2"])


async def test_scopes_that_are_missing_are_asked_for_beside_those_that_there_are(bed: Bed, callback: Callback) -> None:
    bed.endpoint.scope = "read"
    app = App(bed, callback)
    async with app.client:
        await app.use()
        assert await app.scopes_asked() == "read"
        bed.endpoint.scope = "read admin"
        assert await app.use(scopes=["admin"]) == "access-2 of acme"
        assert await app.scopes_asked() == "read admin"
        assert await app.use(scopes=["admin"]) == "access-2 of acme"
        # The provider says it in other words: it was asked for, and is not asked for again.
        bed.endpoint.scope = "something else"
        for _ in range(2):
            assert await app.use(scopes=["files"]) == "access-3 of acme"
        assert app.asked == 3
        refused = await app.use(required_scopes=["admin"])
        assert refused == "Not done: not everything was granted that is needed (admin)."
        assert await app.use() == "access-3 of acme"
        bed.endpoint.scope = "admin"
        assert await app.use(required_scopes=["admin"]) == "access-5 of acme"


async def test_another_account_than_the_one_that_is_needed_is_kept_and_not_used_for_it(bed: Bed, callback: Callback) -> None:
    app = App(bed, callback)
    async with app.client:
        await app.use()
        bed.endpoint.account = "other"
        assert (await app.use(account="third")).startswith("Not done: another account was connected")
        assert await app.names() == ["other", "acme"]
        assert await app.use(account="acme") == "access-1 of acme"
        assert await app.use() == "access-2 of other"


async def test_of_calls_at_once_on_two_instances_one_exchanges_the_code_and_all_have_the_token(bed: Bed, callback: Callback) -> None:
    apps = [App(bed, callback), App(bed, callback, vault=bed.open_vault())]
    gate = bed.endpoint.instead = Gate()
    for app in apps:
        app.connects = False
    async with apps[0].client, apps[1].client:
        calls = [asyncio.ensure_future(apps[n % 2].use()) for n in range(6)]
        await until("all are asked", lambda: sum(app.asked for app in apps) == 6)
        await apps[0].come_back()
        await gate.reached.wait()
        asyncio.get_running_loop().call_later(1, gate.opened.set)
        assert await asyncio.gather(*calls) == ["access-1 of acme"] * 6
    assert bed.endpoint.codes == ["a-code"]


async def test_where_the_exchange_fails_every_call_that_has_waited_says_so(bed: Bed, callback: Callback) -> None:
    apps = [App(bed, callback), App(bed, callback, vault=bed.open_vault())]
    bed.endpoint.instead = answering(400, {"error": "invalid_grant"})
    for app in apps:
        app.connects = False
    async with apps[0].client, apps[1].client:
        calls = [asyncio.ensure_future(apps[n % 2].use()) for n in range(4)]
        await until("all are asked", lambda: sum(app.asked for app in apps) == 4)
        await apps[0].come_back()
        for text in await asyncio.gather(*calls):
            assert text.startswith("Not done: the provider did not grant access")
        assert (await apps[0].elicitation()).exchange == "exchange_refused"
    assert (bed.endpoint.codes, await apps[0].names()) == (["a-code"], [])


@pytest.mark.parametrize(
    "change", ["scopes = scopes", "state = 'reconnect', reason = 'invalid_grant'", "account = 'renamed'"],
)
async def test_two_calls_need_an_account_and_the_user_connects_another_one(bed: Bed, callback: Callback, change: str) -> None:
    """The needed one lacks a scope, must be connected again, or is not there: neither call runs its body."""
    apps = [App(bed, callback), App(bed, callback, vault=bed.open_vault())]
    bed.endpoint.scope = "read"
    await bed.store()
    await bed.change(change)
    bed.endpoint.account, bed.endpoint.scope = "other", "read admin"
    for app in apps:
        app.connects = False
    async with apps[0].client, apps[1].client:
        calls = [asyncio.ensure_future(app.use(account="acme", required_scopes=["admin"])) for app in apps]
        await until("both are asked", lambda: sum(app.asked for app in apps) == 2)
        await apps[0].come_back()
        for text in await asyncio.gather(*calls):
            assert text.startswith("Not done: another account was connected")
    assert bed.endpoint.codes == ["a-code"]


async def test_a_call_that_has_waited_needs_a_scope_that_the_other_one_only_asked_for(bed: Bed, callback: Callback) -> None:
    apps = [App(bed, callback), App(bed, callback)]
    bed.endpoint.scope = "read"
    gate = bed.endpoint.instead = Gate()
    async with apps[0].client, apps[1].client:
        first = asyncio.ensure_future(apps[0].use(scopes=["read", "admin"]))
        await gate.reached.wait()
        second = asyncio.ensure_future(apps[1].use(required_scopes=["admin"]))
        asyncio.get_running_loop().call_later(0.5, gate.opened.set)
        assert await first == "access-1 of acme"
        assert await second == "Not done: not everything was granted that is needed (admin)."


async def test_a_provider_that_is_away_is_an_error_of_the_call_and_the_user_is_asked_for_nothing(bed: Bed, callback: Callback) -> None:
    await bed.store()
    await bed.expire()
    bed.endpoint.instead = answering(503, b"of-the-test")
    app = App(bed, callback)
    async with app.client:
        assert "cannot be refreshed just now: invalid_response, status 503, text/html" in await app.use()
    assert app.asked == 0


async def test_a_user_who_is_forgotten_while_a_code_is_exchanged(bed: Bed, callback: Callback) -> None:
    """No account appears, and what came is revoked."""
    app = App(bed, callback)
    gate = bed.endpoint.instead = Gate()
    async with app.client:
        using = asyncio.ensure_future(app.use())
        await gate.reached.wait()
        await bed.vault.forget_subject(subject=bed.subject)
        gate.opened.set()
        assert "does not exist for this subject" in await using
    assert (await app.names(), bed.endpoint.alive) == ([], set())
    (event,) = bed.events
    assert (event.name, event.account, event.detail, event.revoked) == ("not_stored", "acme", "ELICITATION_NOT_FOUND", True)


@pytest.mark.parametrize(
    ("prepare", "detail"),
    [
        (lambda endpoint: setattr(endpoint, "scope", " ".join(f"a-long-scope-{n}" for n in range(1_000))), "23514"),
        (lambda endpoint: setattr(endpoint, "account", "x" * 70_000), "ValueError"),
        (lambda endpoint: setattr(endpoint, "account", "a\0b"), "ValueError"),
    ],
)
async def test_tokens_of_a_code_that_cannot_be_stored_are_revoked_unless_the_account_has_others(
    bed: Bed, callback: Callback, prepare: Callable[[Any], None], detail: str
) -> None:
    app = App(bed, callback)
    prepare(bed.endpoint)
    async with app.client:
        await app.use()
        assert (bed.endpoint.revoked, bed.endpoint.alive, await app.names()) == (["refresh-1", "access-1"], set(), [])
        assert (bed.events[0].name, bed.events[0].detail, bed.events[0].revoked) == ("not_stored", detail, True)
        assert (await app.elicitation()).exchange == "exchange_failed"
        account, bed.endpoint.account = bed.endpoint.account, "acme"
        await bed.store(scope="read")
        bed.endpoint.account = account
        await app.use(scopes=["more"])
    assert bed.events[-1].revoked is (account != "acme")
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"


async def test_while_postgresql_is_away_the_tokens_of_a_code_are_kept_in_memory(bed: Bed, callback: Callback) -> None:
    left = bed.fail("store_exchanged", 3)
    app = App(bed, callback)
    async with app.client:
        assert await app.use() == "access-1 of acme"
    assert (left(), bed.endpoint.codes, bed.endpoint.revoked) == (0, ["a-code"], [])


async def test_a_call_that_is_cancelled_while_its_code_is_exchanged_loses_no_token(bed: Bed, callback: Callback) -> None:
    app = App(bed, callback)
    gate = bed.endpoint.instead = Gate()
    async with app.client:
        using = asyncio.ensure_future(app.use())
        await gate.reached.wait()
        using.cancel()
        await asyncio.wait({using})
        await until("it has ended", lambda: app.errors != [])
        gate.opened.set()
        await until("it is stored", lambda: [event.name for event in bed.events] == ["connected"])
        assert await app.use() == "access-1 of acme"
    assert (app.asked, bed.endpoint.codes) == (1, ["a-code"])


async def test_aclose_waits_for_the_exchange_of_a_code_and_what_came_is_stored(bed: Bed, callback: Callback) -> None:
    app = App(bed, callback)
    gate = bed.endpoint.instead = Gate()
    async with app.client:
        using = asyncio.ensure_future(app.use())
        await gate.reached.wait()
        closing = asyncio.ensure_future(bed.urlmode.aclose())
        await asyncio.sleep(2.5)
        assert not closing.done()
        gate.opened.set()
        await closing
        await using
    assert isinstance(app.errors[0], UrlModeClosedError)
    assert (await bed.open_vault().access_token(**bed.key)).access_token == "access-1"
    assert bed.endpoint.revoked == []


NODE = """
import { UrlMode } from '%(lib)s/node/src/index.js';
import { Vault } from '%(lib)s/node/src/vault.js';
import { useAccount } from '%(lib)s/node/src/adapters/sdk2.js';
import { linkCall } from '%(lib)s/node/test/support/calls.js';
const { url, keysFile, subject, scopes, account } = JSON.parse(process.argv[1]);
const urlmode = new UrlMode({ databaseUrl: url, keysFile, baseUrl: 'https://callback.example' });
const client = { id: 'a', secret: 's' };
const vault = new Vault(urlmode, { keys: '9 ' + 'A'.repeat(43), providers: { github: { client, scopes } } });
const { server, call } = linkCall();
const result = await useAccount({ vault, server, call, subject, account, provider: 'github', message: 'Please.', roundTimeout: 1 }, () => {});
console.log(result.structuredContent.elicitation.elicitationId);
await urlmode.close();
"""


@pytest.mark.parametrize(("scopes", "account"), [(["read"], None), ([], "acme")])
async def test_a_call_goes_on_with_what_one_in_node_has_begun(
    bed: Bed, callback: Callback, keys_file: Path, scopes: list[str], account: str | None
) -> None:
    bed.endpoint.provider = replace(bed.endpoint.provider, scopes=scopes)
    app = App(bed, callback, vault=bed.open_vault())
    given = {"url": required("URLMODE_DATABASE_URL"), "keysFile": str(keys_file), "subject": bed.subject, "scopes": scopes}
    settings = json.dumps({**given, **({"account": account} if account else {})})
    command = ["node", "--input-type=module", "-e", NODE % {"lib": ROOT / "lib"}, settings]
    begun = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert begun.returncode == 0, begun.stderr
    async with app.client:
        assert await app.use(account=account) == "access-1 of acme"
    cursor = await bed.admin.execute("SELECT id::text FROM urlmode.elicitation WHERE subject = %s", [bed.subject])
    assert await cursor.fetchall() == [(begun.stdout.strip(),)]


class Resolving:
    """A server whose tool has its account from a resolver."""

    def __init__(self, app: App, mode: str, ask: str = "use_account") -> None:
        framework, _, self.revision = mode.rpartition(" ")
        self.ended: list[BaseException] = []
        adapter: Any = with_fastmcp if framework else with_sdk
        bed = app.bed
        options: dict[str, Any] = {**bed.key, "message": "Please.", "round_timeout": 20}
        if ask == "use_account":
            options["vault"] = bed.vault
        else:
            options |= {"urlmode": bed.urlmode, "client": bed.endpoint.provider.client}

        async def account(ctx: Any = CurrentContext()) -> Any:
            try:
                return await adapter.resolve(getattr(adapter, ask), ctx, **options)
            except asyncio.CancelledError as error:
                self.ended.append(error)
                raise

        async def use(token: Any = Depends(account)) -> Any:
            access = token.access_token if ask == "use_account" else token.tokens["access_token"]
            return f"{access} of {token.account if ask == 'use_account' else token.account.id}"

        security: Any = request_state_security(bed.urlmode)
        if framework:
            server = fastmcp.FastMCP("app", request_state_security=security, middleware=[with_fastmcp.resolver_middleware()])
            server.tool(use, output_schema=None)
            self.client: Any = fastmcp.Client(server, mode=self.revision, elicitation_handler=app._choose)
        else:
            account.__annotations__.update({"ctx": Context[Any, Any], "return": AccessToken})
            account.__defaults__ = None
            use.__annotations__["token"] = Annotated[Any, Resolve(account)]
            use.__defaults__ = None
            plain = MCPServer("app", request_state_security=security, extensions=[with_sdk.resolver_extension()])
            plain.tool(structured_output=False)(use)
            self.client = Client(plain, mode=self.revision, elicitation_callback=app._answer)
        self._call = self.client.call_tool_mcp if framework else self.client.call_tool

    async def use(self) -> str:
        result = await self._call("use", {})
        return str(result.content[0].text)


@pytest.mark.parametrize("mode", MODES)
async def test_a_resolver_gives_the_tool_its_token(bed: Bed, callback: Callback, mode: str) -> None:
    app = App(bed, callback)  # whose user it is
    server = Resolving(app, mode)
    async with server.client:
        for _ in range(2):
            assert await server.use() == "access-1 of acme"
    assert app.asked == 1


@pytest.mark.parametrize("ask", ["use_account", "connect_account"])
@pytest.mark.parametrize("mode", MODES)
async def test_a_resolver_that_is_cancelled_while_its_code_is_exchanged_loses_nothing(
    bed: Bed, callback: Callback, mode: str, ask: str
) -> None:
    """The vault has the tokens. Those that only the tool could have kept are given up, and the next call asks again."""
    app = App(bed, callback)
    server = Resolving(app, mode, ask)
    gate = bed.endpoint.instead = Gate()
    async with server.client:
        using = asyncio.ensure_future(server.use())
        await gate.reached.wait()
        using.cancel()
        await asyncio.wait({using})
        await until("the resolver has ended", lambda: server.ended != [])
        gate.opened.set()
        bed.endpoint.instead = None
        await until("nothing is left running", lambda: not bed.urlmode._beside._tasks and not bed.vault._tasks._tasks)
        assert not bed.urlmode._claims._leases and bed.urlmode.open_waits == 0
        kept = ask == "use_account"
        assert [event.name for event in bed.events] == (["connected"] if kept else [])
        assert (await app.elicitation()).exchange == ("" if kept else "exchange_failed")
        assert await server.use() == ("access-1 of acme" if kept else "access-2 of acme")
    assert (app.asked, bed.endpoint.codes) == ((1, ["a-code"]) if kept else (2, ["a-code"] * 2))


async def test_what_cannot_be_is_named(bed: Bed, callback: Callback) -> None:
    app = App(bed, callback)
    async with app.client:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"scopes": "read"}, "scopes must be a list of scopes"),
            ({"required_scopes": ["a b"]}, "required_scopes must be a list of scopes"),
            ({"variables": {"tenant": "a"}}, "variables.tenant is not one of this description"),
            ({"parameters": {"state": "a"}}, "parameters.state comes from elsewhere"),
            ({"account": ""}, "account must have 1 to 512 bytes"),
        ]
        for options, message in cases:
            assert message in await app.use(**options)
    assert app.asked == 0
