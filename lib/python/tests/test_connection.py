"""Connections that break, pools, and what is left behind: nothing."""

from __future__ import annotations

import asyncio
import gc
import socket
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import psycopg_pool
import pytest
from conftest import ACCOUNT, Callback, OpenUrlMode, admin, owner, required, until

from urlmode import BegunClaim, ElicitationNotFoundError, TakenClaim, UrlMode, UrlModeClosedError
from urlmode._core.contract_calls import NewRow, create_elicitation
from urlmode._core.leader import Leadership
from urlmode._core.pool import Pool


def named(name: str) -> str:
    url = required("URLMODE_DATABASE_URL")
    return f"{url}{'&' if '?' in url else '?'}application_name={name}"


async def test_a_wait_outlives_its_connection(open_urlmode: OpenUrlMode, callback: Callback, caplog: Any) -> None:
    urlmode = open_urlmode(database_url=named("outlives"))
    me = owner()
    elicitation = await urlmode.create(**ACCOUNT, **me)
    wait = asyncio.create_task(urlmode.wait_for_completion(elicitation.elicitation_id, **me))
    for _ in range(3):
        await until("it listens", lambda: urlmode._listener.receives_notifications)
        await admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'outlives'")
        await until("it has lost its connection", lambda: not urlmode._listener.listening)
    await callback.come_back(elicitation.elicitation_id, me, {"code": "c"})
    assert (await wait).result == {"code": "c"}


async def test_connections_that_ended_while_they_were_idle_are_not_used(open_urlmode: OpenUrlMode) -> None:
    urlmode = open_urlmode(database_url=named("ended"))
    me = owner()
    await asyncio.gather(*(urlmode.cancel("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **me) for _ in range(4)), return_exceptions=True)
    assert len(await admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended'")) > 0
    while await admin("SELECT pid FROM pg_stat_activity WHERE application_name = 'ended'"):
        await asyncio.sleep(0.05)
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
    elicitation = await urlmode.create(**ACCOUNT, **me)
    wait = asyncio.create_task(urlmode.wait_for_completion(elicitation.elicitation_id, **me))
    await until("it reads", lambda: urlmode._listener.listening)
    await callback.come_back(elicitation.elicitation_id, me, {"code": "c"})
    assert (await wait).action == "accept"
    assert [record.code for record in caplog.records] == ["URLMODE_POLLING"]


async def test_a_pool_of_the_application(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    async with psycopg_pool.AsyncConnectionPool(required("URLMODE_DATABASE_URL"), min_size=1, max_size=2) as pool:
        urlmode = open_urlmode(pool=pool)
        me = owner()
        elicitation = await urlmode.create(**ACCOUNT, **me)
        wait = asyncio.create_task(urlmode.wait_for_completion(elicitation.elicitation_id, **me))
        await callback.come_back(elicitation.elicitation_id, me, {"code": "c"})
        assert (await wait).action == "accept"
        await urlmode.aclose()
        async with pool.connection() as connection:
            await connection.execute("SELECT 1")


async def test_a_pool_of_the_application_answers_what_is_committed(open_urlmode: OpenUrlMode) -> None:
    """A commit that fails is an error of the call, and one bad element of a batch fails alone."""
    admin = await psycopg.AsyncConnection.connect(required("URLMODE_ADMIN_DATABASE_URL"), autocommit=True)
    async with admin, psycopg_pool.AsyncConnectionPool(required("URLMODE_DATABASE_URL"), min_size=1, max_size=2) as pool:
        urlmode = open_urlmode(pool=pool)
        await admin.execute("""CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE 'not committed' USING ERRCODE = 'P0001'; END $$""")
        await admin.execute("""CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON urlmode.elicitation DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (NEW.resume_key = 'never') EXECUTE FUNCTION refuse()""")
        try:
            with pytest.raises(psycopg.Error, match="not committed"):
                await urlmode.create(**ACCOUNT, **owner(), resume_key="never")
            made = await asyncio.gather(
                *(urlmode.create(**ACCOUNT, **owner(), resume_key=key) for key in ("a", "never", "b")), return_exceptions=True,
            )  # fmt: skip
        finally:
            await admin.execute("DROP TRIGGER refuse ON urlmode.elicitation")
            await admin.execute("DROP FUNCTION refuse()")
        assert [isinstance(each, psycopg.Error) for each in made] == [False, True, False]


async def test_a_missing_privilege_is_an_error_at_once(open_urlmode: OpenUrlMode) -> None:
    urlmode = open_urlmode(database_url=required("URLMODE_PROGRAMS_DATABASE_URL"))
    me = owner()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await urlmode.create(**ACCOUNT, **me)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **me)


async def test_an_error_does_not_quote_the_row(urlmode: UrlMode) -> None:
    """PostgreSQL shows what is twice in a row that it refuses, on each of the two ways to it."""
    wait = asyncio.create_task(urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **owner()))
    await until("it listens", lambda: urlmode._listener.listening)
    listening = urlmode._listener._connection
    assert listening
    row = NewRow(
        id=str(uuid4()), provider="github", kind="oauth", subject="a secret subject", session="",
        binding=bytes(16), requester="n", target_url="https://c.example", expected=None, verifier=None, ttl_ms=1000,
        exclusive=False, resume_key=None, can_recheck=True, request=bytes(16), checkout=None, client_id=None, link_kid=1,
        form=None, approvers=None, verify_ms=None, traceparent=None, item=None, tenant="",
    )  # fmt: skip
    await create_elicitation(urlmode._pool.run, [row])
    for query in (urlmode._pool.run, urlmode._pool.query, listening.query):
        with pytest.raises(psycopg.errors.UniqueViolation) as error:
            await create_elicitation(query, [row])
        assert error.value.sqlstate == "23505"
        assert "elicitation" in str(error.value)  # what is wrong
        assert row.id not in "".join(traceback.format_exception(error.value))
        assert error.value.diag.message_detail is None
    with pytest.raises(ElicitationNotFoundError):
        await wait


async def test_aclose_does_not_wait_for_a_statement_that_does_not_end(
    open_urlmode: OpenUrlMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urlmode._core.pool.QUERY_S", 3600)
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
        monkeypatch.setattr("urlmode._core.pool.QUERY_S", 0.5)
        urlmode = open_urlmode(pool=pool)
        with pytest.raises(psycopg.OperationalError):
            await asyncio.wait_for(urlmode._database.query("SELECT pg_sleep(%s)", [3600]), 60)
        calls: list[Any] = [urlmode.unclaimed(), urlmode.create(**ACCOUNT, **me)]
        async with pool.connection(timeout=60):  # the only one
            ended = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 60)
        assert {isinstance(each, psycopg.OperationalError) for each in ended} == {True}, ended
        monkeypatch.setattr("urlmode._core.pool.QUERY_S", 3600)
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


@asynccontextmanager
async def busy() -> AsyncIterator[Callable[[], Awaitable[int]]]:
    """A database in which no statement ends that has to do with elicitations. Yields what says how many wait."""
    url = required("URLMODE_ADMIN_DATABASE_URL")
    async with await psycopg.AsyncConnection.connect(url) as blocking:
        await blocking.execute("LOCK TABLE urlmode.elicitation IN ACCESS EXCLUSIVE MODE")

        async def sent() -> int:
            rows = await admin("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'storm' AND wait_event_type = 'Lock'")
            return int(rows[0][0])

        yield sent


@pytest.mark.parametrize("own", [True, False], ids=["its own pool", "another pool"])
async def test_a_cancelled_call_that_was_never_sent_is_not_carried_out(open_urlmode: OpenUrlMode, callback: Callback, own: bool) -> None:
    url = named("storm")
    async with psycopg_pool.AsyncConnectionPool(url, min_size=0, max_size=4, kwargs={"autocommit": True}, open=False) as pool:
        urlmode = open_urlmode(database_url=url) if own else open_urlmode(pool=pool)
        users = [owner() for _ in range(230)]
        accounts = [owner() for _ in range(30)]
        asked = await asyncio.gather(*(urlmode.create(**ACCOUNT, **each) for each in accounts))
        for one, each in zip(asked, accounts):
            await callback.come_back(one.elicitation_id, each, {"code": "c"})

        async def storm(calls: list[Any]) -> None:
            async with busy() as sent:
                tasks = [asyncio.ensure_future(call) for call in calls]
                while not await sent():
                    await asyncio.sleep(0.01)
                tasks += [asyncio.ensure_future(urlmode.abandon(str(uuid4()), **owner())) for _ in range(100)]
                await asyncio.sleep(0.05)
                for task in tasks:
                    task.cancel()
                ended = await asyncio.gather(*tasks, return_exceptions=True)
                assert {type(each) for each in ended} == {asyncio.CancelledError}
                await until("the queue is empty", lambda: len(asyncio.all_tasks()) < 150)

        await storm([urlmode.begin_claim(one.elicitation_id, **each) for one, each in zip(asked, accounts)])
        # Also the accounts whose claims were sent can be claimed: nobody has sent their codes.
        for one, each in zip(asked, accounts):
            claim = await urlmode.begin_claim(one.elicitation_id, **each)
            while isinstance(claim, TakenClaim):  # what was sent before the cancel is being given back
                await asyncio.sleep(0.05)
                claim = await urlmode.begin_claim(one.elicitation_id, **each)
            assert isinstance(claim, BegunClaim)

        await storm([urlmode.create(**ACCOUNT, **each) for each in users])
        await urlmode.aclose()
    subjects = [each["subject"] for each in users]
    (written,), = await admin("SELECT count(*) FROM urlmode.elicitation WHERE subject = ANY (%s)", subjects)
    assert written <= 2 * 32, "only the statements that were under way"


async def test_what_was_sent_is_carried_out_and_waited_for(open_urlmode: OpenUrlMode) -> None:
    urlmode = open_urlmode(database_url=named("storm"))
    me = owner()
    async with busy() as sent:
        create = asyncio.create_task(urlmode.create(**ACCOUNT, **me))
        while not await sent():
            await asyncio.sleep(0.01)
        create.cancel()
        with pytest.raises(asyncio.CancelledError):
            await create
        closing = asyncio.create_task(urlmode.aclose())
    await closing
    assert (await admin("SELECT count(*) FROM urlmode.elicitation WHERE subject = %s", me["subject"]))[0][0] == 1
    for use in (
        lambda: urlmode.create(**ACCOUNT, **me), lambda: urlmode.unclaimed(),
        lambda: urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **me),
    ):  # fmt: skip
        with pytest.raises(UrlModeClosedError):
            await use()
    await urlmode.aclose()


def test_another_event_loop(keys_file: Path) -> None:
    urlmode = UrlMode(database_url=named("loops"), keys_file=keys_file, base_url="https://c.example")

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


async def test_a_call_that_is_taken_back_just_when_its_connection_is_there_leaves_none() -> None:
    made: list[psycopg.AsyncConnection[Any]] = []

    async def connect() -> psycopg.AsyncConnection[Any]:
        made.append(await psycopg.AsyncConnection.connect(required("URLMODE_DATABASE_URL"), autocommit=True))
        asyncio.get_running_loop().call_soon(calling.cancel)
        return made[0]

    pool = Pool(connect, None, Leadership({}))
    calling = asyncio.ensure_future(pool._connect_new())
    with pytest.raises(asyncio.CancelledError):
        await calling
    await pool.close()
    assert made[0].closed
