"""The ledger: everything about money, in order, each entry at least once, for one instance at a time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta, timezone
from typing import Any, cast

import psycopg
import pytest
from conftest import Callback, OpenUrlMode, Owner, owner, until

from urlmode import Expected, LedgerEntry, UrlMode, UrlModeClosedError

REPORT: dict[str, Any] = {
    "provider": "stripe",
    "kind": "payment",
    "target_url": "https://checkout.example/pay",
    "expected": Expected(1050, "EUR"),
    "item": "report:42",
}


async def starts_here() -> str:
    """A consumer that begins at the next entry, as if it had read those of the other tests."""
    consumer = f"of-{uuid.uuid4()}"
    async with await connect() as admin:
        await admin.execute(
            "SELECT urlmode.number_ledger() FROM generate_series(1, (SELECT 1 + count(*) / 1000 FROM urlmode.ledger"
            " WHERE number IS NULL))"
        )
        await admin.execute(
            "INSERT INTO urlmode.ledger_consumer (tenant, consumer, number)"
            " SELECT '', %s, coalesce(max(number), 0) FROM urlmode.ledger",
            [consumer],
        )
    return consumer


async def connect() -> psycopg.AsyncConnection[Any]:
    return await psycopg.AsyncConnection.connect(os.environ["URLMODE_ADMIN_DATABASE_URL"], autocommit=True)


async def buy(urlmode: UrlMode, callback: Callback) -> tuple[str, Owner, str]:
    me = owner()
    elicitation = await urlmode.create(**REPORT, **me)
    return elicitation.elicitation_id, me, await callback.paid(elicitation.elicitation_id)


def follow(urlmode: UrlMode, consumer: str) -> AsyncGenerator[LedgerEntry, None]:
    return cast(AsyncGenerator[LedgerEntry, None], urlmode.ledger(consumer=consumer))


async def next_of(loop: AsyncGenerator[LedgerEntry, None], id: str) -> LedgerEntry:
    async for entry in loop:
        if entry.elicitation_id == id:
            return entry
    raise AssertionError("the loop has ended")


async def test_it_is_read_in_order_and_again_until_the_next_entry_is_asked_for(
    open_urlmode: OpenUrlMode, callback: Callback
) -> None:
    one, other = open_urlmode(), open_urlmode()
    consumer = await starts_here()
    id, me, reference = await buy(one, callback)
    await callback.event(id, "refunded", amount=1050, currency="EUR", reference=reference, refund="re-" + reference)
    with contextlib.suppress(LookupError):
        async for entry in one.ledger(consumer=consumer):
            if entry.elicitation_id == id:
                assert (entry.type, entry.kind, entry.payment, entry.amount) == ("paid", "payment", reference, 1050)
                assert (entry.subject, entry.item, entry.refunded) == (me["subject"], "report:42", 0)
                assert entry.entered_at.tzinfo is not None
                raise LookupError
    async with contextlib.aclosing(follow(other, consumer)) as loop:
        assert (await next_of(loop, id)).type == "paid", "a loop that raises leaves its entry to the next one"
        back = await next_of(loop, id)
        assert (back.type, back.reference, back.payment, back.refunded) == (
            "refunded", "re-" + reference, reference, 1050,
        )  # fmt: skip
    async with contextlib.aclosing(follow(one, consumer)) as loop:
        assert (await next_of(loop, id)).type == "refunded"


async def test_one_instance_reads_and_others_wait_for_their_turn(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    one, other = open_urlmode(), open_urlmode()
    consumer = await starts_here()
    id, _, _ = await buy(one, callback)
    slow, quick = follow(one, consumer), follow(other, consumer)
    assert (await next_of(slow, id)).type == "paid"
    turn = asyncio.ensure_future(next_of(quick, id))
    await asyncio.sleep(0.3)
    assert not turn.done()
    async with await connect() as admin:  # as if the process had stood still
        await admin.execute(
            "UPDATE urlmode.ledger_consumer SET leased_until = now() WHERE consumer = %s", [consumer]
        )
    assert (await asyncio.wait_for(turn, 60)).type == "paid"
    late = asyncio.ensure_future(anext(slow))
    await asyncio.sleep(0.3)
    assert not late.done(), "it has lost its lease, and waits"
    await quick.aclose()
    await one.aclose()
    with pytest.raises(StopAsyncIteration):
        await late


async def test_a_loop_waits_for_what_comes_and_ends_with_aclose(urlmode: UrlMode, callback: Callback) -> None:
    consumer = await starts_here()
    seen: list[str] = []

    async def loop() -> None:
        async for entry in urlmode.ledger(consumer=consumer):
            seen.append(f"{entry.elicitation_id} {entry.type}")

    looping = asyncio.ensure_future(loop())
    id, me, _ = await buy(urlmode, callback)
    await until("the payment is read", lambda: f"{id} paid" in seen)
    assert await urlmode.claim(id, **me)
    await until("the claim is read, which no notification tells", lambda: f"{id} delivered" in seen)

    async def acknowledged() -> bool:
        async with await connect() as admin:
            found = await admin.execute(
                "SELECT c.number >= (SELECT max(number) FROM urlmode.ledger) FROM urlmode.ledger_consumer c"
                " WHERE c.consumer = %s", [consumer],
            )  # fmt: skip
            row = await found.fetchone()
            return row is not None and bool(row[0])

    while not await acknowledged():
        await asyncio.sleep(0.05)
    await urlmode.aclose()
    await asyncio.wait_for(looping, 10)
    async with await connect() as admin:
        found = await admin.execute(
            "SELECT leased_until FROM urlmode.ledger_consumer WHERE consumer = %s", [consumer]
        )
        assert await found.fetchall() == [(None,)], "nobody has to wait for the lease of a process that has closed"
    with pytest.raises(UrlModeClosedError):
        await anext(follow(urlmode, consumer))


async def test_paid_counts_what_went_back(urlmode: UrlMode, callback: Callback) -> None:
    id, me, reference = await buy(urlmode, callback)
    mine: Any = {"subject": me["subject"], "item": "report:42"}
    now = datetime.now(timezone.utc)
    assert await urlmode.paid(**mine)
    assert await urlmode.paid(**mine, since=now - timedelta(minutes=1))
    assert not await urlmode.paid(**mine, since=now + timedelta(minutes=1))
    assert not await urlmode.paid(subject=me["subject"], item="report:43")
    assert not await urlmode.paid(**mine, delivered=True)
    assert await urlmode.claim(id, **me)
    assert await urlmode.paid(**mine, delivered=True)
    await callback.event(id, "refunded", amount=1050, currency="EUR", reference=reference, refund="re-" + reference)
    assert not await urlmode.paid(**mine)


@pytest.mark.parametrize("consumer", ["", "Books", "a b", "x" * 65, None])
async def test_what_is_no_consumer_is_refused(urlmode: UrlMode, consumer: Any) -> None:
    with pytest.raises(ValueError, match="consumer"):
        await anext(follow(urlmode, consumer))


async def test_what_is_no_subject_or_item_is_refused(urlmode: UrlMode) -> None:
    wrong: Any
    for wrong in ({"subject": "", "item": "x"}, {"subject": "ann", "item": ""}, {"subject": "ann", "item": "x" * 513}):
        with pytest.raises(ValueError, match="subject|item"):
            await urlmode.paid(**wrong)
