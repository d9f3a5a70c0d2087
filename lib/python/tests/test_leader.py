"""A primary that takes writes and does not commit, beside the one that leads."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from conftest import ACCOUNT, ROOT, Callback, OpenUrlMode, owner, required, until

from urlmode import UrlModeUnavailableError
from urlmode._core.contract_limits import COMMIT_UNANSWERED_S
from urlmode._core.leader import Leadership, hosts_of

# For what writes. A wait that looks at its row again goes on.
LOCK = "LOCK TABLE urlmode.elicitation IN SHARE MODE"
BY_ID = "SELECT count(*) FROM urlmode.elicitation WHERE id = %s"


class Pair:
    """tests/support/pair.mjs: a primary and its standby, which part."""

    def __init__(self) -> None:
        command = ["node", str(ROOT / "tests/support/pair.mjs")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        _, self.server, self.primary, self.standby = self._line().split()

    def _line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    async def ask(self, command: str) -> str:
        assert self.process.stdin
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return await asyncio.to_thread(self._line)


@pytest.fixture
def pair() -> Iterator[Pair]:
    pair = Pair()
    yield pair
    pair.process.communicate()


async def count_at(url: str, statement: str, *values: Any) -> Any:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        row = await (await connection.execute(statement.encode(), values)).fetchone()
        return row and row[0]


async def test_what_is_slow_is_waited_for_and_a_commit_that_hangs_leads_to_the_host_that_leads(
    pair: Pair, open_urlmode: OpenUrlMode, keys_file: Path
) -> None:
    urlmode, me, id = open_urlmode(database_url=pair.server), owner(), str(uuid.uuid4())
    before = await urlmode.create(**ACCOUNT, **me)
    wait = asyncio.create_task(urlmode.wait_for_completion(before.elicitation_id, **me))
    # Also where the functions are older than the package, and cannot say it.
    async with await psycopg.AsyncConnection.connect(pair.primary, autocommit=True) as primary:
        for name in ("leader", "leader_of_later"):
            if name != "leader":
                await primary.execute(f"ALTER FUNCTION urlmode.leader RENAME TO {name}".encode())
            async with primary.transaction():
                await primary.execute(LOCK)
                slow = asyncio.create_task(urlmode.create(**ACCOUNT, **me))
                await asyncio.sleep(COMMIT_UNANSWERED_S + 2)
                assert not slow.done()
            await slow
        await primary.execute(f"ALTER FUNCTION urlmode.{name} RENAME TO leader".encode())

        # What waits for a lock when it is asked about, and in its commit when it is asked again.
        async with primary.transaction(force_rollback=True):
            await primary.execute(LOCK)
            stuck = asyncio.create_task(urlmode.create(**ACCOUNT, **me, id=id))
            await pair.ask("part")
            await asyncio.sleep(COMMIT_UNANSWERED_S + 2)
    with pytest.raises(UrlModeUnavailableError, match="it is not known whether this call"):
        await stuck
    # It was closed, and not cancelled, which would have committed it.
    assert (await pair.ask("hung"), await count_at(pair.primary, BY_ID, id)) == ("1", 0)
    # The same is asked again. Where the leader does not answer in time, on a busy machine, the old primary is tried once more.
    for _ in range(5):
        asked = time.monotonic()
        with contextlib.suppress(UrlModeUnavailableError):
            await urlmode.create(**ACCOUNT, **me, id=id)
            break
        assert time.monotonic() - asked > COMMIT_UNANSWERED_S
    hung = await pair.ask("hung")
    assert await count_at(pair.standby, BY_ID, id) == 1
    await until("it listens again", lambda: urlmode._listener.receives_notifications)
    async with await psycopg.AsyncConnection.connect(pair.standby, autocommit=True) as connection:
        await Callback(connection, keys_file).come_back(before.elicitation_id, me, {"code": "c"})
    assert (await wait).result == {"code": "c"}
    assert await pair.ask("hung") == hung


async def test_as_long_as_a_host_says_nothing_the_leader_is_looked_for(pair: Pair) -> None:
    leadership = Leadership(conninfo_to_dict(pair.server))
    in_order = str(conninfo_to_dict(pair.server)["port"])
    leadership.doubt()
    assert (await leadership.parameters())["port"] == in_order
    assert not leadership._is_doubted, "both have answered"
    await pair.ask("part")
    leadership.doubt()
    await pair.ask("stop")
    reverse = ",".join(reversed(in_order.split(",")))
    found = await leadership.parameters()
    assert found["port"] == reverse
    assert psycopg.pq.version() < 160_000 or found["load_balance_hosts"] == "disable"
    await pair.ask("start")
    assert (await leadership.parameters())["port"] == reverse, "the old primary has come back as it was"


async def test_a_server_without_a_connection_left_cannot_say_it() -> None:
    url = required("URLMODE_ADMIN_DATABASE_URL")
    parameters = {**conninfo_to_dict(url), "user": "crowded", "password": "crowded"}
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        await admin.execute("CREATE ROLE crowded LOGIN PASSWORD 'crowded' CONNECTION LIMIT 0")
        try:
            assert await Leadership(parameters).is_at_work(1)
            assert not await Leadership({**parameters, "port": "1"}).is_at_work(1)
        finally:
            await admin.execute("DROP ROLE crowded")


def test_hosts_are_read_as_libpq_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(**parameters: str) -> list[str]:
        return [":".join(host.values()) for host in hosts_of(parameters)]

    assert read(host="a,b", port="1,2") == ["a::1", "b::2"]
    assert read(host="a,b", port="1") == ["a::1", "b::1"]
    assert read(hostaddr="192.0.2.1,192.0.2.2") == [":192.0.2.1:", ":192.0.2.2:"]
    monkeypatch.setenv("PGHOST", "c,d")
    monkeypatch.setenv("PGPORT", "3,4")
    assert read() == ["c::3", "d::4"]
