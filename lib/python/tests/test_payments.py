"""Payments: claims, late ones, rechecks, and money that goes back."""

from __future__ import annotations

import asyncio
import os
import uuid
from datetime import timedelta
from typing import Any

import pytest
from conftest import ACCOUNT, TOO_DEEP, Callback, OpenUrlMode, Owner, owner, until

from urlmode import (
    Answer,
    BegunClaim,
    ClaimLostError,
    Elicitation,
    ElicitationTimeoutError,
    Expected,
    LeasedClaim,
    TakenClaim,
    UrlMode,
)

REPORT: dict[str, Any] = {
    "provider": "stripe",
    "kind": "payment",
    "target_url": "https://checkout.example/pay",
    "expected": Expected(1050, "EUR"),
    "item": "report:42",
}


async def pay(urlmode: UrlMode, callback: Callback, **more: Any) -> tuple[Elicitation, Owner, str]:
    me = owner()
    asked = await urlmode.create(**REPORT, **me, **more)
    return asked, me, await callback.paid(asked.elicitation_id)


async def test_a_provider_whose_name_is_not_that_of_its_description_is_given_the_price(open_urlmode: OpenUrlMode) -> None:
    urlmode = open_urlmode(descriptions={"acme": "stripe"})
    given: list[Any] = []

    def target(urls: Any) -> str:
        given.append(urls.amount)
        return "https://checkout.example/pay"

    for provider in ("acme", "other"):
        await urlmode.create(**{**REPORT, "provider": provider, "target_url": target, "expected": Expected(5, "ISK")}, **owner())
    assert given == [500, None]
    for wrong in ({"acme": "none"}, {"A b": "stripe"}, "stripe"):
        with pytest.raises((TypeError, ValueError), match="descriptions|provider"):
            open_urlmode(descriptions=wrong)


async def test_a_result_that_cannot_be_read_hides_no_payment(urlmode: UrlMode, callback: Callback) -> None:
    me = owner()
    elicitation = await urlmode.create(**REPORT, **me)
    deep = f"cs_{uuid.uuid4()}"
    await callback.event(elicitation.elicitation_id, "paid", amount=1050, currency="EUR", reference=deep, text=TOO_DEEP)
    _, _, other = await pay(urlmode, callback)
    listed = {each.reference: each for each in await urlmode.unclaimed()}
    assert (listed[deep].amount, listed[deep].result, other in listed) == (1050, None, True)


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
    assert not await second.fulfil(object()), "no JSON: the claim stays open until the answer was written"
    assert isinstance(await urlmode.begin_claim(asked.elicitation_id, **me, reference=reference), LeasedClaim)
    assert await second.confirm()
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


async def test_a_call_is_told_at_once_that_its_money_went_back(urlmode: UrlMode, callback: Callback) -> None:
    """Twenty minutes before its lease is renewed."""
    asked, me, reference = await pay(urlmode, callback)
    claim = await urlmode.begin_claim(asked.elicitation_id, **me, lease=3600)
    assert isinstance(claim, BegunClaim)
    await until("it listens", lambda: urlmode._listener.receives_notifications)
    await callback.event(asked.elicitation_id, "refunded", reference=reference)
    await asyncio.wait_for(claim.refunded.wait(), 60)
    assert not claim.lost.is_set() and await claim.fulfil("done")
    assert not urlmode._claims._leases and urlmode._claims not in urlmode._listener._users


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
    await until("it is given back", lambda: not urlmode._claims._asking._tasks and not urlmode._claims._renewing._tasks and not urlmode._claims._leases)
    assert isinstance(await urlmode.begin_claim(id, **me), BegunClaim), "also an account: nobody has sent its code"


async def test_a_recheck_that_fails(urlmode: UrlMode, callback: Callback, caplog: Any) -> None:
    me = owner()
    elicitation = await urlmode.create(**REPORT, **me)
    id = elicitation.elicitation_id
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
    elicitation = await urlmode.create(**REPORT, **me)
    await callback.event(elicitation.elicitation_id, "recheck", reference="r")
    with pytest.raises(RuntimeError, match="recheck was cancelled"):
        wait = urlmode.wait_for_completion(elicitation.elicitation_id, **me, recheck=lambda _: inner())
        await asyncio.wait_for(wait, 20)


async def test_ticket(urlmode: UrlMode) -> None:
    ticket = urlmode.ticket(subject="ada", ttl=timedelta(seconds=90))
    assert ticket.name == "__Host-urlmode-ticket"
    assert ticket.header == f"{ticket.name}={ticket.value}; Path=/; Max-Age=90; Secure; HttpOnly; SameSite=Lax"
    assert ticket.value not in repr(ticket)
