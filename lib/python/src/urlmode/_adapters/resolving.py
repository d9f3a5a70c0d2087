"""An elicitation for a parameter of a tool: a resolver asks before the tool runs, and the tool is the body.

The call of an adapter is turned inside out. Its body gives the resolver what it was given, and waits for the result of
the tool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from .._core.background import start_quietly
from .._core.errors import UrlModeError
from .adapter import Body
from .delivery import expect_end, has_ended

R = TypeVar("R")
T = TypeVar("T")


class HasEnded(Exception):
    """The call has a result without its tool."""


class NotKept(Exception):
    """The tool has run, and its result could not be kept, so that the call has an error."""


class _ToolHasFailed(Exception):
    pass


class _ToolCall:
    def __init__(self) -> None:
        self.asking: asyncio.Future[Any] | None = None
        """the call of the adapter"""
        self.is_begun = False
        """The tool is the body now."""
        self.tool: asyncio.Future[Any] | None = None
        self.made: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        """the result of the tool"""


_current: ContextVar[_ToolCall | None] = ContextVar("urlmode_tool_call", default=None)


async def resolve(ask: Callable[[Body[R, Any]], Awaitable[Any]], missing: str) -> R:
    """In a resolver: what the body of `ask` is given. Raises HasEnded, and the errors of `ask`.

    `missing`: what the server lacks, if nothing has called `run_tool`.
    """
    call = _current.get()
    if call is None:
        raise RuntimeError(missing)
    if call.asking is not None:
        raise RuntimeError("only one resolver of a call can ask the user: its next call goes on with one request")
    given: asyncio.Future[R] = asyncio.get_running_loop().create_future()

    async def body(value: R) -> Any:
        if given.cancelled():
            raise _ToolHasFailed  # The client has cancelled the call, and there is no tool to run.
        call.is_begun = True
        given.set_result(value)
        try:
            return await call.made
        except asyncio.CancelledError:  # of aclose
            if call.tool is not None:
                call.tool.cancel()
            raise

    asking = call.asking = start_quietly(ask(body))
    try:
        await asyncio.wait({asking, given}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        given.cancel()
        raise
    if given.done():
        return given.result()
    if asking.exception() is not None:
        call.asking = None  # The error is that of the resolver.
    asking.result()
    raise HasEnded


async def run_tool(tool: Callable[[], Awaitable[T]], has_failed: Callable[[T], bool]) -> T:
    """Runs a tool, of which a resolver may ask, as the body of what that asks. Returns the result of the call.
    Raises NotKept, and the errors of the tool."""
    call = _ToolCall()
    expect_end()

    async def run() -> T:
        _current.set(call)
        return await tool()

    def end(done: asyncio.Future[T]) -> None:
        if not call.is_begun or call.made.done():
            return
        if done.cancelled():
            call.made.cancel()
        elif done.exception() is not None or has_failed(done.result()):
            call.made.set_exception(_ToolHasFailed())
        else:
            call.made.set_result(done.result())

    running = start_quietly(run())
    call.tool = running
    running.add_done_callback(end)
    try:
        await asyncio.wait({running})
    except asyncio.CancelledError:
        # A client that cancels the call does not stop the work: the next call has its result.
        if call.asking is not None:
            call.asking.cancel()
        if not call.is_begun:
            running.cancel()
        raise
    if call.asking is None:
        return _ended(running.result(), has_failed)
    try:
        result: T = await call.asking
    except _ToolHasFailed:
        return running.result()
    except Exception as error:
        raise NotKept(str(error) if isinstance(error, UrlModeError) else "the result could not be kept") from error
    return _ended(result, has_failed)


def _ended(result: T, has_failed: Callable[[T], bool]) -> T:
    has_ended(well=not has_failed(result))
    return result
