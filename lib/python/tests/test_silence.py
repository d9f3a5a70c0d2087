"""Connections that die in silence: nobody says that they have ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from conftest import ACCOUNT, Callback, OpenUrlMode, admin, owner, required

from urlmode import Expected, UrlMode, UrlModeUnavailableError
from urlmode._core.contract_limits import ALIVE_S


class Relay:
    """Passes on what PostgreSQL and its clients say, until `silence`; then only for new connections."""

    def __init__(self) -> None:
        url = urlsplit(required("URLMODE_DATABASE_URL"))
        self._far = (url.hostname, url.port or 5432)
        self._listening = socket.create_server(("127.0.0.1", 0))
        user, _, _ = url.netloc.rpartition("@")
        self.url = url._replace(netloc=f"{user}@127.0.0.1:{self._listening.getsockname()[1]}").geturl()
        self._passing: set[socket.socket] = set()
        self._open: list[socket.socket] = []
        self.questions = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                far = socket.create_connection(self._far)
                self._open += [near, far]
                self._passing |= {near, far}
                threading.Thread(target=self._pass, args=(near, far), daemon=True).start()
                threading.Thread(target=self._pass, args=(far, near), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self.questions += b"SELECT\0" in data
                if source in self._passing:
                    target.sendall(data)
            if source in self._passing:
                target.shutdown(socket.SHUT_RDWR)

    async def silence(self) -> None:
        """For so long that connections are asked before the next call."""
        self._passing.clear()
        await asyncio.sleep(ALIVE_S + 0.1)

    def close(self) -> None:
        self._listening.close()
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@pytest.fixture
def relay() -> Iterator[Relay]:
    with contextlib.closing(Relay()) as relay:
        yield relay


async def open_pool(relay: Relay, open_urlmode: OpenUrlMode) -> UrlMode:
    """With each connection that its pool can have."""
    urlmode = open_urlmode(database_url=relay.url)
    await asyncio.gather(*(urlmode._database.query("SELECT pg_sleep(%s)", [0.3]) for _ in range(4)))
    assert len(urlmode._pool._idle) == 4
    return urlmode


async def test_a_connection_that_has_just_answered_is_not_asked(
    relay: Relay, open_urlmode: OpenUrlMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    urlmode, now = open_urlmode(database_url=relay.url), 0.0
    monkeypatch.setattr("urlmode._core.pool.time", SimpleNamespace(monotonic=lambda: now))
    for later, questions in ((0, 0), (0, 0), (ALIVE_S / 2, 0), (ALIVE_S, 1), (ALIVE_S / 2, 1)):
        now += later
        await urlmode.unclaimed()
        assert relay.questions == questions


async def test_calls_on_connections_that_died_are_sent_once_on_new_ones(
    relay: Relay, open_urlmode: OpenUrlMode, callback: Callback
) -> None:
    urlmode, me = await open_pool(relay, open_urlmode), owner()
    asked = await urlmode.create(
        provider="stripe", kind="payment", item="report:42", target_url="https://p.example/", expected=Expected(1050, "EUR"), **me
    )
    await callback.paid(asked.elicitation_id)
    await relay.silence()
    created, claimed, listed = await asyncio.gather(
        urlmode.create(**ACCOUNT, **me), urlmode.claim(asked.elicitation_id, **me), urlmode.unclaimed()
    )
    assert created.url and claimed and isinstance(listed, list)
    assert await admin("SELECT count(*) FROM urlmode.elicitation WHERE subject = %s", me["subject"]) == [(2,)]


async def test_a_read_is_repeated_and_a_change_says_that_it_may_have_been_made(
    relay: Relay, open_urlmode: OpenUrlMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urlmode._core.pool.QUERY_S", 10)
    urlmode, me = await open_pool(relay, open_urlmode), owner()
    async with await psycopg.AsyncConnection.connect(required("URLMODE_ADMIN_DATABASE_URL")) as lock:
        await lock.execute("LOCK TABLE urlmode.payment, urlmode.elicitation")
        read, change = asyncio.create_task(urlmode.unclaimed()), asyncio.create_task(urlmode.create(**ACCOUNT, **me))
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'urlmode_server'"
        while (await admin(waiting))[0][0] < 2:
            await asyncio.sleep(0.05)
        await relay.silence()
    with pytest.raises(UrlModeUnavailableError, match="does not answer: it is not known whether this call") as error:
        await change
    assert (error.value.code, isinstance(error.value, psycopg.OperationalError)) == ("URLMODE_UNAVAILABLE", True)
    assert isinstance(await read, list)


async def test_where_no_connection_can_be_made_nothing_was_changed(open_urlmode: OpenUrlMode) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port: Any = silent.getsockname()[1]
        urlmode = open_urlmode(database_url=f"postgresql://u@127.0.0.1:{port}/d?connect_timeout=2")
        with pytest.raises(UrlModeUnavailableError, match="there is no connection to it. Nothing was changed"):
            await urlmode.create(**ACCOUNT, **owner())


async def test_tcp_asks_whether_the_other_end_is_alive(relay: Relay, open_urlmode: OpenUrlMode) -> None:
    for more, idle in (("", 5), ("keepalives_idle=77", 77)):
        url = f"{relay.url}{'&' if '?' in relay.url else '?'}{more}" if more else relay.url
        urlmode = open_urlmode(database_url=url)
        await urlmode.unclaimed()
        with socket.socket(fileno=os.dup(next(iter(urlmode._pool._idle)).pgconn.socket)) as used:
            options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
            assert [used.getsockopt(socket.IPPROTO_TCP, each) for each in options] == [idle, 5, 2, 15000]
