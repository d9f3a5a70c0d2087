"""Which of several hosts leads, where a commit is not answered.

A primary that was cut off from its cluster still takes writes, but its commits wait for a standby without end. So a
statement that is not answered for ten seconds has its server asked, on another connection, what its process does, and again
every ten seconds. One that is only slow, or waits for a lock, goes on: it would be slow on another connection as well.
Where it waits in its commit, or where nobody answers, all connections are closed, and never cancelled: PostgreSQL commits what waits for a standby when
it is cancelled. The next connection is made to the host that leads: that with the highest timeline of those that take
writes. Only a promotion raises a timeline, so that no load makes connections go to and fro.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import socket
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from .background import start_quietly
from .contract_database import LeaderRow, leader
from .contract_limits import COMMIT_UNANSWERED_S, CONNECT_OF_SEVERAL_S

Parameters = dict[str, Any]
Rows = list[tuple[Any, ...]]
_VARIABLES = {"host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT"}


def hosts_of(parameters: Parameters) -> list[Parameters]:
    """Each host with its own `host`, `hostaddr` and `port`, as libpq reads the lists."""
    lists = {
        name: str(parameters.get(name) or os.environ.get(variable, "")).split(",") for name, variable in _VARIABLES.items()
    }
    count = max(len(lists["host"]), len(lists["hostaddr"]))
    return [
        {name: values[n] if len(values) > 1 else values[0] for name, values in lists.items() if len(values) in (1, count)}
        for n in range(count)
    ]


def sever(connection: psycopg.AsyncConnection[Any]) -> None:
    """Ends a connection that does not answer: who reads from it sees its end at once."""
    with contextlib.suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.pgconn.socket)) as end:
        end.shutdown(socket.SHUT_RDWR)


class Leadership:
    """What the connections of one instance know of the host that leads."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._is_doubted = False
        """a commit was not answered, so that the leader is looked for, until all hosts have answered and one of them takes writes"""
        self.on_doubt: list[Callable[[], None]] = []
        """what closes the connections that were made before"""

    def doubt(self) -> None:
        self._is_doubted = True
        for leave in self.on_doubt:
            leave()

    async def parameters(self) -> Parameters:
        """To connect with: the host that leads first, if that is in doubt."""
        hosts = hosts_of(self._parameters)
        if not self._is_doubted or len(hosts) < 2:
            return self._parameters
        answers = await self._ask_all(hosts, 0)
        timelines = [answer.timeline or "" if answer else "" for answer, _ in answers]
        # Who says nothing may be the old primary, and come back as it was.
        if sum(map(bool, timelines)) == 1 and all(answer for answer, _ in answers):
            self._is_doubted = False
        first = timelines.index(max(timelines))
        ordered = [hosts[first], *hosts[:first], *hosts[first + 1 :]]
        lists = {name: [host.get(name, "") for host in ordered] for name in _VARIABLES}
        if psycopg.pq.version() >= 160_000:
            lists["load_balance_hosts"] = ["disable"]
        return {**self._parameters, **{name: ",".join(values) for name, values in lists.items() if any(values)}}

    async def is_at_work(self, process: int) -> bool:
        """Whether a host says that it carries the statement of this process out. A pooler has process ids of its own, and
        follows a failover itself."""
        for answer, is_pooled in await self._ask_all(hosts_of(self._parameters), process):
            if is_pooled if answer is None or answer.works is None else answer.works:
                return True
        return False

    async def _ask_all(self, hosts: list[Parameters], process: int) -> list[tuple[LeaderRow | None, bool]]:
        """All at the same time, so that one that is dead delays nothing. Who does not answer says None and
        False, and who answers and cannot say it None and True."""
        return await asyncio.gather(*(self._ask(host, process) for host in hosts))

    async def _ask(self, host: Parameters, process: int) -> tuple[LeaderRow | None, bool]:
        given = {name: value for name, value in host.items() if value}
        parameters: Parameters = {**self._parameters, **given, "target_session_attrs": "any",
                                  "connect_timeout": int(CONNECT_OF_SEVERAL_S)}  # fmt: skip
        try:
            connection = await psycopg.AsyncConnection.connect("", **parameters, autocommit=True, prepare_threshold=None)
        except psycopg.errors.ConnectionTimeout:
            return None, False
        except psycopg.Error:
            # A server with no connection left says so, with an SQLSTATE that psycopg does not tell.
            ping = functools.partial(PGconn.ping, make_conninfo("", **parameters).encode())
            return None, await asyncio.to_thread(ping) == Ping.OK
        timer = asyncio.get_running_loop().call_later(CONNECT_OF_SEVERAL_S, sever, connection)

        async def query(statement: str, values: Sequence[Any], _reads: bool = False, /) -> Rows:
            return await (await connection.execute(statement.encode(), values)).fetchall()

        try:
            answer = await leader(query, process=process)
            return answer, answer.pid != connection.pgconn.backend_pid
        except psycopg.Error as error:
            # Older functions cannot say it: as with a pooler, nothing is known of the process.
            return None, (error.sqlstate or "").startswith("42")
        finally:
            timer.cancel()
            connection.pgconn.finish()


class Judging:
    """Closes the connection of a statement that is not answered in time, unless it is carried out."""

    def __init__(self, leadership: Leadership, process: int, close: Callable[[], None]) -> None:
        self._leadership = leadership
        self._process = process
        self._close = close
        self._task: asyncio.Future[None] | None = None
        self.has_closed = False
        self._watch()

    def _watch(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(COMMIT_UNANSWERED_S, self._begin)

    def _begin(self) -> None:
        self._task = start_quietly(self._judge())

    async def _judge(self) -> None:
        if await self._leadership.is_at_work(self._process):
            # It may wait in its commit when it is asked again.
            self._watch()
            return
        self.has_closed = True
        self._close()
        self._leadership.doubt()

    def cancel(self) -> None:
        """When the statement has ended."""
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
