"""Connections to PostgreSQL: what the URL says, and the pool for everything but waiting."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import select
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import tuple_row

from . import contract_texts as texts
from .arguments import refuse_awaitable
from .background import Background, start_quietly
from .contract_calls import Query
from .contract_limits import (
    ALIVE_S,
    CALLS_MAX,
    CONNECT_OF_SEVERAL_S,
    CONNECT_S,
    KEEPALIVE_COUNT,
    KEEPALIVE_S,
    PING_S,
    POOL_MAX,
    QUERY_S,
    UNACKED_S,
)
from .contract_statements import PROGRAM_LIMIT_EXCEEDED
from .contract_words import REFUSAL_CLASSES
from .errors import UrlModeBusyError, UrlModeClosedError, UrlModeUnavailableError
from .leader import Judging, Leadership, sever
from .sending import current_sending

T = TypeVar("T")
Connection = psycopg.AsyncConnection[tuple[Any, ...]]
Connect = Callable[[], Awaitable[Connection]]
Rows = list[tuple[Any, ...]]
_MIGRATE = "the database lacks migrations that this version needs: run urlmode migrate of the same version"


class PoolLike(Protocol):
    """The used part of psycopg_pool.AsyncConnectionPool."""

    conninfo: Any
    kwargs: Any

    def connection(self) -> contextlib.AbstractAsyncContextManager[psycopg.AsyncConnection[Any]]: ...


class Server:
    """How to connect: by a URL, or by libpq's keywords and values, read by libpq itself."""

    def __init__(self, database_url: str, options: dict[str, Any] | None = None) -> None:
        try:
            given = conninfo_to_dict(database_url)
        except psycopg.Error:
            # The error of libpq may quote a password.
            raise ValueError(
                "database_url must be a PostgreSQL URL, postgresql://user:password@host:port/database, with special "
                "characters percent-encoded and only parameters of libpq"
            ) from None
        hosts = str(given.get("host") or given.get("hostaddr") or os.environ.get("PGHOST", ""))
        self.has_several_hosts = "," in hosts

        def default(name: str, variable: str, value: str | int) -> None:
            if name not in given and variable not in os.environ:
                given[name] = value

        default("fallback_application_name", "", "urlmode")
        default("keepalives_idle", "", int(KEEPALIVE_S))
        default("keepalives_interval", "", int(KEEPALIVE_S))
        default("keepalives_count", "", KEEPALIVE_COUNT)
        if psycopg.pq.version() >= 120000:
            default("tcp_user_timeout", "", int(UNACKED_S * 1000))
        default("connect_timeout", "PGCONNECT_TIMEOUT",
                CONNECT_OF_SEVERAL_S if self.has_several_hosts else CONNECT_S)
        if self.has_several_hosts:
            default("target_session_attrs", "PGTARGETSESSIONATTRS", "read-write")
        self.leadership = Leadership({**given, **(options or {})})

    async def connect(self) -> Connection:
        # A pooler in transaction mode does not keep prepared statements.
        parameters: dict[str, Any] = {**await self.leadership.parameters(), "autocommit": True, "prepare_threshold": None}
        return await psycopg.AsyncConnection.connect("", **parameters)


def server_of(database_url: str | None, pool: PoolLike | None) -> Server:
    refuse_awaitable("database_url", database_url)
    if pool is None:
        if not isinstance(database_url, str):
            raise TypeError("database_url must be a str: postgresql://user:password@host:port/database")
        return Server(database_url)
    if database_url is not None:
        raise TypeError(texts.POOL_OR_URL)
    if not callable(getattr(pool, "connection", None)) or not isinstance(getattr(pool, "conninfo", None), str):
        raise TypeError("pool must be a psycopg_pool.AsyncConnectionPool")
    take = getattr(pool, "getconn", None)
    if take is not None and not inspect.iscoroutinefunction(take):
        raise TypeError("pool must be a psycopg_pool.AsyncConnectionPool, not a synchronous pool; urlmode.sync takes a database_url")
    own = ("row_factory", "cursor_factory")
    options = {name: value for name, value in (pool.kwargs or {}).items() if name not in own}
    return Server(pool.conninfo, options)


class _Limit:
    """Ends a connection that does not answer in time."""

    def __init__(self, connection: psycopg.AsyncConnection[Any], seconds: float) -> None:
        self._connection = connection
        self.has_passed = False
        self._timer = asyncio.get_running_loop().call_later(seconds, self._pass)

    def _pass(self) -> None:
        self.has_passed = True
        sever(self._connection)

    def cancel(self) -> None:
        self._timer.cancel()


async def discard(connection: Connection) -> None:
    sever(connection)
    with contextlib.suppress(psycopg.Error, OSError):
        await connection.close()


# By SQLSTATE: no such schema, function or table; no privilege.
_TODO = {
    "3F000": _MIGRATE, "42883": _MIGRATE, "42P01": _MIGRATE,
    "42501": "connect as the role of MCP servers, urlmode_server",
}  # fmt: skip


def without_detail(error: psycopg.Error) -> psycopg.Error:
    """The same error without its detail: that of a failed check constraint contains the whole row. With what is to be done, if it
    is known."""
    primary = error.diag.message_primary
    todo = _TODO.get(error.sqlstate or "")
    if error.diag.message_detail is None and error.diag.context is None and todo is None:
        return error
    plain = type(error)(": ".join([primary or "the database has refused the statement", *([todo] if todo else [])]))
    plain.sqlstate = error.sqlstate
    return plain


def is_refusal(error: BaseException) -> bool:
    """Whether the server refused the statement because a privilege or a migration is missing, or a limit is reached, so that
    it would refuse it again."""
    return isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith(REFUSAL_CLASSES)


def is_refused_change(error: BaseException) -> bool:
    """Whether the server would refuse a change again: as for `is_refusal`, but for the queue of notifications, which empties
    by itself."""
    return is_refusal(error) and getattr(error, "sqlstate", None) != PROGRAM_LIMIT_EXCEEDED


class _LostError(Exception):
    """The connection was lost before the answer came."""

    def __init__(self, error: psycopg.Error) -> None:
        super().__init__()
        self.error = error


def _has_just_answered(connection: Connection, answered_at: float) -> bool:
    """PostgreSQL sends nothing to an idle connection but its end."""
    if connection.closed or time.monotonic() - answered_at >= ALIVE_S:
        return False
    arrived = select.poll()
    arrived.register(connection.pgconn.socket, select.POLLIN)
    return not arrived.poll(0)


class Pool:
    """A small pool of connections, and the calls that are in progress on them."""

    def __init__(self, connect: Connect, external: PoolLike | None, leadership: Leadership) -> None:
        self._connect = connect
        self._leadership = leadership
        leadership.on_doubt.append(self._drop_idle)
        self._external = external
        # When each of those on which no statement runs last answered. The one that was used last is the next.
        self._idle: dict[Connection, float] = {}
        self._open: set[Connection] = set()
        self._connecting: set[asyncio.Task[Connection]] = set()
        self._borrowings: set[_Borrowing] = set()
        self._free = asyncio.Semaphore(POOL_MAX)
        self.calls = Background()
        """that `close` waits for"""
        self._in_progress = 0
        self._closed = False
        self.broken_off = False

    async def query(self, statement: str, values: Sequence[Any], reads: bool = False, /) -> Rows:
        return await self.track(lambda: self.run(statement, values, reads))

    async def track(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Runs a call that `close` waits for. Who cancels it before a statement of it was sent, takes it back. After that it ends
        as it ends."""
        if self._closed:
            raise UrlModeClosedError
        if self._in_progress >= CALLS_MAX:
            raise UrlModeBusyError(texts.CALLS_IN_PROGRESS)
        self._in_progress += 1
        sending = current_sending()

        async def call() -> T:
            try:
                with sending.of_what_follows():
                    return await ask()
            except (psycopg.Error, asyncio.CancelledError):
                if self.broken_off:
                    raise UrlModeClosedError from None
                raise

        calling = self.calls.start(call())
        calling.add_done_callback(self._end)
        try:
            return await asyncio.shield(calling)
        except asyncio.CancelledError:
            if not sending.sent:
                calling.cancel()
            raise

    def _end(self, _: object) -> None:
        self._in_progress -= 1

    async def run(self, statement: str, values: Sequence[Any], reads: bool = False, /) -> Rows:
        try:
            return await self._on_connection(lambda fetch: fetch(statement, values))
        except _LostError as lost:
            # Whether a change was made is not known. A read can be repeated.
            if self.broken_off or not reads:
                raise lost.error from lost.error.__cause__
        try:
            return await self._on_connection(lambda fetch: fetch(statement, values))
        except _LostError as lost:
            raise lost.error from lost.error.__cause__

    async def reserve(self, work: Callable[[Query], Awaitable[None]]) -> None:
        """Does work on one connection, when there is one: what it sends can be chosen as late as that."""

        async def on(fetch: Query) -> Rows:
            async def query(statement: str, values: Sequence[Any], reads: bool = False, /) -> Rows:
                try:
                    return await fetch(statement, values)
                except _LostError as lost:
                    raise lost.error from lost.error.__cause__

            await work(query)
            return []

        await self._on_connection(on)

    async def _on_connection(self, work: Callable[[Query], Awaitable[Rows]]) -> Rows:
        if self._external is not None:
            return await self._borrow(self._external, work)
        async with self._free:
            return await self._use(work)

    async def _borrow(self, pool: PoolLike, work: Callable[[Query], Awaitable[Rows]]) -> Rows:
        if self.broken_off:
            raise UrlModeClosedError
        borrowing = _Borrowing(pool, work)
        self._borrowings.add(borrowing)
        timer = asyncio.get_running_loop().call_later(QUERY_S, borrowing.give_up)
        try:
            return await borrowing.answer()
        finally:
            timer.cancel()
            self._borrowings.discard(borrowing)

    async def _use(self, work: Callable[[Query], Awaitable[Rows]]) -> Rows:
        connection = await self._take_idle() or await self._connect_new()

        async def fetch(statement: str, values: Sequence[Any], reads: bool = False, /) -> Rows:
            limit = _Limit(connection, QUERY_S)
            judging = Judging(self._leadership, connection.pgconn.backend_pid, lambda: sever(connection))
            try:
                return await _fetch(connection, statement, values)
            except psycopg.Error as error:
                if not connection.closed:
                    raise without_detail(error) from None
                unanswered = UrlModeUnavailableError(texts.UNAVAILABLE_NOT_ANSWERED)
                unanswered.__cause__ = error
                is_unanswered = limit.has_passed or judging.has_closed
                raise _LostError(unanswered if is_unanswered else without_detail(error)) from None
            finally:
                limit.cancel()
                judging.cancel()

        try:
            return await work(fetch)
        finally:
            if connection.closed or self.broken_off:
                self._open.discard(connection)
                await discard(connection)
            else:
                self._idle[connection] = time.monotonic()

    async def _take_idle(self) -> Connection | None:
        """One that was idle and is alive: a NAT, a firewall or a host that went away ends connections without a word."""
        while self._idle:
            connection, answered_at = self._idle.popitem()
            if _has_just_answered(connection, answered_at):
                return connection
            limit = _Limit(connection, PING_S)
            try:
                await connection.execute("SELECT")
                return connection
            except psycopg.Error:
                # Where one is dead, the others are, as a rule, unless they have just answered: none of them shall make a
                # call wait.
                others = [each for each, at in self._idle.items() if not _has_just_answered(each, at)]
                for dead in (connection, *others):
                    self._idle.pop(dead, None)
                    self._open.discard(dead)
                    dead.pgconn.finish()
            except BaseException:  # The call was taken back.
                self._open.discard(connection)
                await discard(connection)
                raise
            finally:
                limit.cancel()
        return None

    def _drop_idle(self) -> None:
        """Where the server may be the wrong one, no statement is sent any more."""
        while self._idle:
            connection, _ = self._idle.popitem()
            self._open.discard(connection)
            connection.pgconn.finish()

    async def _connect_new(self) -> Connection:
        if self.broken_off:
            raise UrlModeClosedError
        task = asyncio.ensure_future(self._connect())
        self._connecting.add(task)
        try:
            connection = await task
        except asyncio.CancelledError:
            # The call was taken back just when the connection was there.
            if task.done() and not task.cancelled() and task.exception() is None:
                task.result().pgconn.finish()
            raise
        except psycopg.errors.ConnectionTimeout as error:
            raise UrlModeUnavailableError(texts.UNAVAILABLE_NOT_SENT) from error
        except psycopg.Error as error:
            raise without_detail(error) from None
        finally:
            self._connecting.discard(task)
        self._open.add(connection)
        return connection

    async def close(self) -> None:
        """Waits for the calls in progress first, until `break_off`."""
        self._closed = True
        await self.calls.finish()
        for connection in self._idle:
            await connection.close()
        self._idle.clear()
        self._open.clear()

    def drop(self) -> None:
        """Closes the connections at once, where their event loop does not run any more."""
        self._closed = True
        for connection in self._open:
            connection.pgconn.finish()

    def break_off(self) -> None:
        """Ends the calls in progress: PostgreSQL does not answer, and nobody can wait longer."""
        self._closed = True
        self.broken_off = True
        for connection in self._open:
            sever(connection)
        for task in self._connecting:
            task.cancel()
        for borrowing in self._borrowings:
            borrowing.give_up()


class _Borrowing:
    """Work on a connection of somebody else's pool."""

    def __init__(self, pool: PoolLike, work: Callable[[Query], Awaitable[Rows]]) -> None:
        self._connection: psycopg.AsyncConnection[Any] | None = None
        self._gave_up = False
        self._task = start_quietly(self._run(pool, work))

    async def answer(self) -> Rows:
        try:
            return await self._task
        except asyncio.CancelledError:
            if self._gave_up:
                raise UrlModeUnavailableError(texts.UNAVAILABLE_NOT_SENT) from None
            raise
        except UrlModeUnavailableError:
            raise
        except psycopg.Error as error:
            raise without_detail(error) from None

    async def _run(self, pool: PoolLike, work: Callable[[Query], Awaitable[Rows]]) -> Rows:
        try:
            async with pool.connection() as connection:
                self._connection = connection
                return await work(self._fetch)
        finally:
            self._connection = None  # somebody else may have it

    async def _fetch(self, statement: str, values: Sequence[Any], reads: bool = False, /) -> Rows:
        assert self._connection is not None
        try:
            # Its answer is for a caller, so it is committed first.
            async with self._connection.transaction():
                return await _fetch(self._connection, statement, values)
        except psycopg.Error as error:
            if self._gave_up:
                raise UrlModeUnavailableError(texts.UNAVAILABLE_NOT_ANSWERED) from error
            raise without_detail(error) from None

    def give_up(self) -> None:
        """psycopg waits for the server also where its task is cancelled. The pool replaces a connection that has ended."""
        if self._task.done():
            return
        self._gave_up = True
        if self._connection is None:
            self._task.cancel()
        else:
            sever(self._connection)


async def _fetch(connection: psycopg.AsyncConnection[Any], statement: str, values: Sequence[Any]) -> Rows:
    current_sending().sent = True
    async with connection.cursor(row_factory=tuple_row) as cursor:
        await cursor.execute(statement.encode(), values)
        return await cursor.fetchall()
