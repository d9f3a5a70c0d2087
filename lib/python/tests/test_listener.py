"""The one connection of a process that listens and reads, and what anyone who can connect to the database can announce."""

from __future__ import annotations

import asyncio
import socket
import uuid
from datetime import timedelta
from typing import Any, cast
from urllib.parse import urlsplit

import psycopg
import pytest
from conftest import ACCOUNT, Callback, OpenUrlMode, owner, required, until

from urlmode import ElicitationNotFoundError, ElicitationTimeoutError
from urlmode._core.listener import Listener, _Listening, parse_notifications

ID = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The statements of listening connections, and how many rows each is about."""
    statements: list[tuple[str, int]] = []
    query = _Listening.query

    async def noted(self: _Listening, statement: str, values: Any = ()) -> Any:
        statements.append((" ".join(statement.split()), len(values[0]) if values else 0))
        return await query(self, statement, values)

    monkeypatch.setattr(_Listening, "query", noted)
    return statements


async def test_one_connection_listens_before_it_reads_for_all_waits(
    open_urlmode: OpenUrlMode, callback: Callback, asked: list[tuple[str, int]]
) -> None:
    name = f"one-{uuid.uuid4()}"
    url = required("URLMODE_DATABASE_URL")
    urlmode = open_urlmode(database_url=f"{url}{'&' if '?' in url else '?'}application_name={name}")
    waits = [urlmode.wait_for_completion(uuid.uuid4(), subject="a") for _ in range(2500)]
    ended = await asyncio.gather(*waits, return_exceptions=True)
    assert {type(each) for each in ended} == {ElicitationNotFoundError}
    assert asked[0][0] == "LISTEN urlmode"
    reads = [rows for statement, rows in asked if "urlmode.read_paid(" in statement]
    assert max(reads) == 1000 and len(reads) <= 5, reads
    async with await psycopg.AsyncConnection.connect(required("URLMODE_ADMIN_DATABASE_URL")) as connection:
        cursor = await connection.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [name])
        assert await cursor.fetchone() == (1,)


class Behind:
    """A connection on which a notification comes in the same packet as an answer, behind it."""

    description = None
    backend_pid = 1

    def __init__(self) -> None:
        self.pgconn: Any = self
        self._ends = socket.socketpair()
        self.socket = self._ends[0].fileno()
        self._arrived: list[str] = []

    async def execute(self, statement: bytes, values: Any) -> Any:
        self._arrived.append("a notification")
        return self

    def notifies(self) -> str | None:
        return self._arrived.pop() if self._arrived else None

    def consume_input(self) -> None:
        """It has broken, and libpq closes its socket."""
        self.close()
        raise psycopg.OperationalError("the server closed the connection")

    def close(self) -> None:
        for end in self._ends:
            end.close()


async def test_a_notification_behind_an_answer_is_heard() -> None:
    connection, heard = Behind(), list[Any]()
    listening = _Listening(cast(Any, connection), heard.append)
    await listening.query("SELECT 1")
    assert heard == ["a notification"]
    listening.fail(OSError())
    connection.close()


class Other(asyncio.Protocol):
    def __init__(self) -> None:
        self.received = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.received.set()


async def test_a_socket_with_the_number_of_a_broken_one_is_left_alone() -> None:
    connection = Behind()
    listening = _Listening(cast(Any, connection), lambda _: None)
    connection._ends[1].send(b"x")
    await asyncio.wait_for(listening.lost, 30)
    mine, its = socket.socketpair()
    assert connection.socket in (mine.fileno(), its.fileno())
    reused, far = (mine, its) if mine.fileno() == connection.socket else (its, mine)
    other = Other()
    transport, _ = await asyncio.get_running_loop().create_connection(lambda: other, sock=reused)
    listening.fail(OSError("again"))
    far.send(b"x")
    await asyncio.wait_for(other.received.wait(), 30)
    transport.close()
    far.close()


async def test_an_error_that_nobody_expects_is_a_loss_and_is_logged(
    open_urlmode: OpenUrlMode, callback: Callback, caplog: Any
) -> None:
    urlmode, me = open_urlmode(), owner()
    connect, errors = urlmode._listener._connect, [LookupError("a plugin of the resolver"), RuntimeError("a loop")]

    async def fails_at_first() -> Any:
        if errors:
            raise errors.pop()
        return await connect()

    urlmode._listener._connect = fails_at_first
    made = await urlmode.create(**ACCOUNT, **me)
    wait = asyncio.create_task(urlmode.wait_for_completion(made.elicitation_id, **me))
    await until("it listens", lambda: urlmode._listener.receives_notifications)
    await callback.come_back(made.elicitation_id, me, {"code": "c"})
    assert (await wait).action == "accept"
    assert [each.code for each in caplog.records if each.exc_info] == ["URLMODE_LISTENER"] * 2


async def test_times_are_seconds_or_a_timedelta(open_urlmode: OpenUrlMode) -> None:
    urlmode, me = open_urlmode(keep_results=timedelta(minutes=10)), owner()
    made = await urlmode.create(**ACCOUNT, **me, ttl=timedelta(minutes=2))
    with pytest.raises(ElicitationTimeoutError, match=r"within 0\.2 s") as error:
        await urlmode.wait_for_completion(made.elicitation_id, **me, timeout=timedelta(milliseconds=200))
    assert isinstance(error.value, TimeoutError)
    rest = made.expires_at - (await urlmode.create(**ACCOUNT, **me, ttl=60)).expires_at
    assert timedelta(seconds=30) < rest < timedelta(seconds=61)


def hosts(*ports: int | None, **parameters: str) -> str:
    url = urlsplit(required("URLMODE_DATABASE_URL"))
    user, _, _ = url.netloc.rpartition("@")
    there = ",".join(f"{url.hostname}:{port}" for port in ports)
    return url._replace(netloc=f"{user}@{there}", query="&".join(f"{name}={value}" for name, value in parameters.items())).geturl()


async def test_the_host_that_can_write_is_found_among_several(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    port = urlsplit(required("URLMODE_DATABASE_URL")).port
    urlmode, me = open_urlmode(database_url=hosts(1, port)), owner()
    made = await urlmode.create(**ACCOUNT, **me)
    wait = asyncio.create_task(urlmode.wait_for_completion(made.elicitation_id, **me))
    await until("it listens", lambda: urlmode._listener.receives_notifications)
    await callback.come_back(made.elicitation_id, me, {"code": "c"})
    assert (await wait).action == "accept"


@pytest.mark.parametrize(
    ("parameters", "connects"), [({}, False), ({"target_session_attrs": "any"}, True), ({"target_session_attrs": "standby"}, False)]
)
async def test_which_of_several_hosts_is_wanted(open_urlmode: OpenUrlMode, parameters: Any, connects: bool) -> None:
    """None of these can write, as far as their sessions say."""
    port = urlsplit(required("URLMODE_DATABASE_URL")).port
    read_only = {"options": "-c%20default_transaction_read_only%3Don"}
    urlmode = open_urlmode(database_url=hosts(port, port, **read_only, **parameters))
    if connects:
        assert isinstance(await urlmode.unclaimed(), list)
        return
    with pytest.raises(psycopg.OperationalError, match="read-only|standby|recovery"):
        await urlmode.unclaimed()


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"\xff", b"1", b"[" * 7900,
     b'{"id":1}', b'{"id":"\\ud800"}', b'{"id":"x"}', b'{"id":"%s\\n"}' % ID.encode()],
)  # fmt: skip
def test_what_is_no_notification(payload: bytes) -> None:
    assert parse_notifications(payload) == []


def test_one_and_several() -> None:
    assert parse_notifications(b'{"id":"%s"}' % ID.encode()) == [{"id": ID}]
    assert parse_notifications(b'[{"id":"%s"},{"id":"x"}]' % ID.encode()) == [{"id": ID}]


def test_delays_grow_and_vary(monkeypatch: Any) -> None:
    slept: list[float] = []

    async def lose(self: Listener) -> BaseException:
        return OSError("away")

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 12:
            raise asyncio.CancelledError

    async def run() -> None:
        async def connect() -> Any:
            raise OSError

        async def notify(channel: str, payload: str) -> None:
            pass

        listener = Listener(connect, listen=True, several_hosts=False, notify=notify)
        monkeypatch.setattr(Listener, "_serve", lose)
        monkeypatch.setattr("urlmode._core.listener.asyncio.sleep", sleep)
        listener._users.add(1)
        with pytest.raises(asyncio.CancelledError):
            await listener._keep_connected()

    asyncio.run(run())
    assert 0.075 <= slept[0] <= 0.125
    assert all(3.75 <= each <= 6.25 for each in slept[7:])
    assert len(set(slept)) == 12
