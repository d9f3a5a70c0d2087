"""A primary that takes writes and does not commit, beside the one that leads."""

from __future__ import annotations

import asyncio
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from conftest import ACCOUNT, ROOT, Callback, OpenUrlMode, owner, until

from urlmode import UrlModeUnavailableError
from urlmode._core.contract_limits import COMMIT_UNANSWERED_S
from urlmode._core.leader import hosts_of

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
    async with await psycopg.AsyncConnection.connect(pair.primary, autocommit=True) as admin:
        for name in ("leader", "leader_of_later"):
            if name != "leader":
                await admin.execute(f"ALTER FUNCTION urlmode.leader RENAME TO {name}".encode())
            async with admin.transaction():
                await admin.execute("LOCK TABLE urlmode.elicitation")
                slow = asyncio.create_task(urlmode.create(**ACCOUNT, **me))
                await asyncio.sleep(COMMIT_UNANSWERED_S + 2)
                assert not slow.done()
            await slow
        await admin.execute(f"ALTER FUNCTION urlmode.{name} RENAME TO leader".encode())

    await pair.ask("part")
    with pytest.raises(UrlModeUnavailableError, match="it is not known whether this call"):
        await urlmode.create(**ACCOUNT, **me, id=id)
    # It was closed, and not cancelled, which would have committed it.
    assert (await pair.ask("hung"), await count_at(pair.primary, BY_ID, id)) == ("1", 0)
    await urlmode.create(**ACCOUNT, **me, id=id)  # the same is asked again
    assert await count_at(pair.standby, BY_ID, id) == 1
    await until("it listens again", lambda: urlmode._listener.receives_notifications)
    async with await psycopg.AsyncConnection.connect(pair.standby, autocommit=True) as connection:
        await Callback(connection, keys_file).come_back(before.elicitation_id, me, {"code": "c"})
    assert (await wait).result == {"code": "c"}
    assert await pair.ask("hung") == "1"


def test_hosts_are_read_as_libpq_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(**parameters: str) -> list[str]:
        return [":".join(host.values()) for host in hosts_of(parameters)]

    assert read(host="a,b", port="1,2") == ["a::1", "b::2"]
    assert read(host="a,b", port="1") == ["a::1", "b::1"]
    assert read(hostaddr="192.0.2.1,192.0.2.2") == [":192.0.2.1:", ":192.0.2.2:"]
    monkeypatch.setenv("PGHOST", "c,d")
    monkeypatch.setenv("PGPORT", "3,4")
    assert read() == ["c::3", "d::4"]
