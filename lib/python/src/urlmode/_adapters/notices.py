"""Tells the client that has asked its user that the elicitation is completed: once in each session, also after the end
of the call.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakKeyDictionary

from .._core.background import start_quietly
from .._core.contract_limits import NOTICES_MAX



class Notice:
    def __init__(self) -> None:
        self._reported = False
        self._watched = False

    async def send(self, report: Callable[[], Awaitable[Any]]) -> None:
        if self._reported:
            return
        self._reported = True

        # A call that is cancelled meanwhile must not take it along.
        async def send() -> None:
            with contextlib.suppress(Exception):  # The client's next call says the same.
                await report()

        await asyncio.shield(start_quietly(send()))

    async def send_when_completed(
        self, wait: Callable[[], Awaitable[Any]], report: Callable[[], Awaitable[Any]]
    ) -> None:
        """Waits independently of any call."""
        if self._watched or self._reported:
            return
        self._watched = True
        await wait()
        await self.send(report)


_sessions: WeakKeyDictionary[Any, dict[str, Notice]] = WeakKeyDictionary()


def notice_of(session: object, id: str) -> Notice:
    notices = _sessions.setdefault(session, {})
    notice = notices.setdefault(id, Notice())
    if len(notices) > NOTICES_MAX:
        del notices[next(iter(notices))]
    return notice
