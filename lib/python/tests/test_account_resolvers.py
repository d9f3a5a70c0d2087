"""A resolver gives a tool the token of an account."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import fastmcp
import pytest
from account_app import App
from conftest import Callback, until
from fastmcp.dependencies import CurrentContext, Depends
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer, Resolve
from tool_app import MODES
from vault_bed import Bed, Gate, bed, endpoint

from urlmode import fastmcp as with_fastmcp
from urlmode import mcp as with_sdk
from urlmode.mcp import request_state_security
from urlmode.vault import AccessToken

__all__ = ["bed", "endpoint"]


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
        await until("nothing is left running", lambda: not bed.urlmode._background._tasks and not bed.vault._background._tasks)
        assert not bed.urlmode._claims._leases and bed.urlmode.open_waits == 0
        kept = ask == "use_account"
        assert [event.name for event in bed.events] == (["connected"] if kept else [])
        assert (await app.elicitation()).exchange == ("" if kept else "exchange_failed")
        assert await server.use() == ("access-1 of acme" if kept else "access-2 of acme")
    assert (app.asked, bed.endpoint.codes) == ((1, ["a-code"]) if kept else (2, ["a-code"] * 2))
