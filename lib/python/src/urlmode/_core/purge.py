"""Nothing is kept for longer than necessary.

This module marks results as read after a wait has received them, and has the database purge the results that are due
once a minute, and purgeable elicitations once an hour, in every process that uses a UrlMode.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Union

import psycopg

from .arguments import check_duration
from .background import Background, jittered
from .contract_calls import RowKey
from .contract_limits import (
    KEEP_RESULTS_MAX_S,
    KEEP_UNCLAIMED_MAX_S,
    KEEP_UNCLAIMED_MIN_S,
    MARK_DELAY_S,
    PURGE_BATCH_MAX,
    PURGE_RESULTS_EVERY_S,
    PURGE_ROWS_EVERY_S,
    RETENTION_MAX_S,
    RETENTION_MIN_S,
    UNMARKED_MAX,
)
from .database import Database
from .errors import UrlModeError
from .log import warn
from .pool import is_refusal

Duration = Union[float, timedelta]


@dataclass(frozen=True)
class Kept:
    """For how many milliseconds."""

    results: int
    """after a wait has read them"""
    unclaimed: int
    """the result of a payment that no call has claimed"""
    rows: int | None
    """rows that are over; None: for ever"""


def check_kept(keep_results: Duration, keep_unclaimed: Duration, retention: Duration | None) -> Kept:
    return Kept(
        results=check_duration("keep_results", keep_results, 0, KEEP_RESULTS_MAX_S),
        unclaimed=check_duration("keep_unclaimed", keep_unclaimed, KEEP_UNCLAIMED_MIN_S, KEEP_UNCLAIMED_MAX_S),
        rows=None if retention is None else check_retention("retention", retention),
    )


def check_retention(name: str, value: Duration) -> int:
    return check_duration(name, value, RETENTION_MIN_S, RETENTION_MAX_S)


class Purger:
    def __init__(self, database: Database, kept: Kept) -> None:
        self._database = database
        self._kept = kept
        self._background = Background()
        self._started = False
        self._unmarked: dict[RowKey, None] = {}
        self._marking = asyncio.Lock()
        self._mark_timer: asyncio.TimerHandle | None = None
        self._warned = False

    def start(self) -> None:
        """Purges regularly, until `close`."""
        if self._started:
            return
        self._started = True
        self._background.start(self._every(PURGE_RESULTS_EVERY_S, "results are", self._purge_results))
        if self._kept.rows is not None:
            self._background.start(self._every(PURGE_ROWS_EVERY_S, "elicitations are", self._purge_rows))

    async def purge(self, keep_ms: int, kind: str | None) -> int:
        deleted = 0
        while taken := await self._database.purge(keep_ms, kind):
            deleted += taken
        return deleted

    def mark_read(self, key: RowKey) -> None:
        """Of a row whose result a wait has received."""
        self._unmarked[key] = None
        if len(self._unmarked) > UNMARKED_MAX:
            del self._unmarked[next(iter(self._unmarked))]
        if self._mark_timer is None:
            self._mark_timer = asyncio.get_running_loop().call_later(MARK_DELAY_S, self._begin_marking)

    async def close(self) -> None:
        """All rows are marked as read, if PostgreSQL is available."""
        await self._background.cancel()
        await self._mark_all()

    def _begin_marking(self) -> None:
        self._background.start(self._mark_all())

    async def _purge_results(self) -> None:
        await self._mark_all()
        while await self._database.purge_results(self._kept.unclaimed):
            pass

    async def _purge_rows(self) -> None:
        if self._kept.rows is not None:
            await self.purge(self._kept.rows, None)

    async def _every(self, interval: float, what: str, purge: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(jittered(interval))
            try:
                await purge()
            except (psycopg.Error, UrlModeError) as error:
                # When PostgreSQL is unavailable, the next purge catches up.
                if is_refusal(error):
                    self._warn(what, error)

    async def _mark_all(self) -> None:
        async with self._marking:
            if self._mark_timer is not None:
                self._mark_timer.cancel()
                self._mark_timer = None
            while self._unmarked:
                keys = list(self._unmarked)[:PURGE_BATCH_MAX]
                try:
                    await self._database.mark_read(keys, self._kept.results)
                except (psycopg.Error, UrlModeError) as error:
                    if not is_refusal(error):
                        return  # They are marked with the next ones, or before the next purge.
                    self._warn("results are", error)
                for key in keys:
                    self._unmarked.pop(key, None)

    def _warn(self, what: str, error: BaseException) -> None:
        if not self._warned:
            self._warned = True
            warn("URLMODE_PURGE", f"{what} not purged: {error}")
