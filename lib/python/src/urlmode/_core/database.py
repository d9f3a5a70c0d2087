"""Calls the functions of the schema `urlmode` that an MCP server may call."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any, Literal, NamedTuple

import psycopg

from .batches import Batches
from .contract_limits import BUSY_MAX_S, BUSY_MIN_S, QUERY_S
from .errors import (
    ElicitationExistsError,
    ElicitationLimitError,
    ElicitationMismatchError,
    ElicitationNotFoundError,
    ElicitationOpenError,
    ElicitationReferenceError,
    UrlModeBusyError,
    UrlModeClosedError,
)
from .pool import Pool, Rows
from .tasks import jittered
from .types import Action, Expected, Kind

CHANNEL = "urlmode"
"""The channel on which every change of a row is announced."""


_CREATE = """SELECT expires_at, outcome FROM urlmode.create_elicitation(%s::uuid[], %s::text[], %s::text[], %s::text[],
    %s::text[], %s::bytea[], %s::text[], %s::text[], %s::jsonb[], %s::bytea[], %s::bigint[], %s::boolean[], %s::text[],
    %s::boolean[], %s::bytea[], %s::text[], %s::text[], %s::smallint[], %s::bytea[], %s::jsonb[], %s::integer[],
    %s::text[])"""
_RESUME = """SELECT id::text, provider, kind, expires_at, expires_in_ms, link_kid
    FROM urlmode.resume(%s::bytea[], %s::text[], %s::boolean[], %s::bytea[])"""
READ = """SELECT id::text, provider, kind, status, action, reason, late, payment_reference, refunded, held,
    completed_from, result, verifier, closes_in_ms, failed_attempts, rechecks, rechecked, recheck_in_ms
    FROM urlmode.read(%s::uuid[], %s::bytea[])"""
_ABANDON = "SELECT outcome FROM urlmode.abandon(%s::uuid[], %s::bytea[], %s::text[], %s::text[])"
_EXPIRE = "SELECT urlmode.expire(%s::uuid[], %s::bytea[])"
_MARK_READ = "SELECT urlmode.mark_read(%s::uuid[], %s::bytea[], %s::bigint)"
_SETTLE = """SELECT urlmode.settle(%s::uuid, %s::bytea, %s::text, %s::text, %s::bytea, %s::bigint, %s::text,
    %s::text)"""
_CLAIM = "SELECT urlmode.claim(%s::uuid, %s::bytea, %s::text, %s::bigint, %s::text, %s::boolean)"
_UNCLAIMED = """SELECT elicitation::text, provider_name, reference, amount, currency, matches, late, proven_at,
    refunded, held, subject, session, binding, resume_key, result
    FROM urlmode.unclaimed(%s::text, %s::timestamptz, %s::uuid)"""
_REFUNDS = """SELECT elicitation::text, provider_name, reference, amount, currency, reversed, received_at, changed_at,
    payment, paid, refunded, held, claimed, subject, session, resume_key
    FROM urlmode.refunds(%s::text, %s::timestamptz, %s::uuid)"""
_TAKE_RECHECK = """SELECT lease, rechecks, event_type, unproven_references, expected
    FROM urlmode.take_recheck(%s::uuid, %s::bytea, %s::bigint)"""
_END_RECHECK = "SELECT urlmode.end_recheck(%s::uuid, %s::bytea, %s::integer, %s::integer, %s::boolean)"
_TAKE_CHECK = "SELECT lease, result, left_ms FROM urlmode.take_check(%s::uuid, %s::bytea)"
_END_CHECK = "SELECT urlmode.end_check(%s::uuid, %s::bytea, %s::integer, %s::bytea, %s::boolean)"
_PURGE_RESULTS = "SELECT urlmode.purge_results(%s::bigint)"
_PURGE = "SELECT urlmode.purge(%s::bigint, %s::text)"
_NOTIFY = "SELECT pg_notify(%s::text, %s::text)"

Query = Callable[[str, Sequence[Any]], Awaitable[Rows]]


class RowKey(NamedTuple):
    """Identifies a row: nobody reads it without its binding."""

    id: str
    binding: bytes


class Row(NamedTuple):
    """A row as the waiting side sees it."""

    id: str
    provider: str
    kind: Kind
    status: Literal["pending", "opened", "processing", "completed"]
    action: Action | None = None
    reason: str = ""
    late: bool = False
    payment_reference: str | None = None
    refunded: int = 0
    held: bool = False
    completed_from: Literal["pending", "opened", "processing"] | None = None
    result: bytes | None = None
    verifier: bytes | None = None
    closes_in_ms: int = 0
    failed_attempts: int = 0
    rechecks: int = 0
    rechecked: int = 0
    recheck_in_ms: int | None = None


class UnclaimedRow(NamedTuple):
    id: str
    provider: str
    reference: str
    amount: int
    currency: str
    matches: bool
    late: bool
    proven_at: datetime
    refunded: int
    held: bool
    subject: str
    session: str
    binding: bytes
    resume_key: str | None
    result: bytes | None


class RefundRow(NamedTuple):
    id: str
    provider: str
    reference: str
    amount: int | None
    currency: str | None
    reversed: int | None
    received_at: datetime
    changed_at: datetime
    payment: str | None
    paid: int | None
    refunded: int | None
    held: bool | None
    claimed: bool
    subject: str | None
    session: str | None
    resume_key: str | None


class RecheckRow(NamedTuple):
    lease: int
    rechecks: int
    event_type: str | None
    references: list[str]
    expected: Any


class CheckRow(NamedTuple):
    lease: int
    result: bytes
    left_ms: float


@dataclass(frozen=True)
class NewRow:
    id: str
    provider: str
    kind: Kind
    subject: str
    session: str
    binding: bytes
    requester: str
    target_url: str | None
    expected: Expected | Literal["any"] | None
    verifier: bytes | None
    ttl_ms: int
    exclusive: bool
    resume_key: str | None
    can_recheck: bool
    request: bytes
    checkout: str | None
    client_id: str | None
    link_kid: int
    form: bytes | None
    """sealed"""
    approvers: list[str] | None
    """None: the subject, or another kind. Empty: anybody else"""
    verify_ms: int | None
    traceparent: str | None

    def columns(self) -> tuple[Any, ...]:
        expected = self.expected
        price = asdict(expected) if isinstance(expected, Expected) else expected
        return (
            self.id, self.provider, self.kind, self.subject, self.session, self.binding, self.requester,
            self.target_url, None if price is None else json.dumps(price), self.verifier, self.ttl_ms, self.exclusive,
            self.resume_key, self.can_recheck, self.request, self.checkout, self.client_id, self.link_kid, self.form,
            None if self.approvers is None else json.dumps(self.approvers), self.verify_ms,
            self.traceparent,
        )  # fmt: skip


class ResumeKey(NamedTuple):
    binding: bytes
    resume_key: str
    can_recheck: bool
    request: bytes


class Resumed(NamedTuple):
    id: str
    provider: str
    kind: Kind
    expires_at: datetime
    ttl_ms: int
    link_kid: int | None


class Abandoned(NamedTuple):
    id: str
    binding: bytes
    action: str
    reason: str


AbandonOutcome = Literal["completed", "already", "opened", "processing"]


def columns_of(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows)]


def key_columns(keys: Sequence[RowKey]) -> list[list[Any]]:
    return [[key.id for key in keys], [key.binding for key in keys]]


def row_of(values: tuple[Any, ...]) -> Row:
    """A row. Its provider, kind and status are those of many others."""
    shared: tuple[Any, ...] = tuple(map(sys.intern, values[1:4]))
    return Row(values[0], *shared, *values[4:])


class Database:
    """The functions of the schema, which are called one by one or, where many calls come, in batches."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.query = pool.query
        self._creates = Batches(self._create)
        self._resumes = Batches(self._resume)
        self._abandons = Batches(self._abandon)

    async def create(self, row: NewRow) -> datetime | None:
        """When it expires; None if another call of the same owner has created one that can be resumed."""
        try:
            # Also the waits between the attempts belong to the call, which `close` waits for.
            return await self._pool.track(lambda: self._create_when_free(row))
        except psycopg.errors.UniqueViolation:
            raise ElicitationExistsError(row.id) from None

    async def _create_when_free(self, row: NewRow) -> datetime | None:
        give_up = time.monotonic() + QUERY_S
        delay = BUSY_MIN_S
        while True:
            expires_at, outcome = await self._creates.ask(row)
            if outcome == "full":
                raise ElicitationLimitError
            if outcome != "busy":
                return _aware(expires_at) if outcome == "created" else None
            # Another call creates for the same owner.
            if time.monotonic() > give_up:
                raise UrlModeBusyError("other calls of this owner create elicitations all the time")
            await asyncio.sleep(jittered(delay))
            if self._pool.broken_off:
                raise UrlModeClosedError
            delay = min(2 * delay, BUSY_MAX_S)

    async def _create(self, rows: Sequence[NewRow]) -> Rows:
        return await self._pool.run(_CREATE, columns_of([row.columns() for row in rows]))

    async def resume(self, key: ResumeKey) -> Resumed | None:
        return await self._pool.track(lambda: self._resumes.ask(key))

    async def _resume(self, keys: Sequence[ResumeKey]) -> list[Resumed | None]:
        rows = await self._pool.run(_RESUME, columns_of(keys))
        return [None if row[0] is None else Resumed(*row)._replace(expires_at=_aware(row[3])) for row in rows]

    async def abandon(self, row: Abandoned) -> AbandonOutcome:
        """`completed`: by this call; a status: it stays as it is."""
        outcome = await self._pool.track(lambda: self._abandons.ask(row))
        if outcome == "unknown":
            raise ElicitationNotFoundError(row.id)
        return outcome  # type: ignore[return-value]

    async def _abandon(self, rows: Sequence[Abandoned]) -> list[str]:
        return [outcome for (outcome,) in await self._pool.run(_ABANDON, columns_of(rows))]

    async def read(self, key: RowKey) -> Row | None:
        rows = await self.query(READ, key_columns([key]))
        return row_of(rows[0]) if rows else None

    async def expire(self, keys: Sequence[RowKey]) -> None:
        await self.query(_EXPIRE, key_columns(keys))

    async def mark_read(self, keys: Sequence[RowKey], keep_ms: int) -> None:
        await self.query(_MARK_READ, [*key_columns(keys), keep_ms])

    async def settle(
        self, key: RowKey, action: str, reason: str, result: bytes | None, amount: int | None, currency: str | None,
        reference: str | None,
    ) -> str:
        """`completed`, `already`, or `late`: it had ended otherwise, and the payment was recorded."""
        rows = await self.query(_SETTLE, [*key, action, reason, result, amount, currency, reference])
        outcome: str = rows[0][0]
        if outcome == "unknown":
            raise ElicitationNotFoundError(key.id)
        if outcome == "mismatch":
            raise ElicitationMismatchError(key.id)
        if outcome == "reference_taken":
            raise ElicitationReferenceError(key.id)
        if outcome == "undecided":
            raise TypeError("an approval is accepted by its approver alone, on its page")
        if outcome == "missing":
            raise TypeError(
                "to accept a payment, amount (in minor units), currency and reference are required: what was paid, "
                "according to the provider"
            )
        return outcome

    async def claim(self, key: RowKey, action: str, reference: str | None, keep_ms: int, held: bool) -> bool:
        rows = await self.query(_CLAIM, [*key, reference, keep_ms, action, held])
        if rows[0][0] == "open":
            raise ElicitationOpenError(key.id)
        return bool(rows[0][0] == "claimed")

    async def unclaimed(
        self, *, provider: str | None = None, since: datetime | None = None, id: str | None = None
    ) -> list[UnclaimedRow]:
        return [UnclaimedRow(*row) for row in await self.query(_UNCLAIMED, [provider, since, id])]

    async def refunds(
        self, *, provider: str | None = None, since: datetime | None = None, id: str | None = None
    ) -> list[RefundRow]:
        return [RefundRow(*row) for row in await self.query(_REFUNDS, [provider, since, id])]

    async def take_recheck(self, key: RowKey, lease_ms: int) -> RecheckRow | None:
        """None if another instance is rechecking, or if there is nothing to recheck."""
        rows = await self.query(_TAKE_RECHECK, [*key, lease_ms])
        return RecheckRow(*rows[0]) if rows else None

    async def end_recheck(self, key: RowKey, taken: RecheckRow, failed: bool) -> None:
        await self.query(_END_RECHECK, [*key, taken.lease, taken.rechecks, failed])

    async def take_check(self, key: RowKey) -> CheckRow | None:
        """None if another instance verifies it, or if there is nothing to verify."""
        rows = await self.query(_TAKE_CHECK, [*key])
        return CheckRow(*rows[0]) if rows else None

    async def end_check(self, key: RowKey, lease: int, problem: bytes | None, failed: bool) -> None:
        await self.query(_END_CHECK, [*key, lease, problem, failed])

    async def purge_results(self, keep_unclaimed_ms: int) -> bool:
        """Purges some of the results that are due. Whether more may be due."""
        rows = await self.query(_PURGE_RESULTS, [keep_unclaimed_ms])
        return int(rows[0][0]) > 0

    async def purge(self, keep_ms: int, kind: str | None) -> int:
        """Deletes one batch of purgeable data. 0: that was all."""
        rows = await self.query(_PURGE, [keep_ms, kind])
        return int(rows[0][0])

    async def notify(self, channel: str, payload: str) -> None:
        await self.query(_NOTIFY, [channel, payload])


def _aware(time: datetime) -> datetime:
    return time.astimezone(timezone.utc)
