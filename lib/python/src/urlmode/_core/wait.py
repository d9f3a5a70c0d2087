"""One call of `wait_for_completion`, which whatever happens first settles, and what all waits for one row share."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from .background import in_this_context, start_quietly
from .contract_calls import Row, RowKey
from .contract_limits import ABANDON_S
from .contract_words import OPEN_STATUSES, AbandonOutcome
from .errors import ElicitationTimeoutError
from .form_types import VerifyFunction
from .outcome import Verifier
from .rechecks import Rechecks
from .types import Kind, OpenStatus, Outcome, Progress, ProgressFunction, RecheckFunction


Abandon = Callable[[str], Awaitable[AbandonOutcome]]
Over = Callable[["Wait", "BaseException | None"], None]


class Entry:
    """What all waits for one row share."""

    __slots__ = ("closes_at", "expected", "key", "kind", "next_recheck", "provider", "verifier", "waits")

    def __init__(self, key: RowKey) -> None:
        self.key = key
        self.waits: tuple[Wait, ...] = ()
        self.provider = ""
        self.kind: Kind | None = None
        """of the row, once it was read. Nothing else of it is kept, because there may be very many"""
        self.expected: Any = None
        """of a payment: the price that was asked"""
        self.verifier: Verifier | None = None
        self.closes_at = math.inf
        """when the row is to be read because it may be expired, as a time of the event loop"""
        self.next_recheck: asyncio.TimerHandle | None = None

    @property
    def id(self) -> str:
        return self.key.id


class Wait:
    """An asynchronous context with the future of its outcome. It has no coroutine of its own, because there may be very
    many. `over` is called when it is left, and `abandon` completes the elicitation when the wait ends without an outcome,
    if nobody has opened it."""

    __slots__ = (
        "_abandon", "_abandoning", "_failed_attempts", "_held", "_on_progress", "_over", "_recheck", "_reported",
        "_status", "_tasks", "_timeout", "_verify", "deadline", "entry", "future", "rechecked",
    )  # fmt: skip

    def __init__(
        self, entry: Entry, timeout: float | None, over: Over, *, on_progress: ProgressFunction | None = None,
        recheck: RecheckFunction | None = None, verify: VerifyFunction | None = None, abandon: Abandon | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.entry = entry
        self._over = over
        self.future: asyncio.Future[Outcome] = loop.create_future()
        self.rechecked = False
        """Whether its recheck function was called. A wait that checks once calls it once."""
        self._timeout = timeout
        self._on_progress = on_progress and in_this_context(on_progress)
        self._recheck = recheck and in_this_context(recheck)
        self._verify = verify and in_this_context(verify)
        self._abandon = abandon
        self._abandoning = False
        self._held: Outcome | None = None
        self._status: OpenStatus = "pending"
        self._reported = 0
        self._failed_attempts = -1
        self._tasks: set[asyncio.Future[None]] | None = None
        self.deadline = loop.time() + timeout if timeout else math.inf
        """when `time_out` is to be called, as a time of the event loop. A timer for each would be larger than the wait"""

    @property
    def checks_once(self) -> bool:
        """whether the row is read only once"""
        return self._timeout == 0

    def recheck_of(self, rechecks: Rechecks) -> RecheckFunction | None:
        """the recheck function, if it may be called now: that of the wait, or of the provider"""
        if self.future.done() or (self.checks_once and self.rechecked):
            return None
        return self._recheck or rechecks.of(self.entry.provider)

    @property
    def verify(self) -> VerifyFunction | None:
        """the verify function, if it may be called now"""
        return None if self.future.done() else self._verify

    async def __aenter__(self) -> asyncio.Future[Outcome]:
        return self.future

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Cancelling the task of the caller ends the wait."""
        try:
            if self._abandon is not None and self.future.cancelled():
                await asyncio.wait({start_quietly(self._abandon("aborted"))}, timeout=ABANDON_S)
        finally:
            for task in self._tasks or ():
                task.cancel()
            self._over(self, error)

    def resolve(self, outcome: Outcome) -> None:
        if self._abandoning:
            self._held = outcome
        elif not self.future.done():
            self.future.set_result(outcome)

    def reject(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)

    def time_out(self, cause: BaseException | None = None) -> None:
        """`cause`: why the row cannot be read."""
        self._start(self.end("timeout", cause=cause))

    async def end(self, reason: str, error: BaseException | None = None, cause: BaseException | None = None) -> None:
        """Ends the wait without an outcome. If it abandons its elicitation and somebody else has completed that
        meanwhile, the wait ends with that outcome. After `aclose` only an accept or a decline counts, because other
        waits that end at the same moment cancel the same elicitation."""
        if self._abandoning or self.future.done():
            return
        status = self._status
        if self._abandon is not None:
            self._abandoning = True
            abandoning = start_quietly(self._abandon(reason))
            await asyncio.wait({abandoning}, timeout=ABANDON_S)
            ended = abandoning.result() if abandoning.done() and abandoning.exception() is None else None
            self._abandoning = False
            if self._held and ended != "completed" and (reason == "timeout" or self._held.action != "cancel"):
                self.resolve(self._held)
            elif ended == "already" and reason == "timeout":
                # Somebody else has completed it just now: the row is about to be read.
                await asyncio.wait({self.future}, timeout=ABANDON_S)
            elif ended == "opened" or ended == "processing":
                status = ended
        if error is None:
            error = ElicitationTimeoutError(self.entry.id, self._timeout or 0, status)
            error.__cause__ = cause
        self.reject(error)

    def progress(self, row: Row) -> None:
        """Reports each status at most once, and never an earlier one after a later one; and each attempt that has
        failed since the wait began."""
        if row.status == "completed":
            return
        self._status = row.status
        rank = OPEN_STATUSES.index(row.status)
        if rank > self._reported:
            self._reported = rank
            self._report("opened" if rank == 1 else "processing")
        known = self._failed_attempts if self._failed_attempts >= 0 else row.failed_attempts
        for _ in range(known, row.failed_attempts):
            self._report("attempt_failed")
        self._failed_attempts = row.failed_attempts

    def _report(self, progress: Progress) -> None:
        if self._on_progress is None or self.future.done():
            return
        try:
            reported = self._on_progress(progress)
        except Exception as error:
            self.reject(error)
            return
        if inspect.isawaitable(reported):
            self._start(self._await(reported))

    async def _await(self, reported: Awaitable[object]) -> None:
        try:
            await reported
        except Exception as error:
            self.reject(error)

    def _start(self, work: Awaitable[None]) -> None:
        task = start_quietly(work)
        self._tasks = self._tasks or set()
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
