"""Nothing grows with the number of calls, and no call waits without end. A double of PostgreSQL answers.

CALLS= makes more calls than `make test` does.
"""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest

from urlmode import UrlMode, UrlModeBusyError
from urlmode._core import batches
from urlmode._core.ask_back import Rechecker
from urlmode._core.contract_calls import ResumedRow, Row, RowKey
from urlmode._core.contract_rechecks import TakenRecheck
from urlmode._core.listener import Listener
from urlmode._core.payments import PaymentReports
from urlmode._core.pool import Pool, Rows
from urlmode._core.background import Background

from conftest import ACCOUNT, OpenUrlMode, owner

CALLS = int(os.environ.get("CALLS", 6_000))
AT_ONCE = 500
# A tenth of an object for each call: one that is kept, with a name in a dict, is two or more.
GROWTH_MAX = CALLS // 10

ME = owner()


def completed(id: str) -> Row:
    return Row(
        id=id, provider="github", kind="oauth", status="completed", action="decline", reason="", late=False,
        payment_reference=None, refunded=0, held=False, completed_from="opened", result=None, verifier=None,
        closes_in_ms=60_000, failed_attempts=0, rechecks=0, rechecked=0, recheck_in_ms=None,
    )  # fmt: skip


def answer(statement: str, values: Sequence[Any]) -> Rows:
    expires_at = datetime.now(timezone.utc) + timedelta(minutes=5)
    answers: dict[str, Callable[[], Rows]] = {
        "create_elicitation": lambda: [(expires_at, "created") for _ in values[0]],
        "urlmode.resume": lambda: [ResumedRow(None, "", "oauth", "pending", expires_at, 0, None) for _ in values[0]],
        "urlmode.abandon": lambda: [("completed",) for _ in values[0]],
        "urlmode.settle": lambda: [("completed",)],
        "urlmode.claim": lambda: [("claimed", None)],
        "urlmode.purge(": lambda: [(0,)],
        "urlmode.read": lambda: [tuple(completed(id)) for id in values[0]],
    }
    return next((rows() for name, rows in answers.items() if name in statement), [])


@pytest.fixture
def played(open_urlmode: OpenUrlMode, monkeypatch: pytest.MonkeyPatch) -> UrlMode:
    """An instance whose connections answer at once."""

    async def run(self: object, statement: str, values: Sequence[Any], reads: bool = False) -> Rows:
        await asyncio.sleep(0)
        return answer(statement, values)

    monkeypatch.setattr(Pool, "run", run)
    monkeypatch.setattr(Pool, "reserve", lambda self, work: work(partial(run, self)))
    monkeypatch.setattr(Listener, "query", run)
    monkeypatch.setattr(Listener, "acquire", lambda self, user: None)
    monkeypatch.setattr(Listener, "listening", True)
    monkeypatch.setattr(Listener, "receives_notifications", True)
    return open_urlmode()


def objects() -> int:
    gc.collect()
    return sys.getallocatedblocks()


async def stays_flat(call: Callable[[], Awaitable[object]], calls: int = CALLS, at_once: int = AT_ONCE) -> None:
    async def make(count: int) -> None:
        for _ in range(0, count, at_once):
            await asyncio.gather(*(call() for _ in range(at_once)))

    await make(1000)
    before = objects()
    await make(calls)
    growth = objects() - before
    assert growth < GROWTH_MAX, f"{growth} blocks of memory after {calls} calls"


@pytest.mark.parametrize(
    "call",
    [
        lambda urlmode: urlmode.create(**ACCOUNT, **ME, resume_key="a"),
        lambda urlmode: urlmode.wait_for_completion(str(uuid.uuid4()), **ME),
        lambda urlmode: urlmode.complete(str(uuid.uuid4()), **ME, action="decline"),
        lambda urlmode: urlmode.abandon(str(uuid.uuid4()), **ME),
        lambda urlmode: urlmode.claim(str(uuid.uuid4()), **ME),
        lambda urlmode: urlmode.unclaimed(),
        lambda urlmode: urlmode.purge(),
    ],
    ids=["create", "wait", "complete", "abandon", "claim", "unclaimed", "purge"],
)
async def test_a_call_keeps_nothing(played: UrlMode, call: Callable[[UrlMode], Awaitable[object]]) -> None:
    await stays_flat(lambda: call(played))


async def test_a_wait_that_ends_without_an_outcome_keeps_nothing(
    played: UrlMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(self: object, statement: str, values: Sequence[Any], reads: bool = False) -> Rows:
        return [tuple(completed(id)._replace(status="opened", action=None, completed_from=None)) for id in values[0]]

    monkeypatch.setattr(Listener, "query", read)

    async def wait() -> None:
        task = asyncio.ensure_future(played.wait_for_completion(str(uuid.uuid4()), **ME))
        for _ in range(4):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    await stays_flat(wait)
    assert played.open_waits == 0


class Played:
    """A connection that listens. The test says what arrives, and when it breaks."""

    description = True
    backend_pid = 1

    def __init__(self) -> None:
        self.pgconn: Any = self
        self._near, self._far = socket.socketpair()
        self.socket = self._near.fileno()
        self._announced = 0

    def announce(self) -> None:
        self._far.send(b"x")

    def end(self) -> None:
        self._far.close()

    def consume_input(self) -> None:
        arrived = self._near.recv(4096)
        self._announced += len(arrived)
        if not arrived:
            raise psycopg.OperationalError("the server closed the connection")

    def notifies(self) -> Any:
        if self._announced == 0:
            return None
        self._announced -= 1
        return SimpleNamespace(relname=b"urlmode", extra=f'{{"id":"{uuid.uuid4()}"}}'.encode())

    async def execute(self, statement: bytes, values: object) -> Played:
        return self

    async def fetchall(self) -> Rows:
        return [(self.backend_pid,)]

    async def close(self) -> None:
        self.socket = -1
        self._near.close()
        self._far.close()


class Opened:
    """A listener whose connections are played."""

    def __init__(self) -> None:
        self.connections = 0
        self.heard = 0
        self.listener = Listener(self._connect, listen=True, several_hosts=False, notify=self._notify)
        self.listener.on_notified.append(self._hear)

    async def _connect(self) -> Any:
        self.connections += 1
        self.connection = Played()
        return self.connection

    async def _notify(self, channel: str, payload: str) -> None:
        raise AssertionError("its process id is that of the server")

    def _hear(self, notifications: list[dict[str, Any]]) -> None:
        self.heard += len(notifications)

    async def receives(self) -> None:
        while not self.listener.receives_notifications:
            await asyncio.sleep(0)


async def test_the_listener_keeps_nothing_of_statements_and_notifications() -> None:
    opened, announced = Opened(), 0
    opened.listener.acquire(opened)
    await opened.receives()

    async def call() -> None:
        nonlocal announced
        announced += 1
        opened.connection.announce()
        opened.listener.acquire(announced)
        await opened.listener.query("SELECT 1", [])
        opened.listener.release(announced)

    # Not at once: a statement stops the reading, and then what arrives waits.
    await stays_flat(call, at_once=10)
    while opened.heard < announced:
        await asyncio.sleep(0)
    await opened.listener.close()


async def test_the_listener_keeps_nothing_of_connections_that_were_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urlmode._core.listener.BACKOFF_MIN_S", 0)
    opened, losses = Opened(), CALLS // 3
    opened.listener.acquire(opened)

    async def lose() -> None:
        await opened.receives()
        before = opened.connections
        opened.connection.end()
        while opened.connections == before:
            await asyncio.sleep(0)

    await stays_flat(lose, calls=losses, at_once=1)
    assert opened.connections > losses
    await opened.listener.close()


async def test_reports_of_money_are_remembered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urlmode._core.payments.REPORTED_MAX", 500)
    listener = Opened().listener
    monkeypatch.setattr(listener, "acquire", lambda user: None)

    async def read(*, id: str) -> list[str]:
        return [id]

    money = PaymentReports(listener, "late", read, lambda id: id, lambda _: "")
    reports = money.reports()
    first = asyncio.ensure_future(anext_of(reports))
    await asyncio.sleep(0)

    async def call() -> None:
        nonlocal first
        id = str(uuid.uuid4())
        listener.on_notified[-1]([{"id": id, "late": True}])
        assert await first == id
        first = asyncio.ensure_future(anext_of(reports))
        await asyncio.sleep(0)

    await stays_flat(call, at_once=1)
    await money.close()
    with pytest.raises(StopAsyncIteration):
        await first


async def anext_of(reports: AsyncIterator[str]) -> str:
    return await reports.__anext__()


class Rechecks:
    """What the database does for a recheck."""

    async def begin_recheck(self, key: RowKey, lease_ms: int, max_age_ms: int | None) -> TakenRecheck:
        return TakenRecheck(
            lease=1, rechecks=1, event_type=None, unproven_references=[], provider="demo", expected=None, checkout=None
        )

    async def end_recheck(self, key: RowKey, taken: TakenRecheck, failed: bool) -> None:
        pass


async def test_a_recheck_keeps_nothing() -> None:
    async def complete(key: RowKey, answer: object) -> None:
        pass

    rechecker = Rechecker(cast(Any, Rechecks()), cast(Any, None), complete)
    await stays_flat(lambda: rechecker.run(RowKey(str(uuid.uuid4()), b""), "opened", lambda _: None))


class Statements:
    """Batches whose statements end when the test says so."""

    def __init__(self) -> None:
        self.sent: list[tuple[list[int], asyncio.Future[list[int]]]] = []
        self.batches = batches.Batches(self._run, lambda work: work(cast(Any, None)), Background())

    async def _run(self, query: object, elements: Sequence[int]) -> list[int]:
        answer: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self.sent.append((list(elements), answer))
        return await answer

    def ask(self, *elements: int) -> list[asyncio.Future[int]]:
        return [asyncio.ensure_future(self.batches.ask(element)) for element in elements]


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
def wait_briefly(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    monkeypatch.setattr(batches, "BATCHES_AT_ONCE", 1)
    return lambda seconds: monkeypatch.setattr(batches, "BATCH_WAIT_S", seconds)


async def test_what_is_not_sent_in_time_is_refused_and_never_sent(wait_briefly: Callable[[float], None]) -> None:
    statements = Statements()
    first = statements.ask(1, 2)
    await turns()
    wait_briefly(0.05)
    for late in statements.ask(3, 4):
        with pytest.raises(UrlModeBusyError, match=r"has waited 0\.05 s for others"):
            await late
    wait_briefly(60)
    last = statements.ask(5)
    statements.sent[0][1].set_result([10, 20])
    await turns()
    assert [elements for elements, _ in statements.sent] == [[1, 2], [5]]
    statements.sent[1][1].set_result([50])
    assert await asyncio.gather(*first, *last) == [10, 20, 50]


async def test_halves_are_tried_only_for_those_who_still_wait(wait_briefly: Callable[[float], None]) -> None:
    statements = Statements()
    wait_briefly(0.05)
    asks = statements.ask(1)
    await turns()
    assert [elements for elements, _ in statements.sent] == [[1]]
    asks += statements.ask(2, 3)
    statements.sent[0][1].set_result([10])
    await turns()
    wait_briefly(60)
    await asyncio.sleep(0.1)
    assert not asks[1].done(), "what was sent is waited for"
    asks += statements.ask(4)
    statements.sent[1][1].set_exception(psycopg.errors.QueryCanceled())
    for late in asks[1:3]:
        with pytest.raises(UrlModeBusyError):
            await late
    assert [elements for elements, _ in statements.sent] == [[1], [2, 3], [4]]
    statements.sent[2][1].set_result([40])
    assert await asks[3] == 40


async def test_no_more_calls_than_a_limit_are_in_progress(open_urlmode: OpenUrlMode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urlmode._core.pool.CALLS_MAX", 2)
    free = asyncio.Event()

    async def run(self: object, statement: str, values: Sequence[Any], reads: bool = False) -> Rows:
        await free.wait()
        return answer(statement, values)

    monkeypatch.setattr(Pool, "run", run)
    monkeypatch.setattr(Pool, "reserve", lambda self, work: work(partial(run, self)))
    urlmode = open_urlmode()
    calls = [asyncio.ensure_future(urlmode.purge()) for _ in range(2)]
    await turns()
    try:
        with pytest.raises(UrlModeBusyError, match="calls are in progress"):
            await urlmode.create(**ACCOUNT, **ME)
    finally:
        free.set()
    await asyncio.gather(*calls)
    await urlmode.create(**ACCOUNT, **ME)
