"""The end of a connection is not the end of a client: with an event store, it resumes the stream of its call."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import fastmcp
import pytest
import uvicorn
from conftest import Callback, owner, until
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.types import ElicitResult

from urlmode import CallbackUrls, ElicitationClientGoneError, Expected, UrlMode
from urlmode import fastmcp as with_fastmcp
from urlmode import mcp as with_sdk
from urlmode._core import lease


class Events(EventStore):
    """In memory."""

    def __init__(self) -> None:
        self._all: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self._all.append((stream_id, message))
        return str(len(self._all))

    async def replay_events_after(self, last_event_id: str, send_callback: Any) -> str | None:
        stream = self._all[int(last_event_id) - 1][0]
        for index, (of, message) in enumerate(self._all[int(last_event_id) :], int(last_event_id) + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(index)))
        return stream


class Server:
    """Cuts the stream of its call when the user is asked. The user pays when the stream was resumed."""

    def __init__(self, urlmode: UrlMode, callback: Callback, framework: str) -> None:
        self.owner = owner()
        self.callback = callback
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.asked = asyncio.Event()
        self.resumed = asyncio.Event()
        adapter: Any = with_fastmcp if framework == "FastMCP" else with_sdk

        self.runs = 0

        def deliver(paid: Any) -> str:
            self.runs += 1
            return f"Thanks for {paid.reference}."

        async def buy(ctx: Any) -> Any:
            cutting = asyncio.ensure_future(self._cut(ctx))
            try:
                return await adapter.with_elicitation(
                    ctx, deliver, urlmode=urlmode, round_timeout=None if self.runs == 0 else 1.0, subject=self.owner["subject"], provider="stripe",
                    kind="payment", item="report:42", expected=Expected(1050, "EUR"), message="10.50 EUR", target_url=self._checkout,
                )  # fmt: skip
            except BaseException as error:
                self.ended.set_result(type(error).__name__)
                raise
            finally:
                cutting.cancel()

        if framework == "FastMCP":
            buy.__annotations__["ctx"] = fastmcp.Context
            shop = fastmcp.FastMCP("shop")
            shop.tool(buy)
            self._app: Any = shop.http_app(event_store=Events(), retry_interval=1)
        else:
            buy.__annotations__["ctx"] = Context[Any, Any]
            plain = MCPServer("shop")
            plain.tool(structured_output=False)(buy)
            self._app = plain.streamable_http_app(event_store=Events(), retry_interval=1)

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["method"] == "GET" and any(name == b"last-event-id" for name, _ in scope["headers"]):
            self.resumed.set()
        await self._app(scope, receive, send)

    async def _cut(self, ctx: Any) -> None:
        await self.asked.wait()
        await ctx.request_context.close_sse_stream()

    def _checkout(self, urls: CallbackUrls) -> str:
        self.id = urls.elicitation_id
        return "https://checkout.example/pay"

    async def answer(self, context: Any, params: Any) -> ElicitResult:
        self.asked.set()
        return ElicitResult(action="accept")

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[ClientSession]:
        serving = uvicorn.Server(uvicorn.Config(self.app, interface="asgi3", port=0, log_level="error", timeout_graceful_shutdown=1))
        task = asyncio.ensure_future(serving.serve())
        await until("it listens", lambda: serving.started)
        port = serving.servers[0].sockets[0].getsockname()[1]
        async with streamable_http_client(f"http://127.0.0.1:{port}/mcp") as (read, write, *_):
            async with ClientSession(read, write, elicitation_callback=self.answer) as session:
                await session.initialize()
                yield session
        serving.should_exit = True
        await task
        for other in asyncio.all_tasks():  # sse_starlette leaves one behind.
            if getattr(other.get_coro(), "__name__", "") == "_shutdown_watcher":
                other.cancel()
                await asyncio.wait([other])


@pytest.mark.parametrize("framework", ["SDK", "FastMCP"])
async def test_a_client_whose_stream_was_cut_gets_its_answer(urlmode: UrlMode, callback: Callback, framework: str) -> None:
    server = Server(urlmode, callback, framework)
    async with server.connect() as session:
        calling = asyncio.ensure_future(session.call_tool("buy"))
        await asyncio.wait([calling, asyncio.ensure_future(server.resumed.wait())], return_when=asyncio.FIRST_COMPLETED)
        await server.callback.paid(server.id)
        result: Any = await calling
        assert result.content[0].text.startswith("Thanks for cs_")


@pytest.mark.parametrize("framework", ["SDK", "FastMCP"])
async def test_what_is_too_large_to_be_kept_is_not_made_again_while_it_can_be_fetched(
    urlmode: UrlMode, callback: Callback, framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "FULFILLED_JSON_MAX", 10)
    server = Server(urlmode, callback, framework)
    async with server.connect() as session:
        calling = asyncio.ensure_future(session.call_tool("buy"))
        await asyncio.wait([calling, asyncio.ensure_future(server.resumed.wait())], return_when=asyncio.FIRST_COMPLETED)
        await server.callback.paid(server.id)
        result: Any = await calling
        assert result.content[0].text.startswith("Thanks for cs_")
        again: Any = await session.call_tool("buy")
        assert server.runs == 1, again.content[0].text[:100]


@pytest.mark.parametrize("framework", ["SDK", "FastMCP"])
async def test_the_end_of_the_session_ends_its_call(urlmode: UrlMode, callback: Callback, framework: str) -> None:
    server = Server(urlmode, callback, framework)
    async with server.connect() as session:
        calling = asyncio.ensure_future(session.call_tool("buy"))
        await server.resumed.wait()
    assert await server.ended in (ElicitationClientGoneError.__name__, asyncio.CancelledError.__name__)
    calling.cancel()
