"""What runs in the background of calls: nothing of it is left after `aclose`."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import random
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar, Union

from .errors import UrlModeClosedError

T = TypeVar("T")
A = TypeVar("A")


def start_quietly(work: Awaitable[T]) -> asyncio.Future[T]:
    """Starts work whose error nobody may look at."""
    future = asyncio.ensure_future(work)
    future.add_done_callback(_retrieve)
    return future


def _retrieve(done: asyncio.Future[Any]) -> None:
    if not done.cancelled():
        done.exception()


def in_this_context(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which keeps the context variables of its caller when a task of another call calls it later."""
    context = contextvars.copy_context()

    def run(*arguments: Any) -> Any:
        result = context.run(function, *arguments)
        return context.run(asyncio.ensure_future, result) if inspect.isawaitable(result) else result

    return run


class Background:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)
        return task

    def _end(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        _retrieve(task)

    async def finish(self) -> None:
        """Waits until none is left."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self.finish()


async def shielded(work: asyncio.Future[T]) -> T:
    """Its result. Who is cancelled meanwhile does not end it; `aclose` does, which cancels no caller."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if work.cancelled():
            raise UrlModeClosedError from None
        raise


class OverdueError(Exception):
    pass


async def call(
    name: str, function: Callable[[A], Union[Awaitable[T], T]], argument: A, seconds: float | None = None
) -> T:
    """What a function of the application returns. It is cancelled with the task that calls this, and OverdueError follows
    after `seconds`. That something in it was cancelled is an error like others."""
    try:
        returned = function(argument)
    except asyncio.CancelledError:
        raise RuntimeError(f"{name} was cancelled") from None
    if not inspect.isawaitable(returned):
        return returned
    task: asyncio.Future[T] = start_quietly(returned)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise OverdueError
        if task.cancelled():
            raise RuntimeError(f"{name} was cancelled")
        return task.result()
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task})
        raise
    finally:
        task.cancel()


def jittered(seconds: float) -> float:
    """Changes an interval by up to a quarter, at random, so that many processes do not act at the same moment."""
    return seconds * (0.75 + random.random() / 2)


async def wait_briefly(work: asyncio.Future[Any], seconds: float) -> None:
    """Waits for work, but not for longer, and without its error."""
    with contextlib.suppress(Exception):
        await asyncio.wait({work}, timeout=seconds)
