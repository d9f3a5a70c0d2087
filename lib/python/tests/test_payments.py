"""Payments: claims, late ones, rechecks, and money that goes back."""

from __future__ import annotations

import asyncio
import os
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from conftest import ACCOUNT, TOO_DEEP, Callback, OpenUrlMode, Owner, owner, until

from urlmode import (
    Answer,
    BegunClaim,
    ChangedClaim,
    ClaimLostError,
    Elicitation,
    ElicitationMismatchError,
    ElicitationNotFoundError,
    ElicitationOpenError,
    ElicitationReferenceError,
    ElicitationTimeoutError,
    Expected,
    FulfilledClaim,
    LeasedClaim,
    Payment,
    TakenClaim,
    UrlMode,
)
from urlmode._core.token import binding_of

REPORT: dict[str, Any] = {
    "provider": "stripe",
    "kind": "payment",
    "target_url": "https://checkout.example/pay",
    "expected": Expected(1050, "EUR"),
}


async def pay(urlmode: UrlMode, callback: Callback, **more: Any) -> tuple[Elicitation, Owner, str]:
    me = owner()
    asked = await urlmode.create(**REPORT, **me, **more)
    return asked, me, await callback.paid(asked.elicitation_id)


async def test_one_call_claims(urlmode: UrlMode, callback: Callback) -> None:
    asked, me, reference = await pay(urlmode, callback)
    claims = await asyncio.gather(
        *(urlmode.claim(asked.elicitation_id, **me, reference=reference) for _ in range(10))
    )
    assert sorted(claims) == [False] * 9 + [True]
    other = await urlmode.create(**REPORT, **me)
    with pytest.raises(ElicitationOpenError):
        await urlmode.claim(other.elicitation_id, **me)


async def test_unclaimed_until_a_call_claims_it(urlmode: UrlMode, callback: Callback) -> None:
    since = datetime.now(timezone.utc) - timedelta(minutes=1)
    asked, me, reference = await pay(urlmode, callback, resume_key="a report")

    async def listed(**filter: Any) -> Any:
        return [each for each in await urlmode.unclaimed(**filter) if each.reference == reference]

    (payment,) = await listed(since=since, provider="stripe")
    assert (payment.elicitation_id, payment.subject, payment.session) == (asked.elicitation_id, *me.values())
    assert (payment.amount, payment.currency, payment.matches, payment.late) == (1050, "EUR", True, False)
    assert (payment.resume_key, payment.held, payment.refunded) == ("a report", False, 0)
    assert payment.result["reference"] == reference
    assert payment.proven_at > since
    assert await listed(provider="other") == []
    assert await listed(since=datetime.now(timezone.utc) + timedelta(hours=1)) == []
    assert await urlmode.claim(asked.elicitation_id, **me, reference=reference)
    assert await listed() == []


async def test_a_result_that_cannot_be_read_hides_no_payment(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create(**REPORT, **me)
    deep = f"cs_{uuid.uuid4()}"
    await callback.event(asked.elicitation_id, "paid", amount=1050, currency="EUR", reference=deep, text=TOO_DEEP)
    _, _, other = await pay(urlmode, callback)
    listed = {each.reference: each for each in await urlmode.unclaimed()}
    assert (listed[deep].amount, listed[deep].result, other in listed) == (1050, None, True)


async def test_a_late_payment_is_reported_and_offered_to_the_next_call(
    open_urlmode: OpenUrlMode, callback: Callback
) -> None:
    urlmode, other = open_urlmode(), open_urlmode()
    reports: list[Payment] = []

    async def listen() -> None:
        async for payment in other.late_payments():
            reports.append(payment)

    listening = asyncio.create_task(listen())
    await until("it listens", lambda: other._listener.receives_notifications)
    me = owner()
    asked = await urlmode.create(**REPORT, **me, resume_key="report")
    assert await urlmode.cancel(asked.elicitation_id, **me)
    reference = await callback.paid(asked.elicitation_id)
    await until("it is reported", lambda: any(each.reference == reference for each in reports))
    again = await urlmode.create(**REPORT, **me, resume_key="report")
    assert again.elicitation_id == asked.elicitation_id
    outcome = await urlmode.wait_for_completion(again.elicitation_id, **me)
    assert (outcome.action, outcome.late, outcome.reference) == ("accept", True, reference)
    await other.aclose()
    await listening
    assert [each.elicitation_id for each in reports].count(asked.elicitation_id) == 1


async def test_another_amount_is_never_an_accept(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create(**REPORT, **me)
    reference = await callback.paid(asked.elicitation_id, amount=1)
    outcome = await urlmode.wait_for_completion(asked.elicitation_id, **me)
    assert (outcome.action, outcome.reason) == ("cancel", "amount_mismatch")
    (payment,) = [each for each in await urlmode.unclaimed() if each.reference == reference]
    assert not payment.matches


async def test_complete(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create(**REPORT, **me)
    paid: dict[str, Any] = {"action": "accept", "amount": 1050, "currency": "eur", "reference": f"r-{uuid.uuid4()}"}
    with pytest.raises(TypeError, match="amount"):
        await urlmode.complete(asked.elicitation_id, **me, action="accept")
    with pytest.raises(ElicitationMismatchError):
        await urlmode.complete(asked.elicitation_id, **me, **{**paid, "amount": 1})
    assert await urlmode.complete(asked.elicitation_id, **me, **paid, result={"a": [1, None]})
    assert not await urlmode.cancel(asked.elicitation_id, **me)
    outcome = await urlmode.wait_for_completion(asked.elicitation_id, **me)
    assert (outcome.action, outcome.reference, outcome.result) == ("accept", paid["reference"], {"a": [1, None]})
    other = await urlmode.create(**REPORT, **me)
    with pytest.raises(ElicitationReferenceError):
        await urlmode.complete(other.elicitation_id, **me, **paid)


async def test_cancel_says_what_it_has_interrupted(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create(**ACCOUNT, **me)
    await callback.open(asked.elicitation_id, me)
    assert not await urlmode.abandon(asked.elicitation_id, **me)
    assert await urlmode.cancel(asked.elicitation_id, **me, reason="enough")
    outcome = await urlmode.wait_for_completion(asked.elicitation_id, **me)
    assert (outcome.action, outcome.reason, outcome.interrupted) == ("cancel", "enough", "opened")


async def test_a_claim_with_two_ends(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    one, other = open_urlmode(), open_urlmode()
    asked, me, reference = await pay(one, callback)
    id = asked.elicitation_id
    begun = await one.begin_claim(id, **me, reference=reference)
    assert isinstance(begun, BegunClaim)
    assert begun.reference == reference
    leased = await other.begin_claim(id, **me, reference=reference)
    assert isinstance(leased, LeasedClaim)
    assert leased.until > datetime.now(timezone.utc)
    waiting = asyncio.create_task(other.begin_claim(id, **me, reference=reference, timeout=20))
    assert await begun.fulfil({"content": ["é", 1]})
    fulfilled = await waiting
    assert isinstance(fulfilled, FulfilledClaim)
    assert (fulfilled.result, fulfilled.reference, fulfilled.fence) == ({"content": ["é", 1]}, reference, begun.fence)
    assert await fulfilled.confirm()
    assert not await begun.confirm()
    assert isinstance(await other.begin_claim(id, **me, reference=reference), TakenClaim)
    with pytest.raises(ElicitationNotFoundError):
        await other.begin_claim(id, **owner())


async def test_work_that_fails_releases_its_claim(urlmode: UrlMode, callback: Callback) -> None:
    asked, me, reference = await pay(urlmode, callback)
    first = await urlmode.begin_claim(asked.elicitation_id, **me, reference=reference)
    assert isinstance(first, BegunClaim)
    with pytest.raises(LookupError):
        async with first:
            raise LookupError
    second = await urlmode.begin_claim(asked.elicitation_id, **me)
    assert isinstance(second, BegunClaim)
    assert (second.fence or 0) > (first.fence or 0)
    with pytest.raises(ClaimLostError):
        await first.fulfil(1)
    assert not await second.fulfil(object()), "no JSON: the claim is final"
    assert isinstance(await urlmode.begin_claim(asked.elicitation_id, **me, reference=reference), TakenClaim)


async def test_a_lease_is_renewed_and_lost(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    one, other = open_urlmode(), open_urlmode()
    asked, me, reference = await pay(one, callback)
    begun = await one.begin_claim(asked.elicitation_id, **me, reference=reference, lease=4)
    assert isinstance(begun, BegunClaim)
    await asyncio.sleep(5)
    assert not begun.lost.is_set()
    assert isinstance(await other.begin_claim(asked.elicitation_id, **me, reference=reference), LeasedClaim)
    await one.aclose()
    assert begun.lost.is_set()
    next = await other.begin_claim(asked.elicitation_id, **me, reference=reference, timeout=20)
    assert isinstance(next, BegunClaim)


@pytest.mark.parametrize("kind", ["payment", "account"])
async def test_a_cancel_while_a_claim_begins_gives_it_back(urlmode: UrlMode, callback: Callback, kind: str) -> None:
    if kind == "payment":
        asked, me, _ = await pay(urlmode, callback)
    else:
        me = owner()
        asked = await urlmode.create(**ACCOUNT, **me)
        await callback.come_back(asked.elicitation_id, me, {"code": "c"})
    id = asked.elicitation_id
    begin = asyncio.create_task(urlmode.begin_claim(id, **me, lease=3600))
    while urlmode._pool._in_progress == 0:
        await asyncio.sleep(0)
    begin.cancel()
    with pytest.raises(asyncio.CancelledError):
        await begin
    await until("it is given back", lambda: not urlmode._claims._tasks._tasks and not urlmode._claims._leases)
    if kind == "payment":
        assert isinstance(await urlmode.begin_claim(id, **me), BegunClaim)
    else:
        # What is final stays so, and the page says it.
        assert isinstance(await urlmode.begin_claim(id, **me), TakenClaim)
        statement = "SELECT reason FROM urlmode.look_up(%s::uuid[], %s::bytea[], %s::text[])"
        binding = binding_of(me["subject"], me["session"])
        assert await callback.one(statement, [[id], [binding], ["github"]]) == "exchange_failed"


async def test_the_claim_of_an_account_is_final(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    asked = await urlmode.create(**ACCOUNT, **me)
    await callback.come_back(asked.elicitation_id, me, {"code": "c"})
    claim = await urlmode.begin_claim(asked.elicitation_id, **me)
    assert isinstance(claim, BegunClaim)
    assert (claim.fence, claim.reference, await claim.confirm()) == (None, None, False)
    assert isinstance(await urlmode.begin_claim(asked.elicitation_id, **me), TakenClaim)
    refused = await urlmode.create(**ACCOUNT, **me)
    await urlmode.cancel(refused.elicitation_id, **me)
    assert isinstance(await urlmode.begin_claim(refused.elicitation_id, **me), ChangedClaim)
    assert await urlmode.claim(refused.elicitation_id, **me, action="cancel")


async def test_recheck(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    instances = [open_urlmode(), open_urlmode()]
    me = owner()
    asked = await instances[0].create(**REPORT, **me)
    id = asked.elicitation_id
    asked_for: list[Any] = []
    reference = f"r-{uuid.uuid4()}"

    async def recheck(event: Any) -> Answer:
        asked_for.append(event)
        await asyncio.sleep(0.3)
        return Answer(action="accept", amount=1050, currency="EUR", reference=reference)

    waits = [asyncio.create_task(one.wait_for_completion(id, **me, recheck=recheck)) for one in instances]
    await callback.event(id, "recheck", reference="said by anyone")
    for wait in waits:
        assert (await wait).reference == reference
    (event,) = asked_for
    assert (event.elicitation_id, event.provider, event.reference) == (id, "stripe", "said by anyone")
    assert (event.references, event.expected, event.type) == (["said by anyone"], Expected(1050, "EUR"), "recheck")


async def test_a_recheck_that_fails(urlmode: UrlMode, callback: Callback, caplog: Any) -> None:
    me = owner()
    asked = await urlmode.create(**REPORT, **me)
    id = asked.elicitation_id
    await callback.event(id, "recheck", reference="r")

    def fails(event: Any) -> None:
        raise LookupError(event.reference)

    with pytest.raises(LookupError, match="r"):
        await urlmode.wait_for_completion(id, **me, recheck=fails)
    foreign = Answer(action="accept", amount=1, currency="EUR", reference="r")
    with pytest.raises(ElicitationTimeoutError):
        await urlmode.wait_for_completion(id, **me, recheck=lambda event: foreign, timeout=3)
    assert [record.code for record in caplog.records] == ["URLMODE_RECHECK"]
    await callback.event(id, "recheck", reference="s")
    with pytest.raises(TypeError, match="Answer"):
        wrong: Any = {"action": "accept"}
        await urlmode.wait_for_completion(id, **me, recheck=lambda event: wrong)
    assert os.environ["URLMODE_DATABASE_URL"] not in caplog.text


async def cancelled() -> None:
    task = asyncio.ensure_future(asyncio.sleep(60))
    task.cancel()
    await task


def cancels() -> Any:
    raise asyncio.CancelledError


@pytest.mark.parametrize("inner", [cancelled, cancels])
async def test_a_recheck_whose_own_work_was_cancelled_has_failed(urlmode: UrlMode, callback: Callback, inner: Any) -> None:
    me = owner()
    asked = await urlmode.create(**REPORT, **me)
    await callback.event(asked.elicitation_id, "recheck", reference="r")
    with pytest.raises(RuntimeError, match="recheck was cancelled"):
        wait = urlmode.wait_for_completion(asked.elicitation_id, **me, recheck=lambda _: inner())
        await asyncio.wait_for(wait, 20)


async def test_purge(urlmode: UrlMode) -> None:
    assert await urlmode.purge(kind="stored") >= 0
    with pytest.raises(ValueError, match="older_than"):
        await urlmode.purge(older_than=1)


async def test_ticket(urlmode: UrlMode) -> None:
    ticket = urlmode.ticket(subject="ada", ttl=timedelta(seconds=90))
    assert ticket.name == "__Host-urlmode-ticket"
    assert ticket.header == f"{ticket.name}={ticket.value}; Path=/; Max-Age=90; Secure; HttpOnly; SameSite=Lax"
    assert ticket.value not in repr(ticket)
