"""Claims with two ends: the work is done, and the answer was written.

A call does its work under a lease, which is renewed while it runs. What it has returned is sealed with the claim, and
the next call is given that, until the answer was written. What cannot be kept is not final: the lease is renewed until the
claim is confirmed or released (sql/functions/004_claim.sql).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any, Literal, Union

import psycopg

from . import contract_calls as sql
from . import contract_claims as claiming
from .ask_back import Rechecker
from .background import Background, jittered, shielded
from .contract_calls import Query, RowKey
from .contract_limits import CLAIM_CONFIRM_S, CLAIM_RETRY_S, RECHECK_LEASE_S
from .contract_seals import FULFILLED_INFO
from .contract_words import ClaimEnd
from .errors import ClaimLostError, ElicitationNotFoundError, ElicitationOpenError, UrlModeError
from .keys import KeyRing
from .lease import AccountLease, Lease, Steps, check_end
from .listener import Listener, Notification
from .rechecks import Rechecks
from .seal import seal, unseal
from .sending import Sending
from .types import Action, RecheckFunction

# Why an account is not connected, if the call does not say it.
_EXCHANGE_FAILED = "exchange_failed"


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
    _steps: Steps = field(repr=False)
    state: Literal["fulfilled"] = "fulfilled"

    async def confirm(self) -> bool:
        """The answer was written, so no later call is given it. Raises UrlModeClosedError."""
        return await self._steps.confirm()

    def _expect_confirmation(self) -> Callable[[], None]:
        return self._steps.expect_confirmation()

    async def release(self) -> bool:
        """This answer has failed as well: the next call does the work again, for the same payment.

        False: the claim has ended. Raises UrlModeClosedError.

        `reason`: why an account is not connected, a code.
        """
        return await self._steps.release()

    async def end(self, how: ClaimEnd, refund: str | None = None) -> None:
        """As that of BegunClaim. Raises ClaimLostError.

        `how`: delivered or refunded. `refund`: the provider's reference of the refund.
        """
        check_end(how, refund)
        if await self._steps.end(how, refund) == "lost":
            raise ClaimLostError(self._steps.id)


class BegunClaim:
    """This call does the work. As a context manager, it releases the claim if the work fails. Without an end its lease is
    renewed for as long as this object is referenced."""

    state: Literal["begun"] = "begun"

    def __init__(self, reference: str | None, fence: int | None, lease: Lease | AccountLease) -> None:
        self.reference = reference
        """of the payment"""
        self.fence = fence
        """greater than that of each call before; None for an account, whose claim is final"""
        self.lost = lease.lost
        """Set when the lease has ended, because PostgreSQL did not renew it: another call may have begun."""
        self.refunded = lease.refunded
        """Set when all that was paid went back, or is disputed: the work can stop, or go on."""
        self._lease = lease
        if isinstance(lease, Lease):
            lease.holder = weakref.ref(self)

    async def fulfil(self, result: Any) -> bool:
        """The work is done: keeps what the call returns for the next one, until `confirm`.

        False: it cannot be kept, because it is no JSON or has more than 16 MiB. Then the lease is renewed until
        `confirm`, or until `release`, which has the next call do the work again. Raises ClaimLostError if another call
        has begun since.

        `result`: what the call returns.
        """
        return await self._lease.fulfil(result)

    async def confirm(self) -> bool:
        """The answer was written, so no later call is given it. False: another call has begun, or ended it otherwise.

        Raises UrlModeClosedError.
        """
        return await self._lease.confirm()

    async def release(self, reason: str = _EXCHANGE_FAILED) -> bool:
        """The work was not done: the next call can begin at once. For an account, its page shows the reason.

        False: the claim has ended, or the work is done. Raises UrlModeClosedError.

        `reason`: why an account is not connected, a code.
        """
        return await self._lease.release(reason)

    def _expect_confirmation(self) -> Callable[[], None]:
        return self._lease.expect_confirmation()

    async def hold(self, seconds: float) -> None:
        """Keeps the lease for so long, without renewals, for the next round of the call: `begin_claim` goes on with the `fence`
        of this claim, on any instance. Raises ClaimLostError if another call has begun since.

        `seconds`: for how long.
        """
        await self._lease.hold(seconds)

    async def end(self, how: ClaimEnd, refund: str | None = None) -> None:
        """Both ends at once, for who has delivered or refunded what `unclaimed` lists.

        `refund`: the provider's reference of the refund. Raises ClaimLostError if another call has begun since.

        `how`: delivered or refunded. `refund`: the provider's reference of the refund.
        """
        check_end(how, refund)
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
        self._leases: set[Lease] = set()
        self._confirming: dict[str, asyncio.Future[None]] = {}
        """confirmations that are under way or expected, by the ids of their elicitations"""
        self._asking = Background()
        """with what gives back the claims that nobody has any more"""
        self._renewing = Background()

    async def begin(
        self, key: RowKey, reference: str | None, lease_ms: int, timeout: float, claim_id: str | None = None,
        any_payment: bool = False, recheck: RecheckFunction | None = None, recheck_ms: int | None = None, fence: int | None = None,
    ) -> Claim:  # fmt: skip
        """`timeout`: how many seconds to wait while another call holds the lease. `recheck_ms`: how old the last answer of
        `recheck` may be. If it fails, the claim does not begin."""
        age = recheck_ms if recheck or self._rechecks else None
        until = time.monotonic() + timeout
        if fence is not None and (continued := await self._continue(key, fence, lease_ms)) is not None:
            return continued
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
            outcome, leased_ms = await claiming.claim_at_once(
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
        """The exchange of another call: `exchanging`, or how it has ended. Empty: the account is connected; None: no call has begun
        it, or the one that had has given the account back."""
        return await sql.read_exchange(self._query, key)

    def _ended(self, lease: Lease) -> None:
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
        """Ends all claims that are under way. Their leases end by themselves. What was sent is waited for: an account that is claimed
        and not given back would be lost."""
        for lease in tuple(self._leases):
            lease.drop()
        await self._asking.finish()
        await self._renewing.cancel()

    async def _ask(
        self, key: RowKey, wanted: str | None, lease_ms: int, claim_id: str | None, any_payment: bool, age: int | None
    ) -> Claim | None:
        """None: the provider must be asked first. What was sent is carried out, also where the caller is cancelled meanwhile. Then
        nobody does the work, so that the next call may begin at once; what was not sent is taken back."""
        sending = Sending()
        asking = self._asking.start(self._begin(sending, key, wanted, lease_ms, claim_id, any_payment, age))
        try:
            return await shielded(asking)
        except asyncio.CancelledError:
            if sending.sent:
                asking.add_done_callback(self._give_back)
            else:
                asking.cancel()
            raise

    def _give_back(self, asking: asyncio.Task[Claim | None]) -> None:
        if not asking.cancelled() and asking.exception() is None and isinstance(claim := asking.result(), BegunClaim):
            self._asking.start(claim._lease.give_back())

    async def _begin(
        self, sending: Sending, key: RowKey, wanted: str | None, lease_ms: int, given_id: str | None, any_payment: bool, age: int | None
    ) -> Claim | None:
        asked = time.monotonic()
        query = self._query
        claim_id = given_id or str(uuid.uuid4())
        with sending.of_what_follows():
            row = await claiming.begin_lease(
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
            return BegunClaim(None, None, AccountLease(
                lambda reason: sql.end_exchange(query, key, reason=reason),
                # Another call of the same claim_id may be sending the code.
                (lambda: sql.release_unsent(query, key, claim_id=claim_id)) if given_id is None else None,
            ))  # fmt: skip
        steps = self._steps_of(key, fence, lease_ms)
        if outcome == "fulfilled":
            members = unseal(self._keys, FULFILLED_INFO, *key, row.fulfilled)
            return FulfilledClaim(reference or None, fence, members.get("result"), steps)
        return self._begun(reference, fence, steps, lease_ms, asked)

    async def _continue(self, key: RowKey, fence: int, lease_ms: int) -> BegunClaim | None:
        """None: another call has begun since, or another round of this one."""
        asked = time.monotonic()
        row = await claiming.continue_lease(self._query, key, fence=fence, lease_ms=lease_ms)
        if row.outcome == "lost":
            return None
        claim = self._begun(row.claimed_reference, row.next_fence, self._steps_of(key, row.next_fence, lease_ms), lease_ms, asked)
        if row.outcome != "renewed":
            claim.refunded.set()
        return claim

    def _begun(self, reference: str | None, fence: int, steps: Steps, lease_ms: int, asked: float) -> BegunClaim:
        lease = Lease(steps, lease_ms / 1000, asked, self._ended)
        if self._listener is not None and not self._leases:
            self._listener.on_notified.append(self._on_notified)
            self._listener.acquire(self)
        self._leases.add(lease)
        lease.renewing = self._renewing.start(lease.keep())
        return BegunClaim(reference or None, fence, lease)

    def _steps_of(self, key: RowKey, fence: int, lease_ms: int) -> Steps:
        query, keep_ms = self._query, self._keep_ms

        def fulfil(
            text: bytes | None, how: ClaimEnd | None = None, refund: str | None = None
        ) -> Awaitable[claiming.FulfilLeaseAnswer]:
            sealed = None if text is None else seal(self._keys, FULFILLED_INFO, *key, text)
            return claiming.fulfil_lease(
                query, key, fence=fence, fulfilled=sealed, claim_end=how, refund=refund, keep_ms=keep_ms
            )

        async def confirm() -> bool:
            end = self._expect_confirmation(key.id)
            try:
                return await claiming.confirm_claim(query, key, fence=fence, keep_ms=keep_ms)
            finally:
                end()

        return Steps(
            key.id, lambda ms=lease_ms: claiming.renew_lease(query, key, fence=fence, lease_ms=ms), fulfil,
            lambda how, refund: fulfil(None, how, refund), confirm, lambda: claiming.release_claim(query, key, fence=fence),
            lambda: self._expect_confirmation(key.id),
        )  # fmt: skip

    def _expect_confirmation(self, id: str) -> Callable[[], None]:
        expected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._confirming[id] = expected

        def end() -> None:
            if not expected.done():
                expected.set_result(None)
            if self._confirming.get(id) is expected:
                del self._confirming[id]

        return end
