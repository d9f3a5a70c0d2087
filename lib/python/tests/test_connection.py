"""Connections that break, poolers, bad arguments, and what is left behind: nothing."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import traceback
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import psycopg
import psycopg_pool
import pytest
from conftest import ACCOUNT, Callback, OpenUrlMode, owner, required, until

from urlmode import (
    ElicitationNotFoundError,
    Expected,
    KeysFileError,
    Target,
    UrlMode,
    UrlModeClosedError,
)
from urlmode._database import _CREATE
from urlmode._listener import Listener
from urlmode._poll import Poll


async def admin(statement: str, *values: Any) -> list[Any]:
    url = required("URLMODE_ADMIN_DATABASE_URL")
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        cursor = await connection.execute(statement.encode(), values)
        return await cursor.fetchall()


def settings(keys_file: Path, /, **more: Any) -> dict[str, Any]:
    given = {"database_url": required("URLMODE_DATABASE_URL"), "base_url": "https://c.example"}
    return {**given, "keys_file": keys_file, **more}


def named(name: str) -> str:
    url = required("URLMODE_DATABASE_URL")
    return f"{url}{'&' if '?' in url else '?'}application_name={name}"


async def test_a_wait_outlives_its_connection(open_urlmode: OpenUrlMode, callback: Callback, caplog: Any) -> None:
    urlmode = open_urlmode(database_url=named("outlives"))
    me = owner()
    asked = await urlmode.create(**ACCOUNT, **me)
    wait = asyncio.create_task(urlmode.wait_for_completion(asked.elicitation_id, **me))
    for _ in range(3):
        await until("it listens", lambda: urlmode._listener.receives_notifications)
        await admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'outlives'")
        await until("it has lost its connection", lambda: not urlmode._listener.listening)
    await callback.come_back(asked.elicitation_id, me, {"code": "c"})
    assert (await wait).result == {"code": "c"}


async def test_connections_that_ended_while_they_were_idle_are_not_used(open_urlmode: OpenUrlMode) -> None:
    urlmode = open_urlmode(database_url=named("ended"))
    me = owner()
    await asyncio.gather(*(urlmode.cancel("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **me) for _ in range(4)), return_exceptions=True)
    ended = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'ended'"
    assert len(await admin(ended)) > 0
    for _ in range(4):
        assert (await urlmode.create(**ACCOUNT, **me)).url


class Silent:
    """A server that takes connections and never says anything."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]


async def test_a_database_that_never_answers(open_urlmode: OpenUrlMode) -> None:
    silent = Silent()
    urlmode = open_urlmode(database_url=f"postgresql://u@127.0.0.1:{silent.port}/d?connect_timeout=120")
    me = owner()
    create = asyncio.create_task(urlmode.create(**ACCOUNT, **me))
    wait = asyncio.create_task(urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **me))
    await asyncio.sleep(0.2)
    await asyncio.wait_for(urlmode.aclose(), 60)
    for task in (create, wait):
        with pytest.raises(UrlModeClosedError):
            await task
    silent.listener.close()


async def test_a_database_that_is_away(open_urlmode: OpenUrlMode, caplog: Any) -> None:
    urlmode = open_urlmode(database_url="postgresql://u:hunter2@127.0.0.1:1/d")
    me = owner()
    with pytest.raises(psycopg.OperationalError) as error:
        await urlmode.create(**ACCOUNT, **me)
    with pytest.raises(psycopg.OperationalError):
        await urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **me, timeout=0)
    wait = asyncio.create_task(urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **me))
    await until("it is logged", lambda: "URLMODE_RECONNECTING" in caplog.text)
    assert "hunter2" not in caplog.text + str(error.value)
    await urlmode.aclose()
    with pytest.raises(UrlModeClosedError):
        await wait


async def test_without_listening_waits_poll(open_urlmode: OpenUrlMode, callback: Callback, caplog: Any) -> None:
    urlmode = open_urlmode(listen=False)
    me = owner()
    asked = await urlmode.create(**ACCOUNT, **me)
    wait = asyncio.create_task(urlmode.wait_for_completion(asked.elicitation_id, **me))
    await until("it reads", lambda: urlmode._listener.listening)
    await callback.come_back(asked.elicitation_id, me, {"code": "c"})
    assert (await wait).action == "accept"
    assert [record.code for record in caplog.records] == ["URLMODE_POLLING"]


async def test_a_pool_of_the_application(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    async with psycopg_pool.AsyncConnectionPool(required("URLMODE_DATABASE_URL"), min_size=1, max_size=2) as pool:
        urlmode = open_urlmode(pool=pool)
        me = owner()
        asked = await urlmode.create(**ACCOUNT, **me)
        wait = asyncio.create_task(urlmode.wait_for_completion(asked.elicitation_id, **me))
        await callback.come_back(asked.elicitation_id, me, {"code": "c"})
        assert (await wait).action == "accept"
        await urlmode.aclose()
        async with pool.connection() as connection:
            await connection.execute("SELECT 1")


async def test_a_missing_privilege_is_an_error_at_once(open_urlmode: OpenUrlMode) -> None:
    urlmode = open_urlmode(database_url=required("URLMODE_PROGRAMS_DATABASE_URL"))
    me = owner()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await urlmode.create(**ACCOUNT, **me)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **me)


async def test_an_error_does_not_quote_the_row(urlmode: UrlMode) -> None:
    """PostgreSQL shows the row that it refuses, on each of the two ways to it."""
    wait = asyncio.create_task(urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **owner()))
    await until("it listens", lambda: urlmode._listener.listening)
    listening = urlmode._listener._connection
    assert listening
    columns = [[each] for each in (
        "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", "stripe", "payment", "a secret subject", "", bytes(16), "n",
        "https://c.example", None, None, 1000, False, None, True, bytes(16), None, None, 1, None, None, None, None,
    )]  # fmt: skip
    for query in (urlmode._pool.run, urlmode._pool.query, listening.query):
        with pytest.raises(psycopg.errors.CheckViolation) as error:
            await query(_CREATE, columns)
        assert error.value.sqlstate == "23514"
        assert "elicitation" in str(error.value)  # what is wrong
        assert "secret" not in "".join(traceback.format_exception(error.value))
        assert error.value.diag.message_detail is None
    with pytest.raises(ElicitationNotFoundError):
        await wait


async def test_aclose_does_not_wait_for_a_statement_that_does_not_end(
    open_urlmode: OpenUrlMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urlmode._connection.QUERY_TIMEOUT_S", 3600)
    urlmode = open_urlmode()
    await urlmode._database.query("SELECT set_config('statement_timeout', '0', false)", [])
    query = asyncio.create_task(urlmode._database.query("SELECT pg_sleep(%s)", [3600]))
    await until("it runs", lambda: not urlmode._pool._idle)
    await asyncio.wait_for(urlmode.aclose(), 60)
    with pytest.raises((UrlModeClosedError, psycopg.Error)):
        await query


async def test_a_pool_of_the_application_that_does_not_answer(
    open_urlmode: OpenUrlMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a statement that does not end, nor a pool that gives no connection, nor calls in a batch hold anything up."""
    url, me = required("URLMODE_DATABASE_URL"), owner()
    endless: dict[str, Any] = {"max_size": 1, "timeout": 3600, "kwargs": {"options": "-c statement_timeout=0"}}
    async with psycopg_pool.AsyncConnectionPool(url, min_size=1, **endless) as pool:
        monkeypatch.setattr("urlmode._connection.QUERY_TIMEOUT_S", 0.5)
        urlmode = open_urlmode(pool=pool)
        calls: list[Any] = [
            urlmode._database.query("SELECT pg_sleep(%s)", [3600]), urlmode.unclaimed(), urlmode.create(**ACCOUNT, **me),
        ]  # fmt: skip
        ended = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 60)
        assert {isinstance(each, psycopg.OperationalError) for each in ended} == {True}, ended
        monkeypatch.setattr("urlmode._connection.QUERY_TIMEOUT_S", 3600)
        assert isinstance(await urlmode.unclaimed(), list)
        calls = [
            urlmode._database.query("SELECT pg_sleep(%s)", [3600]), urlmode.unclaimed(),
            *(urlmode.create(**ACCOUNT, **owner()) for _ in range(100)),
        ]  # fmt: skip
        tasks = [asyncio.ensure_future(each) for each in calls]
        await asyncio.sleep(0.1)
        await asyncio.wait_for(urlmode.aclose(), 60)
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(each) for each in ended} == {UrlModeClosedError}
        async with pool.connection(timeout=60) as connection:
            await connection.execute("SELECT 1")


async def test_what_was_cancelled_is_carried_out_and_waited_for(open_urlmode: OpenUrlMode) -> None:
    urlmode = open_urlmode()
    me = owner()
    create = asyncio.create_task(urlmode.create(**ACCOUNT, **me))
    await asyncio.sleep(0)
    create.cancel()
    with pytest.raises(asyncio.CancelledError):
        await create
    await urlmode.aclose()
    for use in (
        lambda: urlmode.create(**ACCOUNT, **me), lambda: urlmode.unclaimed(),
        lambda: urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **me),
    ):  # fmt: skip
        with pytest.raises(UrlModeClosedError):
            await use()
    await urlmode.aclose()


def test_another_event_loop(keys_file: Path) -> None:
    urlmode = UrlMode(**settings(keys_file, database_url=named("loops")))

    async def use() -> None:
        with pytest.raises(ElicitationNotFoundError):
            await urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", subject="a", timeout=0)
        await urlmode.unclaimed()

    asyncio.run(use())
    with pytest.raises(RuntimeError, match="another event loop"):
        asyncio.run(use())
    with pytest.raises(RuntimeError, match="another event loop"):
        asyncio.run(urlmode.aclose())
    with pytest.raises(RuntimeError, match="no running event loop"):
        use().send(None)

    async def left() -> list[Any]:
        for _ in range(100):
            if not (found := await admin("SELECT query FROM pg_stat_activity WHERE application_name = 'loops'")):
                break
            await asyncio.sleep(0.05)
        return found

    assert asyncio.run(left()) == []
    del urlmode
    gc.collect()


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"database_url": "mysql://a:hunter2@b/c"}, "database_url must be a PostgreSQL URL"),
        ({"database_url": "postgresql://u:hunter2%zz@h/d"}, "database_url must be a PostgreSQL URL"),
        ({"database_url": "postgresql://u@h/d?sslmood=require"}, "database_url must be a PostgreSQL URL"),
        ({"database_url": None}, "database_url must be a str"),
        ({"pool": object()}, "pool and database_url"),
        ({"database_url": None, "pool": object()}, "pool must be a psycopg_pool"),
        ({"base_url": "https://c.example/path"}, "base_url must consist of"),
        ({"base_url": "http://c.example"}, "base_url must be https"),
        ({"base_url": "https://u:p@c.example"}, "base_url must not contain a user name"),
        ({"base_url": "c.example"}, "base_url must be an absolute URL"),
        ({"name": "x" * 201}, "name must have 1 to 200 bytes"),
        ({"listen": 1}, "listen must be True or False"),
        ({"keys": "1 AAAA"}, "keys and keys_file cannot be used together"),
        ({"keys_file": None}, "keys_file must be a str or a path"),
        ({"keep_results": -1}, "keep_results must be from 0 to 86400 seconds"),
        ({"keep_unclaimed": 1}, "keep_unclaimed must be from"),
        ({"retention": "90 days"}, "retention must be a number of seconds or a timedelta"),
    ],
)  # fmt: skip
def test_settings_that_are_refused(keys_file: Path, given: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error) as refused:
        UrlMode(**settings(keys_file, **given))
    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "the file contains no key"), ("1\n", "the line must be"), ("256 " + "A" * 44, "number from 0 to 255"),
        ("1 short", "base64|at least 32 bytes"), ("1 " + "A" * 42, "at least 32 bytes"),
        (f"1 {'A' * 43}\n1 {'A' * 43}", "keys:2: kid 1 is used twice"), (f"1 {'A' * 42}B", "must be base64"),
        (f"1 {'A' * 400}", "at most 256 bytes"),
    ],
)  # fmt: skip
def test_keys_files_that_are_refused(keys_file: Path, text: str, error: str) -> None:
    keys_file.write_text(text)
    with pytest.raises(KeysFileError, match=error) as refused:
        UrlMode(**settings(keys_file))
    assert str(keys_file) in str(refused.value)
    assert "AAAA" not in str(refused.value)


def test_a_keys_file_that_cannot_be_read(keys_file: Path, tmp_path: Path) -> None:
    open_files = len(os.listdir("/proc/self/fd"))
    for file, why in ((tmp_path / "none", "No such file"), (tmp_path, "directory|regular file")):
        with pytest.raises(KeysFileError, match=why):
            UrlMode(**settings(file))
    assert len(os.listdir("/proc/self/fd")) == open_files
    keys_file.chmod(0o644)
    with pytest.raises(KeysFileError, match="chmod o="):
        UrlMode(**settings(keys_file))


async def a_coroutine() -> str:
    return "https://provider.example"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"provider": "Git Hub"}, "provider must be a name"), ({"kind": "gift"}, "kind must be one of"),
        ({"subject": ""}, "subject must have 1 to 512 bytes"), ({"subject": 5}, "subject must be a str"),
        ({"subject": "\ud800"}, "subject must be valid Unicode"), ({"session": "a\0"}, "session must be valid"),
        ({"target_url": "http://p.example"}, "target_url must be https"),
        ({"target_url": "https://p.example/#x"}, "must not have a fragment"),
        ({"target_url": "https://p.example/?state=1"}, "must not have a state"),
        ({"target_url": "https://p.example/é"}, "must be ASCII"),
        ({"target_url": "https://p.example/a b"}, "absolute URL, with special characters"),
        ({"target_url": "https://p.example/" + "x" * 8200}, "at most 8192 bytes"),
        ({"target_url": 5}, "target_url must be a str"),
        ({"target_url": lambda urls: 5}, "target_url must be a str"),
        ({"target_url": Target("https://p.example", "cs_1")}, "checkout is only allowed"),
        ({"target_url": "https://p.example?code_challenge=x", "pkce": True}, "code_challenge"),
        ({"ttl": "5"}, "ttl must be a number of seconds or a timedelta"), ({"ttl": 0}, "ttl must be from"),
        ({"ttl": True}, "ttl must be a number"), ({"id": "x"}, "elicitation_id must be a UUID"),
        ({"expected": Expected(1, "EUR")}, "expected is only allowed"),
        ({"kind": "payment"}, "expected is required"),
        ({"kind": "payment", "expected": {"amount": 1, "currency": "EUR"}}, "expected is required"),
        ({"kind": "payment", "expected": Expected(1, "USDC")}, "currency of ISO 4217"),
        ({"kind": "payment", "expected": Expected(-1, "EUR")}, "whole number of minor units"),
        ({"provider": "stripe", "kind": "payment", "expected": Expected(1, "KWD")}, "multiple of 10"),
        ({"kind": "payment", "expected": "any", "pkce": True}, "pkce is only allowed"),
        ({"same_client": True}, "same_client requires client_id"), ({"about": [1]}, "about must be a mapping"),
        ({"about": {"a": object()}}, "about must be plain JSON"), ({"resume_key": ""}, "resume_key must have"),
        ({"traceparent": 5}, "traceparent must be a str"),
        ({"traceparent": "00-" + 32 * "0" + "-00f067aa0ba902b7-01"}, "traceparent must be one of W3C"),
        ({"traceparent": "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}, "traceparent must be one of W3C"),
    ],
)  # fmt: skip
async def test_arguments_that_are_refused(urlmode: UrlMode, given: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        await urlmode.create(**{**ACCOUNT, **owner(), **given})


@pytest.mark.parametrize("name", ["target_url", "subject", "provider", "ttl", "expected", "resume_key", "id"])
async def test_a_coroutine_where_a_value_belongs(urlmode: UrlMode, name: str) -> None:
    kind = {"kind": "payment"} if name == "expected" else {}
    with pytest.raises(TypeError, match="not a coroutine"):
        await urlmode.create(**{**ACCOUNT, **owner(), **kind, name: a_coroutine()})


@pytest.mark.parametrize("name", ["database_url", "keys_file", "keys", "base_url", "name", "listen", "retention", "clients"])
async def test_a_coroutine_where_a_setting_belongs(keys_file: Path, name: str) -> None:
    given = {"keys_file": None} if name == "keys" else {}
    with pytest.raises(TypeError, match=f"{name} must be a value, not a coroutine"):
        UrlMode(**settings(keys_file, **given, **{name: a_coroutine()}))
    gc.collect()


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"timeout": -1}, "timeout must be at least 0"), ({"timeout": "5"}, "timeout must be a number of seconds"),
        ({"timeout": float("nan")}, "timeout must be a number"), ({"on_progress": 5}, "on_progress must be a function"),
        ({"recheck": "x"}, "recheck must be a function"), ({"abandon": None}, "abandon must be True or False"),
    ],
)  # fmt: skip
async def test_waits_that_are_refused(urlmode: UrlMode, given: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        await urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", subject="a", **given)
    assert urlmode.open_waits == 0


async def test_a_time_without_a_zone(urlmode: UrlMode) -> None:
    with pytest.raises(TypeError, match="time zone"):
        await urlmode.unclaimed(since=datetime.now())


class Clock:
    """An event loop with a time that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[asyncio.TimerHandle] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Any) -> asyncio.TimerHandle:
        self.timers.append(asyncio.TimerHandle(self.now + delay, callback, (), cast(Any, self)))
        return self.timers[-1]

    def _timer_handle_cancelled(self, timer: asyncio.TimerHandle) -> None:
        self.timers.remove(timer)

    def get_debug(self) -> bool:
        return False

    def pass_time(self, seconds: float) -> None:
        until = self.now + seconds
        while due := [timer for timer in self.timers if timer.when() <= until]:
            first = min(due, key=asyncio.TimerHandle.when)
            self.timers.remove(first)
            self.now = first.when()
            first._run()
        self.now = until


def test_a_poll_begins_with_its_shortest_interval_and_is_never_put_off(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, times = Clock(), list[float]()
    monkeypatch.setattr("urlmode._poll.asyncio.get_running_loop", lambda: clock)
    monkeypatch.setattr("urlmode._tasks.random.random", lambda: 0.5)
    poll = Poll(lambda: times.append(clock.now))
    for start in (0.0, 100.0):
        poll.start()
        clock.pass_time(100)
        assert [at - start for at in times[:4]] == [0.25, 0.625, 1.1875, 2.03125]
        assert len(times) > 20, "at least every five seconds"
        times.clear()
    for _ in range(100):
        poll.start()
        clock.pass_time(0.1)
    assert len(times) >= 20
    poll.stop()
    assert clock.timers == []


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
        monkeypatch.setattr("urlmode._listener.asyncio.sleep", sleep)
        listener._users.add(1)
        with pytest.raises(asyncio.CancelledError):
            await listener._keep_connected()

    asyncio.run(run())
    assert 0.075 <= slept[0] <= 0.125
    assert all(3.75 <= each <= 6.25 for each in slept[7:])
    assert len(set(slept)) == 12
