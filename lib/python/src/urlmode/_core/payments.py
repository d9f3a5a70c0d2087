"""Reports payments that were proved after the end of their elicitation, and money that went back.

The database announces both to every process that listens. Nothing is repeated to a process that did not:
`unclaimed()` and `refunds()` list them all.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from datetime import datetime, timedelta, timezone
from typing import Any, Generic, TypeVar

import psycopg

from .background import Background, jittered
from .contract_limits import REPORTED_MAX, REPORTS_MISSED_S, REPORTS_PENDING_MAX, ROUTINE_S
from .errors import UrlModeError
from .listener import Notification, Listener

R = TypeVar("R")


class PaymentReports(Generic[R]):
    """`member` is that of the notifications that tell of it. `read` lists what there is to report of an elicitation
    (`id=`), or since a time (`since=`). `name_of` is what a row is about, and `state_of` what each iterator is told of that
    when it has changed, also if it is what it was before that."""

    def __init__(
        self, listener: Listener, member: str, read: Callable[..., Awaitable[list[R]]],
        name_of: Callable[[R], Hashable], state_of: Callable[[R], Hashable],
    ) -> None:
        self._listener = listener
        self._member = member
        self._read = read
        self._name_of = name_of
        self._state_of = state_of
        self._woken: set[asyncio.Event] = set()
        self._background = Background()
        self._closed = False

    async def reports(self) -> AsyncIterator[R]:
        """Listens until the iterator or the UrlMode is closed."""
        pending: dict[str, None] = {}
        missed = False
        woken = asyncio.Event()
        reported: dict[Hashable, Hashable] = {}

        def on_notified(notifications: list[Notification]) -> None:
            nonlocal missed
            for notification in notifications:
                if notification.get(self._member) is True:
                    if len(pending) < REPORTS_PENDING_MAX:
                        pending[notification["id"]] = None
                    else:
                        missed = True
                    woken.set()

        self._listener.on_notified.append(on_notified)
        self._listener.acquire(woken)
        self._woken.add(woken)
        checking = self._background.start(self._check())
        try:
            while not self._closed:
                # One query at a time, however many notifications there are: anyone in the database can forge them.
                filter: dict[str, Any]
                if pending:
                    filter = {"id": next(iter(pending))}
                    del pending[filter["id"]]
                elif missed:
                    missed = False
                    filter = {"since": datetime.now(timezone.utc) - timedelta(seconds=REPORTS_MISSED_S)}
                else:
                    woken.clear()
                    await woken.wait()
                    continue
                for row in await self._read_quietly(filter):
                    name, state = self._name_of(row), self._state_of(row)
                    if reported.get(name) == state:
                        continue
                    reported.pop(name, None)
                    reported[name] = state
                    if len(reported) > REPORTED_MAX:
                        del reported[next(iter(reported))]
                    yield row
        finally:
            self._listener.on_notified.remove(on_notified)
            self._listener.release(woken)
            self._woken.discard(woken)
            checking.cancel()

    async def close(self) -> None:
        """Ends all iterators. One that nobody asks for its next report ends when somebody does."""
        self._closed = True
        for woken in self._woken:
            woken.set()
        await self._background.cancel()

    async def _check(self) -> None:
        while True:
            await asyncio.sleep(jittered(ROUTINE_S))
            if self._listener.listening:
                with contextlib.suppress(psycopg.Error):
                    await self._listener.query("SELECT 1", [])

    async def _read_quietly(self, filter: dict[str, Any]) -> list[R]:
        try:
            return await self._read(**filter)
        except (psycopg.Error, UrlModeError):
            return []  # It is listed when PostgreSQL is available again.
