"""Behind a real PgBouncer: in transaction mode everything works, and waits poll, because LISTEN does nothing there."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from conftest import ACCOUNT, Callback, OpenUrlMode, owner, required, until

from urlmode import BegunClaim, ElicitationTimeoutError, Expected, FulfilledClaim, InputForm, Problem, Progress, UrlMode
from urlmode._core.contract_calls import READ_PAID

PAYMENT: dict[str, Any] = {
    "provider": "stripe", "kind": "payment", "item": "report:42", "expected": Expected(1050, "EUR"),
    "target_url": "https://pay.example",
}  # fmt: skip
StartPooler = Callable[[str], str]


@pytest.fixture
def start_pooler() -> Iterator[StartPooler]:
    """Starts one of a mode, as the user postgres if the tests run as root. Returns the URL through it."""
    started: list[subprocess.Popen[bytes]] = []
    folder = Path(tempfile.mkdtemp())
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "pgbouncer is missing: make deps"
    as_other: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}

    def start(mode: str) -> str:
        target = urlsplit(required("URLMODE_DATABASE_URL"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        users = folder / "users"
        users.write_text(f'"{unquote(target.username or "")}" "{unquote(target.password or "")}"\n')
        settings = folder / "ini"
        settings.write_text(f"""
[databases]
* = host={target.hostname} port={target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = plain
auth_file = {users}
pool_mode = {mode}
default_pool_size = 4
""")
        for file in (users, settings, folder) if as_other else ():
            shutil.chown(file, "postgres", "postgres")
        process = subprocess.Popen([program, settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_other)
        started.append(process)
        while not _answers(port):
            assert process.poll() is None, "pgbouncer did not start"
        return target._replace(netloc=target.netloc.replace(f":{target.port}", f":{port}")).geturl()

    yield start
    for process in started:
        process.kill()  # SIGTERM waits for its clients, from PgBouncer 1.23 on
        process.wait()
    shutil.rmtree(folder)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


async def test_in_transaction_mode_waits_poll_after_one_warning(
    open_urlmode: OpenUrlMode, callback: Callback, start_pooler: StartPooler, caplog: pytest.LogCaptureFixture
) -> None:
    urlmode = open_urlmode(database_url=start_pooler("transaction"))
    me = owner()
    ids = [(await urlmode.create(**ACCOUNT, **me)).elicitation_id for _ in range(20)]
    heard: list[Progress] = []
    waits = [asyncio.create_task(urlmode.wait_for_completion(id, **me, on_progress=heard.append)) for id in ids]
    await callback.open(ids[0], me)
    await until("it is told", lambda: heard == ["opened"])
    for number, id in enumerate(ids):
        await callback.come_back(id, me, {"code": str(number)})
    assert [(await wait).result for wait in waits] == [{"code": str(number)} for number in range(20)]

    later = (await urlmode.create(**ACCOUNT, **me)).elicitation_id
    wait = asyncio.create_task(urlmode.wait_for_completion(later, **me))
    await until("it was warned", lambda: "URLMODE_POLLING" in caplog.text)
    await callback.come_back(later, me, {"code": "c"})
    assert (await wait).action == "accept"
    asked = await urlmode.create(**ACCOUNT, **me, ttl=0.3)
    assert (await urlmode.wait_for_completion(asked.elicitation_id, **me)).reason == "expired"
    assert [record.code for record in caplog.records] == ["URLMODE_POLLING"]  # type: ignore[attr-defined]


async def test_in_transaction_mode_everything_else_works(
    open_urlmode: OpenUrlMode, callback: Callback, start_pooler: StartPooler
) -> None:
    urlmode = open_urlmode(database_url=start_pooler("transaction"))
    me = owner()
    made = await asyncio.gather(*(urlmode.create(**ACCOUNT, **me) for _ in range(50)))
    assert len({each.elicitation_id for each in made}) == 50
    first = await urlmode.create(**ACCOUNT, **me, exclusive=True, resume_key="a")
    second = await urlmode.create(**ACCOUNT, **me, exclusive=True, resume_key="b")
    assert (await urlmode.wait_for_completion(first.elicitation_id, **me)).reason == "superseded"
    assert (await urlmode.create(**ACCOUNT, **me, resume_key="b")).elicitation_id == second.elicitation_id
    assert await urlmode.abandon(second.elicitation_id, **me)
    with pytest.raises(ElicitationTimeoutError):
        other = await urlmode.create(**ACCOUNT, **me)
        await urlmode.wait_for_completion(other.elicitation_id, **me, timeout=0.1)
    assert await urlmode.cancel(other.elicitation_id, **me)

    asked = await urlmode.create(**PAYMENT, **me)
    reference = await callback.paid(asked.elicitation_id)
    assert [each.reference for each in await urlmode.unclaimed() if each.subject == me["subject"]] == [reference]
    claim = await urlmode.begin_claim(asked.elicitation_id, **me, lease=2)
    assert isinstance(claim, BegunClaim)
    await asyncio.sleep(2.5)
    assert not claim.lost.is_set(), "the lease was not renewed"
    assert await claim.fulfil("made")
    again = await urlmode.begin_claim(asked.elicitation_id, **me)
    assert isinstance(again, FulfilledClaim) and again.result == "made"
    assert await again.confirm()
    assert await urlmode.purge() >= 0 and isinstance(await urlmode.refunds(), list)

    form: InputForm = {"title": "T", "fields": [{"name": "key", "type": "text", "label": "L"}]}
    typed = await urlmode.create_input(provider="intake", **me, form=form, verify_timeout=30)
    found: list[Problem | None] = [Problem("key", "Wrong."), None]
    wait = asyncio.create_task(
        urlmode.wait_for_completion(typed.elicitation_id, **me, verify=lambda asked: found.pop(0))
    )
    for value in ("a", "b"):
        await callback.open(typed.elicitation_id, me, "intake")
        assert await callback.answer(typed.elicitation_id, me, {"values": {"key": value}}) == "processing"
        await until("it is verified", lambda left="ab".index(value) + 1: len(found) == 2 - left)  # type: ignore[misc]
        while value == "a" and (await callback.shown(typed.elicitation_id, me))[1] is None:
            await asyncio.sleep(0.05)
    assert (await wait).values == {"key": "b"}


async def test_in_session_mode_nothing_is_polled(
    open_urlmode: OpenUrlMode, callback: Callback, start_pooler: StartPooler
) -> None:
    """LISTEN works there."""
    urlmode = open_urlmode(database_url=start_pooler("session"))
    me = owner()
    asked = await urlmode.create(**ACCOUNT, **me)
    wait = asyncio.create_task(urlmode.wait_for_completion(asked.elicitation_id, **me))
    await until("notifications arrive", lambda: urlmode._listener.receives_notifications)
    reads = _count_reads(urlmode)
    await asyncio.sleep(1.5)
    assert reads == [], "polled, although notifications arrive"
    await callback.come_back(asked.elicitation_id, me, {"code": "c"})
    assert (await wait).action == "accept"


async def test_one_query_reads_for_all_waits_that_poll(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    urlmode = open_urlmode(listen=False)
    owners = [owner() for _ in range(4)]
    made = await asyncio.gather(*(urlmode.create(**ACCOUNT, **owners[number % 4]) for number in range(200)))
    waits = [
        asyncio.create_task(urlmode.wait_for_completion(asked.elicitation_id, **owners[number % 4]))
        for number, asked in enumerate(made)
    ]
    await until("it reads", lambda: urlmode._listener.listening)
    await asyncio.sleep(1)
    reads = _count_reads(urlmode)
    await asyncio.sleep(4)
    # At growing intervals, each for all.
    assert 1 <= len(reads) <= 8 and set(reads) == {200}, reads
    for number, asked in enumerate(made):
        await callback.come_back(asked.elicitation_id, owners[number % 4], {"code": "c"})
    assert {outcome.action for outcome in await asyncio.gather(*waits)} == {"accept"}


def _count_reads(urlmode: UrlMode) -> list[int]:
    """How many rows each read from now on asks for."""
    reads: list[int] = []
    query = urlmode._listener.query

    async def counted(statement: str, values: Any, _reads: bool = False) -> Any:
        if statement == READ_PAID:
            reads.append(len(values[0]))
        return await query(statement, values)

    urlmode._listener.query = counted  # type: ignore[method-assign]
    return reads
