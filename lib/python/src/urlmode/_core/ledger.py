"""Follows the ledger: everything about money, in order, each entry at least once.

The database keeps how far a consumer has read, and a lease, so that one instance reads for it
(sql/functions/031_ledger.sql). An entry is acknowledged when the next one is asked for. What a notification does not
announce, such as a claim, is found by polling.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

import psycopg

from . import contract_ledger as sql
from .background import Background, jittered
from .contract_calls import Query
from .contract_limits import (
    CLAIM_RENEWALS,
    LEDGER_LEASE_S,
    LEDGER_PAGE_MAX,
    POLL_GROWTH,
    POLL_MAX_S,
    POLL_MIN_S,
    READ_RETRY_S,
)
from .errors import UrlModeError
from .listener import Listener, Notification
from .money_types import LedgerEntry
from .pool import is_refusal

T = TypeVar("T")

_LEASE_MS = round(LEDGER_LEASE_S * 1000)


class Ledger:
    def __init__(self, query: Query, listener: Listener, tenant: str) -> None:
        self._query = query
        self._listener = listener
        self._tenant = tenant
        self._readings: set[_Reading] = set()
        self._background = Background()
        self._closed = False

    async def follow(self, consumer: str) -> AsyncGenerator[LedgerEntry, None]:
        if self._closed:
            return
        reading = _Reading(self._query, self._tenant, consumer, self._background)
        self._readings.add(reading)
        self._listener.on_notified.append(reading.notified)
        self._listener.on_listening.append(reading.wake)
        self._listener.acquire(reading)
        try:
            while not reading.stopped:
                if await reading.begin():
                    async with contextlib.aclosing(reading.entries()) as entries:
                        async for entry in entries:
                            yield entry
        finally:
            self._listener.on_notified.remove(reading.notified)
            self._listener.on_listening.remove(reading.wake)
            self._listener.release(reading)
            self._readings.discard(reading)
            await reading.end()

    async def close(self) -> None:
        """Ends all loops that wait for an entry. One that is at an entry ends when it asks for the next, and it comes again."""
        self._closed = True
        for reading in list(self._readings):
            await reading.stop()
        await self._background.cancel()


class _Reading:
    """One loop over the ledger."""

    def __init__(self, query: Query, tenant: str, consumer: str, background: Background) -> None:
        self._query = query
        self._tenant = tenant
        self._consumer = consumer
        self._background = background
        self._lease: int | None = None  # while this instance reads for the consumer
        self._renewal: asyncio.Task[None] | None = None
        self._busy = False  # whether somebody deals with an entry
        self._woken = asyncio.Event()  # there may be more than was read
        self._interval = POLL_MIN_S
        self._asking = asyncio.Lock()  # while PostgreSQL is asked
        self.stopped = False

    def notified(self, notifications: list[Notification]) -> None:
        for each in notifications:
            if each.get("status") == "completed" or each.get("late") is True or each.get("refunded") is True:
                self._woken.set()

    def wake(self) -> None:
        self._woken.set()

    async def begin(self) -> bool:
        """Waits for its turn. Whether it has come."""
        self._woken.clear()
        begun = await self._ask(self._begin)
        if begun is None:
            return False
        if begun.lease is None:
            await self._pause(min((begun.wait_ms or 0) / 1000, self._next_interval()))
            return False
        self._interval = POLL_MIN_S
        self._renewal = self._background.start(self._renew(begun.lease))
        return True

    async def _begin(self) -> sql.BegunLedger:
        begun = await sql.begin_ledger(self._query, tenant=self._tenant, consumer=self._consumer, lease_ms=_LEASE_MS)
        self._lease = begun.lease
        return begun

    async def entries(self) -> AsyncGenerator[LedgerEntry, None]:
        """Until another instance reads."""
        while self._lease is not None and not self.stopped:
            lease = self._lease
            self._woken.clear()
            page = await self._ask(
                lambda: sql.read_ledger(self._query, tenant=self._tenant, consumer=self._consumer, lease=lease, most=LEDGER_PAGE_MAX)
            )
            for row in page or []:
                if self.stopped:
                    return
                self._busy = True
                yield _to_entry(row)
                kept = await self._ask(lambda: self._acknowledge(lease, row.number))
                self._busy = False
                if kept is False:
                    self._lose()
                if self.stopped or self._lease != lease:
                    return
            if page:
                self._interval = POLL_MIN_S
            else:
                await self._pause(self._next_interval())

    async def stop(self) -> None:
        """Gives the lease back at once, unless somebody deals with an entry: then it ends by itself."""
        self.stopped = True
        self._woken.set()
        if not self._busy:
            async with self._asking:  # it may be about to get the lease
                await self.end()

    async def end(self) -> None:
        lease = self._lease
        self._lose()
        if lease is not None:
            with contextlib.suppress(psycopg.Error, UrlModeError):
                await sql.end_ledger(self._query, tenant=self._tenant, consumer=self._consumer, lease=lease)

    async def _acknowledge(self, lease: int, number: int | None) -> bool:
        return await sql.acknowledge_ledger(
            self._query, tenant=self._tenant, consumer=self._consumer, lease=lease, number=number, lease_ms=_LEASE_MS
        )

    async def _renew(self, lease: int) -> None:
        while self._lease == lease:
            await asyncio.sleep(LEDGER_LEASE_S / CLAIM_RENEWALS)
            # After a failure the next renewal, or the next statement, tells.
            with contextlib.suppress(psycopg.Error, UrlModeError):
                if not await self._acknowledge(lease, None) and self._lease == lease:
                    self._lose()

    def _lose(self) -> None:
        """Another instance reads."""
        self._lease = None
        if self._renewal is not None and self._renewal is not asyncio.current_task():
            self._renewal.cancel()
        self._renewal = None
        self._woken.set()

    async def _ask(self, question: Callable[[], Awaitable[T]]) -> T | None:
        """Asks again while PostgreSQL is unavailable, as waits do. None: the loop is to end."""
        while True:
            try:
                async with self._asking:
                    return await question()
            except (psycopg.Error, UrlModeError) as error:
                if self.stopped:
                    return None
                if is_refusal(error):
                    raise
            await self._pause(jittered(READ_RETRY_S))
            self._woken.clear()

    def _next_interval(self) -> float:
        interval = self._interval
        self._interval = min(POLL_MAX_S, interval * POLL_GROWTH)
        return jittered(interval)

    async def _pause(self, seconds: float) -> None:
        if not self.stopped:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._woken.wait(), seconds)


def _to_entry(row: sql.LedgerRow) -> LedgerEntry:
    return LedgerEntry(
        number=row.number, type=row.entry_type, entered_at=row.entered_at, kind=row.kind, provider=row.provider,
        elicitation_id=row.elicitation, subject=row.subject, item=row.item, reference=row.reference, payment=row.payment,
        checkout=row.checkout, amount=row.amount, currency=row.currency, refunded=row.refunded, status=row.status,
        occurred_at=row.occurred_at, evidence_due_at=row.evidence_due_at,
    )  # fmt: skip
