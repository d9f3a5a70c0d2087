"""Claims and reports while PostgreSQL is too slow for the number of calls, and some of them are refused."""

from __future__ import annotations

import asyncio
import gc
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from conftest import until

from urlmode import BegunClaim, UrlModeBusyError
from urlmode._core.claims import Claims
from urlmode._core.contract_calls import RowKey
from urlmode._core.keys import Key, KeyRing
from urlmode._core.listener import Listener
from urlmode._core.payments import PaymentReports
from urlmode._core.sending import current_sending


class Server:
    """Answers `begin_lease`, and the other statements unless it is busy."""

    def __init__(self, outcome: str, busy: int) -> None:
        self.outcome = outcome
        self.busy = busy
        self.renewals = 0
        self.answers = {"renew_lease": "renewed", "fulfil_lease": "fulfilled"}
        self.on_renewal: Callable[[], Awaitable[object]] | None = None

    async def query(self, statement: str, values: Any, reads: bool = False) -> list[tuple[Any, ...]]:
        if "renew_lease" in statement:
            self.renewals += 1
            if self.on_renewal is not None:
                await self.on_renewal()
        if "begin_lease" in statement:
            return [(self.outcome, "", 1, None, None)]
        if self.busy > 0:
            self.busy -= 1
            raise UrlModeBusyError("10000 calls are in progress")
        return [(self.answers.get(next((name for name in self.answers if name in statement), ""), True),)]


async def begin(
    outcome: str, busy: int, lease_ms: int = 60_000, server: Server | None = None
) -> tuple[Claims, BegunClaim]:
    claims = Claims((server or Server(outcome, busy)).query, KeyRing([Key(1, bytes(32))]), 1000, cast(Any, None), cast(Any, None))
    claim = await claims.begin(RowKey(str(uuid.uuid4()), bytes(16)), None, lease_ms, 0)
    assert isinstance(claim, BegunClaim)
    return claims, claim


async def test_a_lease_that_cannot_be_renewed_is_lost() -> None:
    claims, claim = await begin("begun", 1_000_000, 300)
    await asyncio.wait_for(claim.lost.wait(), 30)
    await claims.close()


@pytest.mark.parametrize("given", [None, str(uuid.uuid4())])
async def test_a_cancelled_call_gives_an_account_back_unless_another_may_have_the_same_claim(given: str | None) -> None:
    """With a `claim_id` of the caller, another call may be sending the code."""
    asked, answered = asyncio.Event(), asyncio.Event()
    statements: list[str] = []

    async def query(statement: str, values: Any, reads: bool = False) -> list[tuple[Any, ...]]:
        statements.append(statement)
        if "begin_lease" not in statement:
            return [(True,)]
        current_sending().sent = True
        asked.set()
        await answered.wait()
        return [("claimed", "", None, None, None)]

    claims = Claims(query, KeyRing([Key(1, bytes(32))]), 1000, cast(Any, None), cast(Any, None))
    beginning = asyncio.ensure_future(claims.begin(RowKey(str(uuid.uuid4()), bytes(16)), None, 60_000, 0, given))
    await asked.wait()
    beginning.cancel()
    await asyncio.wait({beginning})
    closing = asyncio.ensure_future(claims.close())  # Otherwise a server that is stopped would lose the account.
    await asyncio.sleep(0)
    answered.set()
    await closing
    assert any("release_unsent" in statement for statement in statements) == (given is None)
    assert not any("end_exchange" in statement for statement in statements)


async def test_a_lease_that_nobody_can_end_is_not_renewed() -> None:
    server = Server("begun", 0)

    async def work() -> None:
        _, claim = await begin("begun", 0, 300, server)
        await until("it is renewed", lambda: server.renewals >= 2)
        assert not claim.lost.is_set()
        raise LookupError

    working = asyncio.ensure_future(work())
    await asyncio.wait({working})
    assert isinstance(working.exception(), LookupError)
    del working
    gc.collect()
    await until("nothing is left running", lambda: asyncio.all_tasks() == {asyncio.current_task()})
    renewals = server.renewals
    await asyncio.sleep(0.3)
    assert server.renewals == renewals


async def test_a_claim_that_ends_during_a_renewal_is_not_renewed_again() -> None:
    server = Server("begun", 0)
    claims, claim = await begin("begun", 0, 300, server)
    server.on_renewal = claim.release
    await until("nothing is left running", lambda: not claims._asking._tasks and not claims._renewing._tasks)
    assert (server.renewals, claim.lost.is_set()) == (1, False)


async def test_work_that_is_done_is_kept_when_there_is_time_again() -> None:
    claims, claim = await begin("begun", 1)
    assert await claim.fulfil("done")
    await claims.close()


async def test_a_call_is_told_that_all_that_was_paid_went_back() -> None:
    for renewed, fulfilled in (("refunded", "fulfilled"), ("disputed", "fulfilled"), ("renewed", "refunded")):
        server = Server("begun", 0)
        server.answers = {"renew_lease": renewed, "fulfil_lease": fulfilled}
        claims, claim = await begin("begun", 0, 300, server)
        if renewed != "renewed":
            await asyncio.wait_for(claim.refunded.wait(), 30)
            assert not claim.lost.is_set()
        assert await claim.fulfil("done")
        assert claim.refunded.is_set()
        await claims.close()


@pytest.mark.parametrize("result", ["x" * 16_777_251, object()])
async def test_what_cannot_be_kept_is_not_final(result: object) -> None:
    server = Server("begun", 0)
    claims, claim = await begin("begun", 0, 3_000, server)
    assert not await claim.fulfil(result)
    renewals = server.renewals
    await until("it is renewed", lambda: server.renewals > renewals)
    assert await claim.release()
    await claims.close()


async def test_who_begins_at_once_waits_for_the_confirmation() -> None:
    server = Server("begun", 0)
    steps: list[str] = []

    async def query(statement: str, values: Any, reads: bool = False) -> list[tuple[Any, ...]]:
        if "confirm_claim" in statement:
            await asyncio.sleep(0.05)
        steps.append("confirm" if "confirm_claim" in statement else "begin")
        return await server.query(statement, values)

    claims = Claims(query, KeyRing([Key(1, bytes(32))]), 1000, cast(Any, None), cast(Any, None))
    key = RowKey(str(uuid.uuid4()), bytes(16))
    claim = await claims.begin(key, None, 60_000, 0)
    assert isinstance(claim, BegunClaim)
    confirming = asyncio.ensure_future(claim.confirm())
    await asyncio.sleep(0)
    await claims.begin(key, None, 60_000, 0)
    assert await confirming and steps == ["begin", "confirm", "begin"]
    await claims.close()


async def test_a_connected_account_stays_connected() -> None:
    _, claim = await begin("claimed", 1)
    assert not await claim.fulfil("done")


async def test_the_error_of_the_work_is_that_of_the_call() -> None:
    _, claim = await begin("claimed", 1)
    with pytest.raises(LookupError):
        async with claim:
            raise LookupError


async def test_reports_of_money_go_on() -> None:
    async def read(**filter: Any) -> list[int]:
        raise UrlModeBusyError("10000 calls are in progress")

    money = PaymentReports(cast(Listener, None), "late", read, str, lambda _: "")
    assert await money._read_quietly({}) == []


class Announcing:
    """The part of the listener that reports of money use."""

    listening = False

    def __init__(self) -> None:
        self.on_notified: list[Any] = []

    def acquire(self, user: object) -> None:
        pass

    release = acquire


async def test_money_is_told_once() -> None:
    async def read(**filter: Any) -> list[str]:
        return str(filter["id"]).split()

    listener = Announcing()
    money = PaymentReports(cast(Listener, listener), "late", read, str, lambda _: "")
    reports: Any = money.reports()

    async def next_after(*ids: str) -> str:
        told = asyncio.ensure_future(anext(reports))
        await asyncio.sleep(0)
        for id in ids:
            listener.on_notified[0]([{"id": id, "late": True}])
        return str(await told)

    assert await next_after("a") == "a"
    assert await next_after("a", "a b") == "b"
    assert await next_after("b a c") == "c"
    # Nobody asks for the next one, and nothing of it goes on.
    await money.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert await anext(reports, "none") == "none"


async def test_who_waits_for_money_hears_that_it_is_closed() -> None:
    async def read(**filter: Any) -> list[str]:
        return []

    money = PaymentReports(cast(Listener, Announcing()), "late", read, str, lambda _: "")
    reports: Any = money.reports()
    told = asyncio.ensure_future(anext(reports, "none"))
    await asyncio.sleep(0)
    await money.close()
    assert await asyncio.wait_for(told, 10) == "none"
