"""Calls the functions of the schema `urlmode` that an MCP server may call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from sys import intern
from typing import Any, Literal, NamedTuple

import psycopg

from . import contract_texts as texts
from . import contract_calls as sql
from . import contract_claims as claiming
from . import contract_money as money
from . import contract_rechecks as rechecking
from .background import jittered
from .batches import Batches
from .contract_calls import Abandoned, AbandonAnswer, TakenCheck, Created, NewRow, Query, Resuming, Row, RowKey
from .contract_limits import BUSY_MAX_S, BUSY_MIN_S, KEEP_RESULTS_S, QUERY_S
from .contract_money import EntitlementRow, RefundRow, UnclaimedRow, UndeliveredRow
from .contract_rechecks import TakenRecheck
from .contract_statements import NOTIFY
from .contract_words import AbandonOutcome
from .errors import (
    ElicitationExistsError,
    ElicitationLimitError,
    ElicitationMismatchError,
    ElicitationNotFoundError,
    ElicitationOpenError,
    ElicitationReferenceError,
    ElicitationSubscribedError,
    UrlModeBusyError,
    UrlModeClosedError,
)
from .pool import Pool
from .sending import current_sending
from .types import Action, Kind


class Resumed(NamedTuple):
    id: str
    provider: str
    kind: Kind
    expires_at: datetime
    ttl_ms: int
    link_kid: int | None
    is_held: bool
    """An amount that does not match waits to be delivered or refunded."""


def _sharing(row: Row) -> Row:
    """The provider, kind and status of a row are those of many others."""
    common: dict[str, Any] = {name: intern(getattr(row, name)) for name in ("provider", "kind", "status")}
    return row._replace(**common)


async def read_rows(query: Query, keys: Sequence[RowKey]) -> list[Row]:
    """A row that does not exist, or that has another binding, is left out."""
    return list(map(_sharing, await sql.read_paid(query, keys)))


class Database:
    """The functions of the schema, which are called one by one or, where many calls come, in batches."""

    def __init__(self, pool: Pool, tenant: str) -> None:
        """`tenant`: whose rows these are; empty: those that have none."""
        self._pool = pool
        self.tenant = tenant
        self.query = pool.query
        self._creates: Batches[NewRow, Created] = Batches(sql.create_elicitation, pool.reserve, pool.calls)
        self._resumes = Batches(_resume, pool.reserve, pool.calls)
        self._abandons: Batches[Abandoned, AbandonAnswer] = Batches(sql.abandon, pool.reserve, pool.calls)

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
            if outcome == "subscribed":
                raise ElicitationSubscribedError(str(row.item))
            if outcome != "busy":
                return _aware(expires_at) if expires_at is not None and outcome == "created" else None
            # Another call creates for the same owner. Nothing of this one was written.
            current_sending().sent = False
            if time.monotonic() > give_up:
                raise UrlModeBusyError(texts.OWNER_IS_BUSY)
            await asyncio.sleep(jittered(delay))
            if self._pool.broken_off:
                raise UrlModeClosedError
            delay = min(2 * delay, BUSY_MAX_S)

    async def resume(self, asked: Resuming) -> Resumed | None:
        return await self._pool.track(lambda: self._resumes.ask(asked))

    async def abandon(self, row: Abandoned) -> AbandonOutcome:
        """`completed`: by this call; a status: it stays as it is."""
        outcome = await self._pool.track(lambda: self._abandons.ask(row))
        if outcome == "unknown":
            raise ElicitationNotFoundError(row.id)
        return outcome

    async def begin_ask(self, key: RowKey, client: bytes, awaited: bool) -> sql.BeginAskAnswer:
        """What this client has answered when it was asked to open the row. Empty: it can be asked."""
        return await sql.begin_ask(self.query, key, client=client, awaited=awaited)

    async def end_ask(self, key: RowKey, client: bytes, answer: Literal["accepted", "asked", "declined", "dismissed", "failed"]) -> None:
        await sql.end_ask(self.query, key, client=client, answer=answer)

    async def read(self, key: RowKey) -> Row | None:
        rows = await read_rows(self.query, [key])
        return rows[0] if rows else None

    async def expire(self, keys: Sequence[RowKey]) -> None:
        await sql.expire(self.query, keys)

    async def mark_read(self, keys: Sequence[RowKey], keep_ms: int) -> None:
        await sql.mark_read(self.query, keys, keep_ms=keep_ms)

    async def settle(
        self, key: RowKey, action: Action, reason: str, result: bytes | None, amount: int | None, currency: str | None,
        reference: str | None,
    ) -> str:
        """`completed`, `already`, or `late`: it had ended otherwise, and the payment was recorded."""
        outcome = await sql.settle(
            self.query, key, action=action, reason=reason, result=result, amount=amount, currency=currency,
            reference=reference,
        )  # fmt: skip
        if outcome == "unknown":
            raise ElicitationNotFoundError(key.id)
        if outcome == "mismatch":
            raise ElicitationMismatchError(key.id)
        if outcome == "reference_taken":
            raise ElicitationReferenceError(key.id)
        if outcome == "undecided":
            raise TypeError(texts.UNDECIDED)
        if outcome == "missing":
            raise TypeError(texts.PAYMENT_WITHOUT_PRICE)
        return outcome

    async def claim_refusal(self, key: RowKey) -> None:
        keep_ms = round(KEEP_RESULTS_S * 1000)
        await claiming.claim_at_once(
            self.query, key, reference=None, keep_ms=keep_ms, action="cancel", held=False, recheck_ms=None
        )

    async def undelivered(self, *, provider: str | None, since: datetime | None) -> list[UndeliveredRow]:
        return await money.undelivered_of(self.query, tenant=self.tenant, provider=provider, since=since, id=None)

    async def unclaimed(
        self, *, provider: str | None = None, since: datetime | None = None, id: str | None = None
    ) -> list[UnclaimedRow]:
        return await money.unclaimed_of(self.query, tenant=self.tenant, provider=provider, since=since, id=id)

    async def late(self, *, since: datetime | None = None, id: str | None = None) -> list[UnclaimedRow]:
        """Those of `unclaimed` that were proved after the end of their elicitation."""
        return [row for row in await self.unclaimed(since=since, id=id) if row.late]

    async def refunds(
        self, *, provider: str | None = None, since: datetime | None = None, id: str | None = None
    ) -> list[RefundRow]:
        return await money.refunds_with_item(self.query, tenant=self.tenant, provider=provider, since=since, id=id)

    async def begin_recheck(self, key: RowKey, lease_ms: int, max_age_ms: int | None) -> TakenRecheck | None:
        """None if another instance is rechecking, or if there is nothing to recheck. `max_age_ms`: before a claim."""
        return await rechecking.begin_recheck(self.query, key, lease_ms=lease_ms, max_age_ms=max_age_ms)

    async def answer_recheck(
        self, key: RowKey, taken: TakenRecheck, payments: list[dict[str, Any]], refunds: list[dict[str, Any]]
    ) -> list[str]:
        """What each payment and then each refund has done."""
        return await rechecking.answer_recheck(
            self.query, key, lease=taken.lease, rechecks=taken.rechecks, payments=payments, refunds=refunds
        )

    async def entitlements(self, subject: str, item: str | None) -> list[EntitlementRow]:
        return await money.entitlements(self.query, tenant=self.tenant, subject=subject, item=item)

    async def paid(self, *, subject: str, item: str, since: datetime | None, delivered: bool) -> bool:
        ask = money.delivered if delivered else money.paid
        return await ask(self.query, subject=subject, item=item, since=since, tenant=self.tenant)

    async def end_recheck(self, key: RowKey, taken: TakenRecheck, failed: bool) -> None:
        await rechecking.end_recheck(self.query, key, lease=taken.lease, rechecks=taken.rechecks, failed=failed)

    async def take_check(self, key: RowKey) -> TakenCheck | None:
        """None if another instance verifies it, or if there is nothing to verify."""
        return await sql.take_check(self.query, key)

    async def end_check(self, key: RowKey, lease: int, problem: bytes | None, failed: bool) -> None:
        await sql.end_check(self.query, key, lease=lease, problem=problem, failed=failed)

    async def purge_results(self, keep_unclaimed_ms: int) -> bool:
        """Purges some of the results that are due. Whether more may be due."""
        return await sql.purge_results(self.query, keep_unclaimed_ms=keep_unclaimed_ms) > 0

    async def purge(self, keep_ms: int, kind: str | None) -> int:
        """Deletes one batch of purgeable data. 0: that was all."""
        return await sql.purge(self.query, keep_ms=keep_ms, kind=kind)

    async def notify(self, channel: str, payload: str) -> None:
        await self.query(NOTIFY, [channel, payload])


async def _resume(query: Query, all: Sequence[Resuming]) -> list[Resumed | None]:
    return [
        None if row.id is None
        else Resumed(row.id, row.provider, row.kind, _aware(row.expires_at), row.expires_in_ms, row.link_kid, row.status == "held")
        for row in await sql.resume_for(query, all)
    ]  # fmt: skip


def _aware(time: datetime) -> datetime:
    return time.astimezone(timezone.utc)
