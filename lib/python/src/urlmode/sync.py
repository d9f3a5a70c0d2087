"""The SDK for programs without an event loop: cron, Django, Celery.

    from urlmode.sync import UrlMode

    with UrlMode(database_url=…, keys_file=…, base_url=…) as urlmode:
        for payment in urlmode.unclaimed():
            …

The methods are those of `urlmode.UrlMode`, and block; `wait` is `wait_for_completion`. All threads of a process can share one. It has
one thread of its own with an event loop, which begins with the first call, and in each process anew: a worker that was forked after
the module was imported has its own thread and connections. Functions that are passed are called in other threads, so that they can block.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import inspect
import os
import threading
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypedDict, TypeVar, Union, cast, overload

from ._core import urlmode as _urlmode
from ._core.claims import BegunClaim as _BegunClaim, ChangedClaim, Claim as _Claim, FulfilledClaim as _FulfilledClaim, LeasedClaim, TakenClaim
from ._core.contract_limits import TICKET_S
from ._core.errors import UrlModeClosedError, UrlModeError
from ._core.money_types import LedgerEntry, Payment, Refund
from ._core.types import Elicitation, Ticket

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._core.contract_words import ClaimEnd
    from ._core.create_calls import CreateOAuth, CreatePayment, CreatePaymentOfAnyAmount, CreateSignature
    from ._core.types import ClientFacts, Duration, EventFunction, RecheckFunction

__all__ = ["BegunClaim", "ChangedClaim", "Claim", "FulfilledClaim", "LeasedClaim", "Options", "TakenClaim", "UrlMode"]

P = ParamSpec("P")
R = TypeVar("R")
_FUNCTIONS = ("target_url", "on_progress", "recheck", "verify", "list_payments")


class _Required(TypedDict):
    base_url: str
    """of the callback programs"""


class Options(_Required, total=False):
    """Those of `urlmode.UrlMode`, but `pool`: a pool belongs to one event loop."""

    database_url: str
    """of PostgreSQL, as role urlmode_server"""
    keys_file: str | os.PathLike[str]
    """its path; or `keys`, its content"""
    keys: str
    """the content of the keys file"""
    name: str
    """what messages call the site of the callback programs; by default its host"""
    listen: bool
    """False: waits poll, as behind a pooler"""
    keep_results: Duration
    """how long results are kept"""
    keep_unclaimed: Duration
    """how long the results of payments that no call has claimed are kept"""
    retention: Duration | None
    """how long rows are kept"""
    rechecks: Mapping[str, RecheckFunction]
    """by provider, what asks it where nobody waits"""
    clients: Sequence[ClientFacts]
    """facts about MCP clients"""
    descriptions: Mapping[str, str]
    """which shipped description an entry with another name has"""
    on_event: EventFunction
    """is called with each Event"""
    tenant: str
    """whose rows this instance alone sees; by default those of none"""


class _Running:
    """The thread of one process, and what runs in it."""

    def __init__(self, make: Callable[[], _urlmode.UrlMode]) -> None:
        self.pid = os.getpid()
        self.urlmode = make()
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="urlmode", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        answer = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return answer.result()
        except BaseException:  # also what a signal raises here, such as the time limit of a Celery task
            answer.cancel()
            raise

    def close(self) -> None:
        try:
            self.run(self.urlmode.aclose())
            self.run(self.loop.shutdown_default_executor())
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()


_of_parents: list[_Running] = []
"""What a process has of the one that it was forked from. Nothing of it is freed: the connections are those of the parent."""
_all: weakref.WeakSet[UrlMode] = weakref.WeakSet()


def _blocking(method: Callable[Concatenate[_urlmode.UrlMode, P], Coroutine[Any, Any, R]]) -> Callable[Concatenate[UrlMode, P], R]:
    @functools.wraps(method)
    def call(self: UrlMode, /, *arguments: P.args, **options: P.kwargs) -> R:
        in_threads = {name: _in_thread(value) if name in _FUNCTIONS else value for name, value in options.items()}
        made: R = self._run(lambda urlmode: cast(Any, method)(urlmode, *arguments, **in_threads))
        return made

    return call


def _claiming(method: Callable[Concatenate[_urlmode.UrlMode, P], Coroutine[Any, Any, _Claim]]) -> Callable[Concatenate[UrlMode, P], Claim]:
    begin = _blocking(method)

    @functools.wraps(method)
    def call(self: UrlMode, /, *arguments: P.args, **options: P.kwargs) -> Claim:
        claim = begin(self, *arguments, **options)
        if isinstance(claim, _BegunClaim):
            return BegunClaim(self, claim)
        return FulfilledClaim(self, claim) if isinstance(claim, _FulfilledClaim) else claim

    return call


def _in_thread(function: Any) -> Any:
    if not callable(function) or inspect.iscoroutinefunction(function):
        return function

    async def call(argument: Any) -> Any:
        return await asyncio.to_thread(function, argument)

    return call


class UrlMode:
    """One in each process is enough, also one that a module makes before its workers are forked."""

    def __init__(self, **options: Unpack[Options]) -> None:
        """Does not connect yet. The options are those of `urlmode.UrlMode`."""
        if "pool" in options:
            raise TypeError("urlmode.sync has connections of its own: pass database_url")
        rechecks = options.get("rechecks")
        if isinstance(rechecks, Mapping):
            options["rechecks"] = {provider: _in_thread(recheck) for provider, recheck in rechecks.items()}
        self._make: Callable[[], _urlmode.UrlMode] = lambda: _urlmode.UrlMode(**options)
        self._make()  # A mistake in the options is known now.
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._closed = False
        _all.add(self)

    def __enter__(self) -> UrlMode:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """As `aclose`, for this process. Raises no error."""
        _refuse_loop()
        with self._lock:
            self._closed = True
            running, self._running = self._running, None
        if running is not None:
            running.close()

    @overload
    def create(self, **call: Unpack[CreatePayment]) -> Elicitation: ...
    @overload
    def create(self, **call: Unpack[CreatePaymentOfAnyAmount]) -> Elicitation: ...
    @overload
    def create(self, **call: Unpack[CreateSignature]) -> Elicitation: ...
    @overload
    def create(self, **call: Unpack[CreateOAuth]) -> Elicitation: ...

    def create(self, **call: Any) -> Elicitation:
        """As that of `urlmode.UrlMode`, with the same options and errors. Raises ElicitationExistsError and others."""
        return _blocking(_urlmode.UrlMode.create)(self, **call)

    create_input = _blocking(_urlmode.UrlMode.create_input)
    create_approval = _blocking(_urlmode.UrlMode.create_approval)
    wait = _blocking(_urlmode.UrlMode.wait_for_completion)
    complete = _blocking(_urlmode.UrlMode.complete)
    cancel = _blocking(_urlmode.UrlMode.cancel)
    abandon = _blocking(_urlmode.UrlMode.abandon)
    claim = _blocking(_urlmode.UrlMode.claim)
    begin_claim = _claiming(_urlmode.UrlMode.begin_claim)
    recheck_due = _blocking(_urlmode.UrlMode.recheck_due)
    unclaimed = _blocking(_urlmode.UrlMode.unclaimed)
    undelivered = _blocking(_urlmode.UrlMode.undelivered)
    refunds = _blocking(_urlmode.UrlMode.refunds)
    reconcile = _blocking(_urlmode.UrlMode.reconcile)
    entitlements = _blocking(_urlmode.UrlMode.entitlements)
    paid = _blocking(_urlmode.UrlMode.paid)
    purge = _blocking(_urlmode.UrlMode.purge)

    def ledger(self, *, consumer: str, timeout: float | None = None) -> Iterator[LedgerEntry]:
        """As that of `urlmode.UrlMode`, for a loop with `for`. `consumer`: whose place in the order is kept. `timeout`: after how many
        seconds without an entry the loop ends, for cron; by default never. Raises UrlModeClosedError."""
        return self._iterate(lambda urlmode: urlmode.ledger(consumer=consumer), timeout)

    def late_payments(self) -> Iterator[Payment]:
        """As those of `urlmode.UrlMode`. Raises UrlModeClosedError."""
        return self._iterate(lambda urlmode: urlmode.late_payments(), None)

    def new_refunds(self) -> Iterator[Refund]:
        """As those of `urlmode.UrlMode`. Raises UrlModeClosedError."""
        return self._iterate(lambda urlmode: urlmode.new_refunds(), None)

    def ticket(self, *, subject: str, ttl: Duration = TICKET_S) -> Ticket:
        """As that of `urlmode.UrlMode`, with `subject` and `ttl`. Raises KeysFileError."""
        return self._start().urlmode.ticket(subject=subject, ttl=ttl)

    def metrics(self) -> str:
        """As those of `urlmode.UrlMode`. Raises UrlModeClosedError."""
        return self._start().urlmode.metrics()

    def _start(self) -> _Running:
        with self._lock:
            if self._closed:
                raise UrlModeClosedError
            if self._running is None:
                self._running = _Running(self._make)
            return self._running

    def _run(self, work: Callable[[_urlmode.UrlMode], Coroutine[Any, Any, R]]) -> R:
        _refuse_loop()
        running = self._start()
        return running.run(work(running.urlmode))

    def _iterate(self, make: Callable[[_urlmode.UrlMode], AsyncIterator[R]], timeout: float | None) -> Iterator[R]:
        _refuse_loop()
        entries = cast("AsyncGenerator[R, None]", make(self._start().urlmode))
        try:
            while found := self._run(lambda _: _next(entries, timeout)):
                yield found[0]
        finally:
            with contextlib.suppress(UrlModeError):
                self._run(lambda _: entries.aclose())

    def _forked(self) -> None:
        if self._running is not None:
            _of_parents.append(self._running)
        self._running = None
        self._lock = threading.Lock()


async def _next(entries: AsyncGenerator[R, None], timeout: float | None) -> tuple[R] | None:
    try:
        return (await asyncio.wait_for(entries.__anext__(), timeout),)
    except (StopAsyncIteration, asyncio.TimeoutError):
        return None


class BegunClaim:
    """This call does the work. As a context manager, it releases the claim if the work fails."""

    def __init__(self, urlmode: UrlMode, claim: _BegunClaim) -> None:
        self.state = claim.state
        self.reference = claim.reference
        self.fence = claim.fence
        self._urlmode = urlmode
        self._claim = claim

    @property
    def lost(self) -> bool:
        """Whether the lease has ended: another call may have begun."""
        return self._claim.lost.is_set()

    @property
    def refunded(self) -> bool:
        """Whether all that was paid went back, or is disputed."""
        return self._claim.refunded.is_set()

    def fulfil(self, result: Any) -> bool:
        """The work is done: keeps `result` for the next call, until `confirm`. Raises ClaimLostError."""
        return self._urlmode._run(lambda _: self._claim.fulfil(result))

    def confirm(self) -> bool:
        """The answer was written. Raises UrlModeClosedError."""
        return self._urlmode._run(lambda _: self._claim.confirm())

    def release(self, reason: str | None = None) -> bool:
        """The work was not done. `reason`: why an account is not connected. Raises UrlModeClosedError."""
        return self._urlmode._run(lambda _: self._claim.release() if reason is None else self._claim.release(reason))

    def end(self, how: ClaimEnd, refund: str | None = None) -> None:
        """Both ends at once. `how`: delivered or refunded; `refund`: the provider's reference of it. Raises ClaimLostError."""
        self._urlmode._run(lambda _: self._claim.end(how, refund))

    def __enter__(self) -> BegunClaim:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._urlmode._run(lambda _: self._claim.__aexit__(kind, error, traceback))


class FulfilledClaim:
    """Another call has done the work, and its answer was not written: return `result`."""

    def __init__(self, urlmode: UrlMode, claim: _FulfilledClaim) -> None:
        self.state = claim.state
        self.reference = claim.reference
        self.fence = claim.fence
        self.result = claim.result
        self._urlmode = urlmode
        self._claim = claim

    def confirm(self) -> bool:
        """The answer was written. Raises UrlModeClosedError."""
        return self._urlmode._run(lambda _: self._claim.confirm())

    def release(self) -> bool:
        """This answer has failed as well: the next call does the work again. Raises UrlModeClosedError."""
        return self._urlmode._run(lambda _: self._claim.release())

    def end(self, how: ClaimEnd, refund: str | None = None) -> None:
        """As that of BegunClaim, with `how` and `refund`. Raises ClaimLostError."""
        self._urlmode._run(lambda _: self._claim.end(how, refund))


Claim = Union[BegunClaim, FulfilledClaim, LeasedClaim, TakenClaim, ChangedClaim]


def _refuse_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("urlmode.sync would block the event loop that runs here: await the methods of urlmode.UrlMode")


def _after_fork() -> None:
    for each in list(_all):
        each._forked()


def _at_exit() -> None:
    for each in list(_all):
        with contextlib.suppress(Exception):
            each.close()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
