"""Claims with two ends: the work is done, and the answer was written.

A call does its work under a lease, which is renewed while it runs. What it has returned is sealed with the claim, and
the next call is given that, until the answer was written. What cannot be kept is not final: the lease is renewed until the
claim is confirmed or released (sql/functions/004_claim.sql).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any, Literal, Union

import psycopg

from . import contract_calls as sql
from . import contract_money as money
from .ask_back import Rechecker
from .contract_calls import Query, RowKey
from .arguments import check_reference
from .contract_limits import CLAIM_CONFIRM_S, CLAIM_RENEWALS, CLAIM_RETRY_S, RECHECK_LEASE_S
from .contract_seals import FULFILLED_INFO
from .contract_words import ClaimEnd
from .errors import (
    ClaimLostError,
    ElicitationNotFoundError,
    ElicitationOpenError,
    UrlModeBusyError,
    UrlModeError,
)
from .keys import KeyRing
from .listener import Listener, Notification
from .pool import is_refusal
from .rechecks import Rechecks
from .seal import FULFILLED_JSON_MAX, seal, to_json, unseal
from .tasks import Tasks, jittered, shielded
from .types import Action, RecheckFunction

# Why an account is not connected, if the call does not say it.
_EXCHANGE_FAILED = "exchange_failed"

Step = Callable[[], Awaitable[bool]]
End = Callable[[ClaimEnd, Union[str, None]], Awaitable[money.FulfilLeaseAnswer]]


@dataclass(frozen=True)
class LeasedClaim:
    """Another call does the work, and can still finish it. If it dies, the next can begin at `until`."""

    until: datetime
    state: Literal["leased"] = "leased"


@dataclass(frozen=True)
class TakenClaim:
    """Another call has claimed it, or the payment was refunded."""

    state: Literal["taken"] = "taken"


@dataclass(frozen=True)
class ChangedClaim:
    """The outcome is no longer this accept: wait again."""

    state: Literal["changed"] = "changed"


@dataclass(frozen=True)
class FulfilledClaim:
    """Another call has done the work, and its answer was not written: return `result`."""

    reference: str | None
    fence: int
    result: Any = field(repr=False)
    _steps: _Steps = field(repr=False)
    state: Literal["fulfilled"] = "fulfilled"

    async def confirm(self) -> bool:
        """The answer was written, so no later call is given it. Raises UrlModeClosedError."""
        return await self._steps.confirm()

    async def release(self) -> bool:
        """This answer has failed as well: the next call does the work again, for the same payment.

        False: the claim has ended. Raises UrlModeClosedError.
        """
        return await self._steps.release()

    async def end(self, how: ClaimEnd, refund: str | None = None) -> None:
        """As that of BegunClaim. Raises ClaimLostError."""
        _check_end(how, refund)
        if await self._steps.end(how, refund) == "lost":
            raise ClaimLostError(self._steps.id)


class BegunClaim:
    """This call does the work. As a context manager, it releases the claim if the work fails. Without an end its lease is
    renewed for as long as this object is referenced."""

    state: Literal["begun"] = "begun"

    def __init__(self, reference: str | None, fence: int | None, lease: _Lease | _AccountLease) -> None:
        self.reference = reference
        """of the payment"""
        self.fence = fence
        """greater than that of each call before; None for an account, whose claim is final"""
        self.lost = lease.lost
        """Set when the lease has ended, because PostgreSQL did not renew it: another call may have begun."""
        self.refunded = lease.refunded
        """Set when all that was paid went back, or is disputed: the work can stop, or go on."""
        self._lease = lease
        if isinstance(lease, _Lease):
            lease.holder = weakref.ref(self)

    async def fulfil(self, result: Any) -> bool:
        """The work is done: keeps what the call returns for the next one, until `confirm`.

        False: it cannot be kept, because it is no JSON or has more than 16 MiB. Then the lease is renewed until
        `confirm`, or until `release`, which has the next call do the work again. Raises ClaimLostError if another call
        has begun since.
        """
        return await self._lease.fulfil(result)

    async def confirm(self) -> bool:
        """The answer was written, so no later call is given it. False: another call has begun or confirmed it.

        Raises UrlModeClosedError.
        """
        return await self._lease.confirm()

    async def release(self, reason: str = _EXCHANGE_FAILED) -> bool:
        """The work was not done: the next call can begin at once. For an account, its page shows the reason.

        False: the claim has ended, or the work is done. Raises UrlModeClosedError.
        """
        return await self._lease.release(reason)

    async def end(self, how: ClaimEnd, refund: str | None = None) -> None:
        """Both ends at once, for who has delivered or refunded what `unclaimed` lists.

        `refund`: the provider's reference of the refund. Raises ClaimLostError if another call has begun since.
        """
        _check_end(how, refund)
        await self._lease.close(how, refund)

    async def __aenter__(self) -> BegunClaim:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None and not self._lease.ended:
            with contextlib.suppress(psycopg.Error, UrlModeError):  # The lease ends by itself.
                await self.release()


Claim = Union[BegunClaim, FulfilledClaim, LeasedClaim, TakenClaim, ChangedClaim]


class Claims:
    def __init__(
        self, query: Query, keys: KeyRing, keep_ms: int, rechecker: Rechecker, rechecks: Rechecks, listener: Listener | None = None
    ) -> None:
        """`keep_ms`: how long a result is kept after the last end of its claim. `listener` tells of money that goes back while
        a call works."""
        self._query = query
        self._keys = keys
        self._keep_ms = keep_ms
        self._rechecker = rechecker
        self._rechecks = rechecks
        self._listener = listener
        self._leases: set[_Lease] = set()
        self._confirming: dict[str, asyncio.Future[Any]] = {}
        """confirmations that are under way, by the ids of their elicitations"""
        self._tasks = Tasks()

    async def begin(
        self, key: RowKey, reference: str | None, lease_ms: int, timeout: float, claim_id: str | None = None,
        any_payment: bool = False, recheck: RecheckFunction | None = None, recheck_ms: int | None = None,
    ) -> Claim:  # fmt: skip
        """`timeout`: how many seconds to wait while another call holds the lease. `recheck_ms`: how old the last answer of
        `recheck` may be. If it fails, the claim does not begin."""
        age = recheck_ms if recheck or self._rechecks else None
        until = time.monotonic() + timeout
        # A client that has its answer can call again at once.
        if (confirming := self._confirming.get(key.id)) is not None:
            await asyncio.wait({confirming}, timeout=CLAIM_CONFIRM_S)
        while True:
            claim = await self._ask(key, reference, lease_ms, claim_id, any_payment, age)
            if claim is None:
                age = await self._recheck(key, recheck, age)
                continue
            rest = until - time.monotonic()
            if not isinstance(claim, LeasedClaim) or rest <= 0:
                return claim
            await asyncio.sleep(min(rest, jittered(CLAIM_RETRY_S)))

    async def claim_at_once(
        self, key: RowKey, action: Action, reference: str | None, held: bool, recheck: RecheckFunction | None, recheck_ms: int
    ) -> bool:
        """Claims an outcome with both ends at once. Waits while another instance asks the provider. False: another call has
        claimed it, or it has another outcome by now."""
        age = recheck_ms if recheck or self._rechecks else None
        while True:
            outcome, leased_ms = await money.claim_at_once(
                self._query, key, reference=reference, keep_ms=self._keep_ms, action=action, held=held, recheck_ms=age
            )
            if outcome == "open":
                raise ElicitationOpenError(key.id)
            if outcome != "recheck":
                return outcome == "claimed"
            if leased_ms and leased_ms > 0:
                await asyncio.sleep(min(leased_ms / 1000, jittered(CLAIM_RETRY_S)))
            else:
                age = await self._recheck(key, recheck, age)

    async def _recheck(self, key: RowKey, recheck: RecheckFunction | None, age: int | None) -> int | None:
        """Asks the provider before the claim begins: what it has may have gone back. If that fails, the claim does not begin.
        How old the last answer may be for the next try; None: nobody can ask."""
        recheck = recheck or await self._rechecks.of_row(key)
        if recheck is None:
            return None
        asked = await self._rechecker.run(key, "completed", recheck, max_age_ms=age)
        if asked.error is not None:
            raise asked.error
        # Otherwise another instance asks.
        return max(age or 0, round(RECHECK_LEASE_S * 1000)) if asked.taken else age

    async def read_exchange(self, key: RowKey) -> str | None:
        """How the exchange of another call has ended. Empty: the account is connected; None: it is not known yet."""
        exchange = await sql.read_exchange(self._query, key)
        return None if exchange == "exchanging" else exchange

    def _ended(self, lease: _Lease) -> None:
        self._leases.discard(lease)
        if self._listener is not None and not self._leases and self._on_notified in self._listener.on_notified:
            self._listener.on_notified.remove(self._on_notified)
            self._listener.release(self)

    def _on_notified(self, notifications: list[Notification]) -> None:
        """The next renewal says whether all of it went back. Anyone in the database can send such a text."""
        back = {notification["id"] for notification in notifications if notification.get("refunded") is True}
        for lease in self._leases:
            if lease.id in back:
                lease.hurried.set()

    async def close(self) -> None:
        """Ends all claims that are under way. Their leases end by themselves."""
        for lease in tuple(self._leases):
            lease.drop()
        await self._tasks.cancel()

    async def _ask(
        self, key: RowKey, wanted: str | None, lease_ms: int, claim_id: str | None, any_payment: bool, age: int | None
    ) -> Claim | None:
        """None: the provider must be asked first. PostgreSQL carries out what was asked also where the caller is cancelled meanwhile. Then nobody does the work, so
        that the next call may begin at once."""
        asking = self._tasks.start(self._begin(key, wanted, lease_ms, claim_id, any_payment, age))
        try:
            return await shielded(asking)
        except asyncio.CancelledError:
            asking.add_done_callback(self._give_back)
            raise

    def _give_back(self, asking: asyncio.Task[Claim | None]) -> None:
        if not asking.cancelled() and asking.exception() is None and isinstance(claim := asking.result(), BegunClaim):
            self._tasks.start(claim.release())

    async def _begin(
        self, key: RowKey, wanted: str | None, lease_ms: int, claim_id: str | None, any_payment: bool, age: int | None
    ) -> Claim | None:
        asked = time.monotonic()
        query = self._query
        row = await money.begin_lease(
            query, key, reference=wanted, lease_ms=lease_ms, keep_ms=self._keep_ms, claim_id=claim_id,
            any_payment=any_payment, recheck_ms=age,
        )  # fmt: skip
        outcome, reference, fence = row.outcome, row.claimed_reference, row.fence
        if outcome == "unknown":
            raise ElicitationNotFoundError(key.id)
        if outcome == "open":
            raise ElicitationOpenError(key.id)
        if outcome == "recheck" and row.leased_ms <= 0:
            return None
        if outcome in ("leased", "recheck"):
            return LeasedClaim(datetime.now(timezone.utc) + timedelta(milliseconds=row.leased_ms))
        if outcome == "changed":
            return ChangedClaim()
        if outcome == "taken":
            return TakenClaim()
        if outcome == "claimed":
            return BegunClaim(None, None, _AccountLease(lambda reason: sql.end_exchange(query, key, reason=reason)))
        steps = self._steps_of(key, fence, lease_ms)
        if outcome == "fulfilled":
            members = unseal(self._keys, FULFILLED_INFO, *key, row.fulfilled)
            return FulfilledClaim(reference or None, fence, members.get("result"), steps)
        lease = _Lease(steps, lease_ms / 1000, asked, self._ended)
        if self._listener is not None and not self._leases:
            self._listener.on_notified.append(self._on_notified)
            self._listener.acquire(self)
        self._leases.add(lease)
        lease.renewing = self._tasks.start(lease.keep())
        return BegunClaim(reference or None, fence, lease)

    def _steps_of(self, key: RowKey, fence: int, lease_ms: int) -> _Steps:
        query, keep_ms = self._query, self._keep_ms

        def fulfil(
            text: bytes | None, how: ClaimEnd | None = None, refund: str | None = None
        ) -> Awaitable[money.FulfilLeaseAnswer]:
            sealed = None if text is None else seal(self._keys, FULFILLED_INFO, *key, text)
            return money.fulfil_lease(
                query, key, fence=fence, fulfilled=sealed, claim_end=how, refund=refund, keep_ms=keep_ms
            )

        async def confirm() -> bool:
            confirming = asyncio.ensure_future(money.confirm_claim(query, key, fence=fence, keep_ms=keep_ms))
            self._confirming[key.id] = confirming

            def forget(ended: asyncio.Future[bool]) -> None:
                if self._confirming.get(key.id) is ended:
                    del self._confirming[key.id]

            confirming.add_done_callback(forget)
            return await confirming

        return _Steps(
            key.id, lambda: money.renew_lease(query, key, fence=fence, lease_ms=lease_ms), fulfil,
            lambda how, refund: fulfil(None, how, refund), confirm, lambda: money.release_claim(query, key, fence=fence),
        )  # fmt: skip


@dataclass(frozen=True)
class _Steps:
    """What a call does with its claim. Each is lost, or False, if another call has begun since."""

    id: str
    renew: Callable[[], Awaitable[money.RenewLeaseAnswer]]
    fulfil: Callable[[bytes], Awaitable[money.FulfilLeaseAnswer]]
    end: End
    confirm: Step
    release: Step


def _check_end(how: ClaimEnd, refund: str | None) -> None:
    if how not in ("delivered", "refunded"):
        raise ValueError("a claim ends as delivered or refunded")
    if refund is not None and how != "refunded":
        raise ValueError("only a claim that ends as refunded has the reference of a refund")
    check_reference(refund)


class _AccountLease:
    """The claim of an account is final. Its end says whether the account is connected, and keeps no result."""

    def __init__(self, end: Callable[[str], Awaitable[bool]]) -> None:
        self.lost = asyncio.Event()
        self.refunded = asyncio.Event()
        self.ended = False
        self._end = end

    async def fulfil(self, result: Any) -> bool:
        self.ended = True
        with contextlib.suppress(psycopg.Error, UrlModeError):
            await self._end("")  # The account is connected, and its page stays neutral.
        return False

    async def confirm(self) -> bool:
        return False

    async def release(self, reason: str) -> bool:
        self.ended = True
        return await self._end(reason)

    async def close(self, how: ClaimEnd, refund: str | None) -> None:
        raise ValueError("an account is connected: it is neither delivered nor refunded")


class _Lease:
    """The lease of one call. The time that it lasts is counted from before it was asked for."""

    def __init__(self, steps: _Steps, seconds: float, asked: float, on_end: Callable[[_Lease], None]) -> None:
        self.id = steps.id
        self.lost = asyncio.Event()
        self.refunded = asyncio.Event()
        self.hurried = asyncio.Event()
        """whether it is to be renewed at once"""
        self.ended = False
        self.renewing: asyncio.Task[None] | None = None
        self.holder: weakref.ref[BegunClaim] | None = None
        """whose end is the end of the lease: a claim that its call has forgotten is not renewed"""
        self._steps = steps
        self._seconds = seconds
        self._asked = asked
        self._until = asked + seconds
        self._is_done = False
        """whether the work is done, also if PostgreSQL could not be told: then it is not given back"""
        self._on_end = on_end

    async def keep(self) -> None:
        """Renews the lease until it ends, or until nobody can end it any more."""
        pause = self._seconds / CLAIM_RENEWALS
        while not self.ended:
            await self._pause(pause)
            if time.monotonic() >= self._until or self.holder is None or self.holder() is None:
                return self.drop()
            asked = self._asked = time.monotonic()
            try:
                answer = await asyncio.wait_for(self._steps.renew(), self._until - asked)
            except (psycopg.Error, UrlModeError, asyncio.TimeoutError):
                pause = jittered(min(CLAIM_RETRY_S, self._seconds / CLAIM_RENEWALS))
                continue
            if answer == "lost" and not self.ended:
                return self.drop()
            self._tell(answer)
            self._until = asked + self._seconds
            pause = self._seconds / CLAIM_RENEWALS

    async def _pause(self, seconds: float) -> None:
        """Shorter if money went back meanwhile, but not more often than a database that does not answer is asked."""
        try:
            await asyncio.wait_for(self.hurried.wait(), max(0.0, min(seconds, self._until - time.monotonic())))
        except asyncio.TimeoutError:
            return
        self.hurried.clear()
        await asyncio.sleep(max(0.0, min(self._asked + CLAIM_RETRY_S, self._until) - time.monotonic()))

    async def fulfil(self, result: Any) -> bool:
        text = _fulfilled_json(result)
        if text is None:
            return False
        await self._last_step(lambda: self._steps.fulfil(text))
        return True

    async def close(self, how: ClaimEnd, refund: str | None) -> None:
        await self._last_step(lambda: self._steps.end(how, refund))

    async def confirm(self) -> bool:
        self._is_done = True
        done = await self._steps.confirm()
        self._end()
        return done

    async def release(self, reason: str) -> bool:
        self._end()
        return not self._is_done and await self._steps.release()

    def drop(self) -> None:
        self._end()
        self.lost.set()

    async def _last_step(self, ask: Callable[[], Awaitable[money.FulfilLeaseAnswer]]) -> None:
        self._is_done = True
        try:
            answer = await self._while_it_lasts(ask)
        finally:
            self._end()
        if answer == "lost":
            raise ClaimLostError(self._steps.id)
        self._tell(answer)

    def _tell(self, answer: money.RenewLeaseAnswer | money.FulfilLeaseAnswer) -> None:
        """All that was paid went back. The work may go on."""
        if answer in ("refunded", "disputed"):
            self.refunded.set()

    async def _while_it_lasts(self, ask: Callable[[], Awaitable[money.FulfilLeaseAnswer]]) -> money.FulfilLeaseAnswer:
        """The work is done, so a database that does not answer is asked again, for the time of one lease. No other
        call can begin meanwhile."""
        until = time.monotonic() + self._seconds
        while True:
            try:
                return await ask()
            except (psycopg.Error, UrlModeBusyError) as error:
                if is_refusal(error) or time.monotonic() >= min(until, self._until):
                    raise
                await asyncio.sleep(jittered(CLAIM_RETRY_S))

    def _end(self) -> None:
        if self.ended:
            return
        self.ended = True
        if self.renewing is not None and self.renewing is not asyncio.current_task():
            self.renewing.cancel()
        self._on_end(self)


def _fulfilled_json(result: Any) -> bytes | None:
    """None if it is too large to be kept, or cannot be written as JSON."""
    try:
        text = to_json({} if result is None else {"result": result})
    except (TypeError, ValueError, RecursionError):
        return None
    return text if len(text) <= FULFILLED_JSON_MAX else None
