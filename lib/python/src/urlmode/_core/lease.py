"""The lease under which a call does the work of its claim: it is renewed while the work runs, until the claim ends."""

from __future__ import annotations

import asyncio
import contextlib
import time
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Union

import psycopg

from . import contract_claims as claiming
from . import contract_texts as texts
from .arguments import check_reference
from .background import jittered
from .contract_limits import CLAIM_RENEWALS, CLAIM_RETRY_S
from .contract_words import CLAIM_ENDS, ClaimEnd
from .errors import ClaimLostError, UrlModeBusyError, UrlModeError
from .pool import is_refused_change
from .seal import FULFILLED_JSON_MAX, to_json

Step = Callable[[], Awaitable[bool]]
End = Callable[[ClaimEnd, Union[str, None]], Awaitable[claiming.FulfilLeaseAnswer]]


@dataclass(frozen=True)
class Steps:
    """What a call does with its claim. Each is lost, or False, if another call has begun since."""

    id: str
    renew: Callable[..., Awaitable[claiming.RenewLeaseAnswer]]
    fulfil: Callable[[bytes], Awaitable[claiming.FulfilLeaseAnswer]]
    end: End
    confirm: Step
    release: Step
    expect_confirmation: Callable[[], Callable[[], None]]
    """has the next call wait for `confirm`, or until the function that it returns is called: a client that has its answer can
    call again at once"""


def check_end(how: ClaimEnd, refund: str | None) -> None:
    if how not in CLAIM_ENDS:
        raise ValueError(texts.CLAIM_ENDS)
    if refund is not None and how != "refunded":
        raise ValueError(texts.REFUND_OF_OTHER_END)
    check_reference(refund)


class AccountLease:
    """The claim of an account is final. Its end says whether the account is connected, and keeps no result."""

    def __init__(self, end: Callable[[str], Awaitable[bool]], give_back: Step | None) -> None:
        """`give_back`: None for a claim that another call may have as well."""
        self.lost = asyncio.Event()
        self.refunded = asyncio.Event()
        self.ended = False
        self._end = end
        self._give_back = give_back

    async def give_back(self) -> bool:
        """Its code was never sent, so that the next call can claim it."""
        self.ended = True
        return self._give_back is not None and await self._give_back()

    async def fulfil(self, result: Any) -> bool:
        self.ended = True
        with contextlib.suppress(psycopg.Error, UrlModeError):
            await self._end("")  # The account is connected, and its page stays neutral.
        return False

    async def confirm(self) -> bool:
        return False

    def expect_confirmation(self) -> Callable[[], None]:
        return lambda: None

    async def release(self, reason: str) -> bool:
        self.ended = True
        return await self._end(reason)

    async def hold(self, seconds: float) -> None:
        raise ValueError(texts.ACCOUNT_CLAIM_IS_FINAL)

    async def close(self, how: ClaimEnd, refund: str | None) -> None:
        raise ValueError(texts.ACCOUNT_IS_CONNECTED)


class Lease:
    """The lease of one call. The time that it lasts is counted from before it was asked for."""

    def __init__(self, steps: Steps, seconds: float, asked: float, on_end: Callable[[Lease], None]) -> None:
        self.id = steps.id
        self.lost = asyncio.Event()
        self.refunded = asyncio.Event()
        self.hurried = asyncio.Event()
        """whether it is to be renewed at once"""
        self.ended = False
        self.renewing: asyncio.Task[None] | None = None
        self.holder: weakref.ref[Any] | None = None
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
            self._report(answer)
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
        text = fulfilled_json(result)
        if text is None:
            return False
        await self._last_step(lambda: self._steps.fulfil(text))
        return True

    async def close(self, how: ClaimEnd, refund: str | None) -> None:
        await self._last_step(lambda: self._steps.end(how, refund))

    async def hold(self, seconds: float) -> None:
        self._is_done = True
        self._end()
        if await self._steps.renew(round(seconds * 1000)) == "lost":
            raise ClaimLostError(self._steps.id)

    async def confirm(self) -> bool:
        self._is_done = True
        done = await self._steps.confirm()
        self._end()
        return done

    def expect_confirmation(self) -> Callable[[], None]:
        return self._steps.expect_confirmation()

    async def release(self, reason: str) -> bool:
        self._end()
        return not self._is_done and await self._steps.release()

    async def give_back(self) -> bool:
        return await self.release("")

    def drop(self) -> None:
        self._end()
        self.lost.set()

    async def _last_step(self, ask: Callable[[], Awaitable[claiming.FulfilLeaseAnswer]]) -> None:
        self._is_done = True
        try:
            answer = await self._while_it_lasts(ask)
        finally:
            self._end()
        if answer == "lost":
            raise ClaimLostError(self._steps.id)
        self._report(answer)

    def _report(self, answer: claiming.RenewLeaseAnswer | claiming.FulfilLeaseAnswer) -> None:
        """All that was paid went back. The work may go on."""
        if answer in ("refunded", "disputed"):
            self.refunded.set()

    async def _while_it_lasts(self, ask: Callable[[], Awaitable[claiming.FulfilLeaseAnswer]]) -> claiming.FulfilLeaseAnswer:
        """The work is done, so a database that does not answer is asked again, for the time of one lease. No other
        call can begin meanwhile."""
        until = time.monotonic() + self._seconds
        while True:
            try:
                return await ask()
            except (psycopg.Error, UrlModeBusyError) as error:
                if is_refused_change(error) or time.monotonic() >= min(until, self._until):
                    raise
                await asyncio.sleep(jittered(CLAIM_RETRY_S))

    def _end(self) -> None:
        if self.ended:
            return
        self.ended = True
        if self.renewing is not None and self.renewing is not asyncio.current_task():
            self.renewing.cancel()
        self._on_end(self)


def fulfilled_json(result: Any) -> bytes | None:
    """None if it is too large to be kept, or cannot be written as JSON."""
    try:
        text = to_json({} if result is None else {"result": result})
    except (TypeError, ValueError, RecursionError):
        return None
    return text if len(text) <= FULFILLED_JSON_MAX else None
