"""A server with one tool that sells something, and a client whose user pays."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import fastmcp
import uvicorn
from conftest import Callback, owner
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import ElicitRequestURLParams, ElicitResult

from urlmode import CallbackUrls, Expected, UrlMode
from urlmode import fastmcp as with_fastmcp
from urlmode import mcp as with_sdk
from urlmode.mcp import request_state_security

MODES = ["legacy", "2026-07-28", "FastMCP legacy", "FastMCP 2026-07-28"]


class FastMcpClient(fastmcp.Client[Any]):
    """With the results of the SDK, of which the tests speak."""

    async def call_tool(self, name: str, arguments: Any = None, **more: Any) -> Any:
        return await self.call_tool_mcp(name, arguments or {}, **more)


class Shop:
    """A server with one tool, and a client whose user pays at once unless `pays` is False."""

    def __init__(self, urlmode: UrlMode, callback: Callback, body: Any, mode: str, **more: Any) -> None:
        self.subject = owner()["subject"]
        self.callback = callback
        self.pays = True
        self.provides = ""
        self.gate: asyncio.Future[str] | None = None
        self.asked: list[str] = []
        self.errors: list[str] = []
        framework, _, revision = mode.rpartition(" ")
        adapter: Any = with_fastmcp if framework else with_sdk

        async def buy(ctx: Any) -> Any:
            options: dict[str, Any] = {"item": "report:42", "expected": Expected(1050, "EUR"), "message": "10.50 EUR", **more}
            try:
                return await adapter.with_elicitation(
                    ctx, body, urlmode=urlmode, subject=self.subject, target_url=self._checkout,
                    **{"provider": "stripe", "kind": "payment", **options},
                )  # fmt: skip
            except Exception as error:  # The SDK does not tell it to the client.
                self.errors.append(str(error))
                raise

        security: Any = request_state_security(urlmode)
        if framework:
            buy.__annotations__["ctx"] = fastmcp.Context
            shop = fastmcp.FastMCP("shop", request_state_security=security)
            shop.tool(buy)
            self.make_app: Callable[[], Any] = shop.http_app
            self.client_of: Callable[[Any], Any] = lambda of: FastMcpClient(of, mode=revision, elicitation_handler=self._choose)
            self.client: Any = self.client_of(shop)
        else:
            buy.__annotations__["ctx"] = Context[Any, Any]
            server = MCPServer("shop", request_state_security=security)
            server.tool(structured_output=False)(buy)
            self.make_app = server.streamable_http_app
            self.client_of = lambda of: Client(of, mode=revision, elicitation_callback=self._answer)
            self.client = self.client_of(server)

    async def _choose(self, message: str, response_type: Any, params: Any, context: Any) -> ElicitResult:
        return await self._answer(context, params)

    async def _answer(self, context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestURLParams)
        self.asked.append(params.url)
        if self.provides:
            await self.callback.open(self._id, {"subject": self.subject, "session": ""}, self.provides)
            await self.callback.come_back(self._id, {"subject": self.subject, "session": ""}, {"code": "c"})
        elif self.pays:
            await self.callback.paid(self._id)
        action: Any = await self.gate if self.gate else "accept"
        return ElicitResult(action=action)

    def _checkout(self, urls: CallbackUrls) -> str:
        self._id = urls.elicitation_id
        return "https://checkout.example/pay"


def text_of(result: Any) -> str:
    return str(result.content[0].text)


@contextlib.asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """The URL of an application over HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        http = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        serving = asyncio.create_task(http.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            http.should_exit = True
            await serving
            for task in asyncio.all_tasks():  # sse_starlette has one that ends with the process.
                if "_shutdown_watcher" in repr(task.get_coro()):
                    task.cancel()
                    await asyncio.wait({task})
