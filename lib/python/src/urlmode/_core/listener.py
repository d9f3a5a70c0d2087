"""The one connection of a process that listens for notifications, and that reads the rows of all waits.

It is opened for the first wait, and opened again, with increasing delays, when it is lost while somebody uses it. Rows
are read over the same connection for two reasons. An answer shows that the connection is alive, so notifications can
arrive as well; and many calls of `create` at once, which use the pool, do not delay the reads.

A pooler between the two ends may send each transaction to another server. LISTEN then succeeds, but no notification
arrives. Such a pooler reports process ids of its own. When the process id does not match, a NOTIFY over another
connection tests whether notifications arrive.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import psycopg
from psycopg import pq

from . import contract_texts as texts
from .background import Background, jittered, wait_briefly
from .contract_database import hold
from .contract_limits import (
    BACKOFF_MAX_S,
    BACKOFF_MIN_S,
    BACKOFF_OF_SEVERAL_MAX_S,
    LISTEN_CHECK_S,
    LISTEN_QUERY_S,
    PING_S,
    PROBE_S,
)
from .contract_statements import BACKEND_PID, CHANNEL, PROBE_CHANNEL
from .contract_words import UNLISTENABLE_CLASSES
from .errors import UrlModeError
from .leader import sever
from .log import warn
from .pool import Connect, Connection, Rows, discard, is_refusal, without_detail

Notification = dict[str, Any]

_ID = re.compile("[0-9a-f-]{36}")


def parse_notifications(payload: bytes) -> list[Notification]:
    """What the database announces: one object, or an array of those of a statement. Anyone who can connect to the
    database can send another text."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return []
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, dict) and _is_id(each.get("id"))]


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


class LostConnection(psycopg.OperationalError):
    pass


class _Listening:
    """A connection that listens while no statement runs. psycopg reads from the socket while one does."""

    def __init__(self, connection: Connection, on_notify: Callable[[pq.PGnotify], None]) -> None:
        self._connection = connection
        self._on_notify = on_notify
        self._turn = asyncio.Lock()
        self._loop = asyncio.get_running_loop()
        self._socket = connection.pgconn.socket
        self._watching = False
        self.lost: asyncio.Future[BaseException] = self._loop.create_future()
        self.receives_notifications = False
        self.is_held: bool | None = None
        """whether it has the lock of this instance; None: that is not decided yet"""
        connection.pgconn.notify_handler = on_notify
        self._watch()

    @property
    def backend_pid(self) -> int:
        return self._connection.pgconn.backend_pid

    def _watch(self) -> None:
        self._loop.add_reader(self._socket, self._on_readable)
        self._watching = True

    def _unwatch(self) -> None:
        # Once, and at once: when libpq has closed the socket of a connection that broke, another one may get its number.
        if self._watching:
            self._watching = False
            self._loop.remove_reader(self._socket)

    def _on_readable(self) -> None:
        try:
            self._connection.pgconn.consume_input()
        except psycopg.Error as error:
            return self.fail(error)
        self._take_notifications()

    def _take_notifications(self) -> None:
        try:
            while notify := self._connection.pgconn.notifies():
                self._on_notify(notify)
        except psycopg.Error as error:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        self._unwatch()
        if not self.lost.done():
            self.lost.set_result(error)

    async def query(
        self, statement: str, values: Sequence[Any] = (), _reads: bool = False, *, limit: float | None = None
    ) -> Rows:
        """One statement after another. An error that is no refusal is the end of the connection."""
        async with self._turn:
            if self.lost.done():
                raise LostConnection(texts.LISTENER_LOST)
            self._unwatch()
            timer = self._loop.call_later(LISTEN_QUERY_S if limit is None else limit, sever, self._connection)
            try:
                cursor = await self._connection.execute(statement.encode(), values)
                return await cursor.fetchall() if cursor.description else []
            except psycopg.Error as error:
                if not is_refusal(error):
                    self.fail(error)
                raise without_detail(error) from None
            except Exception as error:
                self.fail(error)
                raise LostConnection(texts.LISTENER_LOST) from error
            finally:
                timer.cancel()
                if not self.lost.done():
                    self._watch()
                    # One that came behind the answer was read with it, so that the socket does not tell of it.
                    self._take_notifications()

    def drop(self) -> None:
        self._connection.pgconn.finish()

    async def close(self) -> None:
        self.fail(LostConnection("the listening connection was closed"))
        await discard(self._connection)


class Listener:
    """`on_listening`: LISTEN is in force, so every row that is waited for must be read now. `on_receiving`:
    notifications arrive, so polling is not necessary. `on_lost`: another attempt follows."""

    def __init__(
        self, connect: Connect, *, listen: bool, several_hosts: bool, notify: Callable[[str, str], Awaitable[None]]
    ) -> None:
        self._connect = connect
        self._listen = listen
        self._backoff_max = BACKOFF_OF_SEVERAL_MAX_S if several_hosts else BACKOFF_MAX_S
        self._notify = notify
        self._connection: _Listening | None = None
        self._users: set[object] = set()
        self._background = Background()
        self._keeping: asyncio.Task[None] | None = None
        self._failures = 0
        self._probe_id = ""
        self._lock = secrets.randbits(62)
        """of the advisory lock that the connection has, so that others see when this instance ends"""
        self._warned = False
        self.on_notified: list[Callable[[list[Notification]], None]] = []
        self.on_listening: list[Callable[[], None]] = []
        self.on_receiving: list[Callable[[], None]] = []
        self.on_lost: list[Callable[[BaseException], None]] = []

    @property
    def listening(self) -> bool:
        return self._connection is not None

    @property
    def receives_notifications(self) -> bool:
        """Whether notifications are known to arrive. While this is false, rows must be polled."""
        return self._connection is not None and self._connection.receives_notifications

    def acquire(self, user: object) -> None:
        """Opens the connection if there is none. It is opened again when it is lost, until `release`."""
        self._users.add(user)
        if self._keeping is None or self._keeping.done():
            self._keeping = self._background.start(self._keep_connected())

    def release(self, user: object) -> None:
        """When nobody uses the connection any more, it stays open for the next user."""
        self._users.discard(user)

    def leave(self) -> None:
        """The host that it listens to may not be the one that leads: the connection is made again."""
        if self._connection is not None:
            self._connection.fail(LostConnection(texts.COMMITS_UNANSWERED))

    async def holder(self, seconds: float) -> int | None:
        """The key of the advisory lock by which others see that this instance is there. There is none behind a pooler, or
        if the connection is not open in time. Only while it is used (`acquire`)."""
        until = time.monotonic() + seconds
        while self._listen and time.monotonic() < until:
            if self._connection is not None and self._connection.is_held is not None:
                break
            await asyncio.sleep(0.02)
        return self._lock if self._connection is not None and self._connection.is_held else None

    async def query(self, statement: str, values: Sequence[Any], _reads: bool = False, /) -> Rows:
        """Only allowed while `listening`. Also what only reads is sent once."""
        if self._connection is None:
            raise LostConnection(texts.LISTENER_LOST)
        rows = await self._connection.query(statement, values)
        self._failures = 0
        return rows

    async def close(self) -> None:
        self._users.clear()
        if self._connection is not None:
            await self._connection.close()
        await self._background.cancel()

    def drop(self) -> None:
        """Closes the connection at once, where its event loop does not run any more."""
        if self._connection is not None:
            self._connection.drop()

    async def _keep_connected(self) -> None:
        while self._users:
            try:
                error = await self._serve()
            except Exception as unexpected:
                warn("URLMODE_LISTENER", "the listening connection has ended with an error of the program", unexpected)
                error = unexpected
            if not self._users:
                return
            self._failures += 1
            if self._failures == 2:
                reason = (str(error).splitlines() or [type(error).__name__])[0]
                again = "waits continue, and so do the attempts to connect"
                warn("URLMODE_RECONNECTING", f"PostgreSQL cannot be reached ({reason}); {again}")
            for report in self.on_lost:
                report(error)
            await asyncio.sleep(jittered(min(self._backoff_max, BACKOFF_MIN_S * 2 ** min(self._failures - 1, 10))))

    async def _serve(self) -> BaseException:
        """From a new connection until it is lost, or could not be opened."""
        listening = None
        tasks: list[asyncio.Task[None]] = []
        try:
            listening = _Listening(await self._connect(), self._on_notify)
            listens = self._listen and await self._listen_on(listening)
            self._connection = listening
            for report in self.on_listening:
                report()
            tasks.append(self._background.start(self._check(listening)))
            if listens:
                tasks.append(self._background.start(self._probe(listening)))
            else:
                listening.is_held = False
                self._warn_polling("PostgreSQL is polled")
            return await listening.lost
        except (psycopg.Error, OSError) as error:
            return error
        finally:
            self._connection = None
            for task in tasks:
                task.cancel()
            if listening is not None:
                await listening.close()

    async def _check(self, listening: _Listening) -> None:
        """Asks again and again whether the connection is alive. One that died in silence does not answer, and is lost."""
        with contextlib.suppress(psycopg.Error):  # `_serve` notices it
            while True:
                await asyncio.sleep(jittered(LISTEN_CHECK_S))
                if self._users:
                    await listening.query("SELECT", limit=PING_S)
                    self._failures = 0

    @staticmethod
    async def _listen_on(listening: _Listening) -> bool:
        """False if the server does not support LISTEN."""
        try:
            await listening.query(f"LISTEN {CHANNEL}")
        except psycopg.Error as error:
            if (error.sqlstate or "").startswith(UNLISTENABLE_CLASSES) and not listening.lost.done():
                return False
            raise
        return True

    async def _probe(self, listening: _Listening) -> None:
        """Finds out whether notifications arrive, after LISTEN was sent."""
        try:
            rows = await listening.query(BACKEND_PID)
            if rows[0][0] == listening.backend_pid:
                self._set_receiving(listening)
                listening.is_held = await hold(listening.query, holder=self._lock)
                return
            listening.is_held = False
            await listening.query(f"LISTEN {PROBE_CHANNEL}")
            self._probe_id = str(uuid.uuid4())
            await self._notify(PROBE_CHANNEL, self._probe_id)
        except (psycopg.Error, UrlModeError):
            listening.is_held = False
            return  # A lost connection is noticed by `_serve`. Without an answer, rows are polled.
        await wait_briefly(listening.lost, PROBE_S)
        if self._connection is listening and not listening.receives_notifications:
            self._warn_polling(texts.NO_NOTIFICATIONS)

    def _on_notify(self, notify: pq.PGnotify) -> None:
        channel = notify.relname.decode(errors="replace")
        if channel == CHANNEL:
            notifications = parse_notifications(notify.extra)
            for report in self.on_notified:
                report(notifications)
        elif channel == PROBE_CHANNEL and notify.extra.decode(errors="replace") == self._probe_id:
            if self._connection is not None:
                self._set_receiving(self._connection)

    def _set_receiving(self, listening: _Listening) -> None:
        if self._connection is not listening or listening.receives_notifications:
            return
        listening.receives_notifications = True
        for report in self.on_receiving:
            report()

    def _warn_polling(self, cause: str) -> None:
        if not self._warned:
            self._warned = True
            warn("URLMODE_POLLING", texts.polling(cause))
