"""What a provider has, as a recheck says it, and beside what is here."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from conftest import Callback, Owner, admin, owner

from urlmode import Difference, Entries, Expected, PaymentEntry, Recheck, RefundEntry, Target, UrlMode
from urlmode._core.entries import check_entries

PRICE = Expected(1050, "EUR")


def reference() -> str:
    return f"tr_{uuid.uuid4()}"


async def asked(urlmode: UrlMode, callback: Callback, me: Owner, **options: Any) -> str:
    """An elicitation of which an event has asked for a recheck."""
    made = await urlmode.create(
        kind="payment", provider="stripe", item="report:42", expected=PRICE, **{"target_url": "https://checkout.example/", **options}, **me
    )
    await callback.event(made.elicitation_id, "recheck")
    return made.elicitation_id


def paid(id: str | None, of: str, **more: Any) -> PaymentEntry:
    return PaymentEntry(**{
        "reference": of, "amount": 1050, "currency": "eur", "status": "paid", "elicitation_id": id, **more,
    })  # fmt: skip


async def test_what_is_paid_counts_and_what_went_back(urlmode: UrlMode, callback: Callback) -> None:
    me, of = owner(), reference()
    id = await asked(urlmode, callback, me)
    refunds: list[RefundEntry] = []

    def recheck(_: Recheck) -> Entries:
        return Entries(payments=[paid(id, of)], refunds=refunds)

    outcome = await urlmode.wait_for_completion(id, **me, recheck=recheck)
    assert (outcome.action, outcome.reference) == ("accept", of)
    assert outcome.result == {"reference": of, "amount": 1050, "currency": "EUR"}
    refunds.append(RefundEntry(reference=reference(), payment=of, amount=1050, status="processing"))
    await callback.event(id, "recheck")
    assert (await urlmode.wait_for_completion(id, **me, recheck=recheck)).refunded


async def test_another_amount_is_listed(urlmode: UrlMode, callback: Callback) -> None:
    me, of = owner(), reference()
    id = await asked(urlmode, callback, me)
    outcome = await urlmode.wait_for_completion(id, **me, recheck=lambda _: Entries(payments=[paid(id, of, amount=2000)]))
    assert (outcome.action, outcome.reason) == ("cancel", "amount_mismatch")
    assert [(each.amount, each.matches) for each in await urlmode.unclaimed() if each.reference == of] == [(2000, False)]


async def test_what_names_another_elicitation_is_not_recorded(
    urlmode: UrlMode, callback: Callback, caplog: pytest.LogCaptureFixture
) -> None:
    me, others, of = owner(), [reference(), reference(), reference()], reference()
    id = await asked(urlmode, callback, me, target_url=lambda _: Target("https://checkout.example/", f"cs {of}"))
    heard: list[Recheck] = []

    async def recheck(event: Recheck) -> Entries:
        heard.append(event)
        return Entries(payments=[
            paid(str(uuid.uuid4()), others[0]), paid(None, others[1]), paid(id, others[2], checkout="another"),
            paid(None, of, checkout=event.checkout),
        ])  # fmt: skip

    outcome = await urlmode.wait_for_completion(id, **me, recheck=recheck)
    assert (outcome.reference, heard[0].checkout) == (of, f"cs {of}")
    assert await admin("SELECT 1 FROM urlmode.payment WHERE reference = ANY (%s)", others) == []
    for each in others:
        assert f"did not record {each}, which does not name this elicitation or its checkout" in caplog.text


@pytest.mark.parametrize(("entries", "message"), [
    (Entries(payments=[paid("a", "")]), "payments[0].reference must have 1 to 800 bytes in UTF-8"),
    (Entries(payments=[paid("a", "p", amount="1")]), "payments[0].amount must be a whole number of minor units (cents)"),
    (Entries(payments=[paid("a", "p", currency="EURO")]), "payments[0].currency must be a currency of ISO 4217"),
    (Entries(payments=[paid("a", "p", status="open")]), "payments[0].status must be one of paid, processing, failed, cancelled"),
    (Entries(payments=[paid(1, "p")]), "payments[0].elicitation_id must be a str"),  # type: ignore[arg-type]
    (Entries(payments=[{"reference": "p"}]), "payments[0] must be a PaymentEntry"),  # type: ignore[list-item]
    (Entries(payments=[paid("a", "p")] * 101), "payments must be a sequence of at most 100 entries"),
    (Entries(refunds=[RefundEntry(reference="r", payment="", amount=1, status="paid")]), "refunds[0].payment must have 1 to 800"),
])  # fmt: skip
def test_an_answer_that_is_not_valid_is_refused(entries: Entries, message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as refused:
        check_entries(entries)
    assert str(refused.value).startswith(message)


async def test_reconcile(urlmode: UrlMode, callback: Callback) -> None:
    me, same, here, missing = owner(), reference(), reference(), reference()
    provider = f"shop-{uuid.uuid4().hex[:8]}"
    ids = [
        (await urlmode.create(
            kind="payment", provider=provider, item=f"report:{n}", expected=PRICE, target_url="https://checkout.example/", **me,
        )).elicitation_id
        for n in range(3)
    ]  # fmt: skip
    for id, of in zip(ids, (same, here)):
        await callback.event(id, "paid", provider=provider, amount=1050, currency="EUR", reference=of)

    async def listed(name: str) -> Entries:
        assert name == provider
        return Entries(payments=[paid(ids[0], same, amount=1), paid(ids[2], missing), paid(None, reference())])

    found = await urlmode.reconcile(
        provider=provider, since=datetime.now(timezone.utc) - timedelta(hours=1), list_payments=listed
    )
    assert found.missing_here == [Difference(
        kind="payment", reference=missing, payment=missing, elicitation_id=ids[2], here=None, there=PRICE,
    )]  # fmt: skip
    assert [(each.reference, each.here, each.there) for each in found.missing_there] == [(here, PRICE, None)]
    assert [(each.reference, each.here, each.there) for each in found.differs] == [(same, PRICE, Expected(1, "EUR"))]
    with pytest.raises(TypeError, match="list_payments must return Entries"):
        await urlmode.reconcile(provider=provider, since=datetime.now(timezone.utc), list_payments=lambda _: None)  # type: ignore[arg-type, return-value]
