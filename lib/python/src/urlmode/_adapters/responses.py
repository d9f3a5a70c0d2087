"""Whether the answer to a tool call was written. A tool only returns its result, and no framework tells it what becomes of the bytes:
the ASGI server alone knows that it could send them. A request over Streamable HTTP therefore carries its response in its scope."""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mcp.server import streamable_http_manager as manager

from .._core.background import start_quietly

Written = Callable[[bool], None]
IsIt = Callable[[bytes], bool]
Message = MutableMapping[str, Any]
_KEY = "urlmode.response"
_WHAT = re.compile(rb'"(method|result|error)"')


class Response:
    """The response to an HTTP request, on its way to the server."""

    def __init__(self, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]) -> None:
        self._receive = receive
        self._send = send
        self._gone = asyncio.Event()
        self._watching: asyncio.Future[None] | None = None
        self._waiting: list[tuple[IsIt, Written]] = []
        self._has_ended = False

    def when_written(self, report: Written, is_it: IsIt | None = None) -> None:
        """Tells whether the answer, or the message that `is_it` knows, was written, once that is known. The server had to take all of
        its bytes."""
        if self._has_ended:
            report(False)
        else:
            self._waiting.append((is_it or _is_answer, report))

    async def receive(self) -> Message:
        """A server may tell one who asks that the client is gone. So one asks for all, once the request was read."""
        if self._watching is not None:
            await self._gone.wait()
            return {"type": "http.disconnect"}
        message = await self._receive()
        if not message.get("more_body"):
            self._watching = start_quietly(self._watch(message))
        return message

    async def _watch(self, message: Message) -> None:
        while message["type"] != "http.disconnect":
            message = await self._receive()
        self._gone.set()

    async def send(self, message: Message) -> None:
        body = message.get("body", b"")
        waiting = [each for each in self._waiting if each[0](body)]
        if not waiting:
            return await self._send(message)
        await self._send({**message, "more_body": True})
        # It returns when what came before was sent, or the client is gone.
        await self._send({"type": "http.response.body", "body": b"", "more_body": True})
        self._report(waiting, not self._gone.is_set())
        if not message.get("more_body"):
            await self._send({"type": "http.response.body", "body": b""})

    def end(self) -> None:
        self._has_ended = True
        self._report(list(self._waiting), False)
        self._gone.set()
        if self._watching is not None:
            self._watching.cancel()

    def _report(self, waiting: list[tuple[IsIt, Written]], written: bool) -> None:
        self._waiting = [each for each in self._waiting if each not in waiting]
        for _, report in waiting:
            report(written)


def _is_answer(body: bytes) -> bool:
    """Of JSON-RPC: neither a request or notification, nor a comment that keeps a stream open. The frameworks send each message at once."""
    what = _WHAT.search(body)
    return what is not None and what[1] != b"method"


def response_of(http: Any) -> Response | None:
    """That of a request, as a framework hands it to its tools."""
    response = getattr(http, "scope", {}).get(_KEY)
    return response if isinstance(response, Response) else None


def _watched(handle: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @functools.wraps(handle)
    async def handle_request(self: Any, scope: Any, receive: Any, send: Any) -> None:
        if _KEY in scope:
            return await handle(self, scope, receive, send)
        response = Response(receive, send)
        try:
            await handle(self, {**scope, _KEY: response}, response.receive, response.send)
        finally:
            response.end()

    return handle_request


# What the servers of the SDK, and of FastMCP, of each version and revision, hand their requests to.
for _entry, _name in ((manager.StreamableHTTPSessionManager, "handle_request"), (getattr(manager, "StreamableHTTPASGIApp", None), "__call__")):
    if _entry is not None:
        setattr(_entry, _name, _watched(getattr(_entry, _name)))
