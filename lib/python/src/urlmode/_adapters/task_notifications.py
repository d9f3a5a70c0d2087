"""Tells a client that listens to its tasks when they move (`notifications/tasks`, SEP-2663): what `tasks/get` answers, when the
elicitation of the task has moved."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from .._core.background import start_quietly
from .._core.contract_limits import TASK_LISTENS_MAX, TASK_LOOK_S, TASK_OWNER_LISTENS_MAX, TASK_POLL_S
from .._core.urlmode import UrlMode
from .tasks import OPEN, Look, TaskRequest, TaskServer, details_of

Send = Callable[[dict[str, Any]], Awaitable[bool]]
"""Sends what is known of a task; whether it was written."""

_listens: Counter[str] = Counter()
"""How many clients listen, of all servers of this process, by the subjects of their users."""


@contextlib.contextmanager
def place_for(subject: str) -> Iterator[bool]:
    """Whether one more client of this user may listen, which counts as long as it does."""
    if _listens.total() >= TASK_LISTENS_MAX or _listens[subject] >= TASK_OWNER_LISTENS_MAX:
        yield False
        return
    _listens[subject] += 1
    try:
        yield True
    finally:
        _listens[subject] -= 1
        if not _listens[subject]:
            del _listens[subject]


async def follow(urlmode: UrlMode, server: TaskServer, request: TaskRequest, tasks: dict[str, Look], send: Send) -> None:
    """Until none of the tasks moves any more, or the UrlMode is closed."""
    following = {urlmode._background.start(_follow(urlmode, server, request, id, look, send)) for id, look in tasks.items()}
    try:
        if following:
            await asyncio.wait(following)
    finally:
        for each in following:
            each.cancel()


async def _follow(urlmode: UrlMode, server: TaskServer, request: TaskRequest, id: str, look: Look, send: Send) -> None:
    last: dict[str, Any] = {}
    while True:
        details = details_of(look.task)
        is_written = details != last and await send(details)
        last = details
        if look.task.row.is_unread and is_written:
            server.start_confirming(look.task)
        if details["status"] not in OPEN:
            return
        await asyncio.gather(asyncio.sleep(TASK_POLL_S), _moved(urlmode, request, look))
        look = await server.look(id, request)  # It raises if the task is over.


async def _moved(urlmode: UrlMode, request: TaskRequest, look: Look) -> None:
    """Until the elicitation has moved. What other instances do with the task alone is seen a little later."""
    row = look.task.row
    moved = asyncio.Event()

    def on_progress(now: str) -> None:
        if now not in (row.status, "attempt_failed"):
            moved.set()

    all: set[asyncio.Future[Any]] = {start_quietly(moved.wait())}
    if not row.is_due:
        all.add(start_quietly(urlmode.wait_for_completion(
            row.elicitation, subject=request.subject, session=request.session, timeout=None, on_progress=on_progress,
        )))  # fmt: skip
    try:
        await asyncio.wait(all, timeout=TASK_POLL_S if look.is_busy else TASK_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in all:
            each.cancel()
