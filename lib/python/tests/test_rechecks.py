"""Functions for whole providers: a claim asks before it begins, and events for which nobody waits are asked about as well."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from conftest import Callback, Owner, admin, owner, required, until

from urlmode import BegunClaim, Entries, Expected, PaymentEntry, Recheck, RecheckFunction, RefundEntry, UrlMode
from urlmode._core import ask_back
from urlmode._core import rechecks as module

PRICE = Expected(1050, "EUR")


class Provider:
    """Of its own, so that no other test's rows are asked about."""

    def __init__(self, urlmode: UrlMode, callback: Callback) -> None:
        self.name = f"p{uuid.uuid4().hex[:8]}"
        self.callback = callback
        self.urlmode = urlmode
        self.me: Owner = owner()
        self.payments: list[str] = []
        self.refunds: list[RefundEntry] = []
        self.asked: list[str | None] = []
        self.failure: Exception | None = None

    def recheck(self, event: Recheck) -> Entries:
        self.asked.append(event.type)
        if self.failure is not None:
            raise self.failure
        paid = [PaymentEntry(reference=each, amount=1050, currency="EUR", status="paid", elicitation_id=event.elicitation_id) for each in self.payments]
        return Entries(payments=paid, refunds=self.refunds)

    async def create(self) -> str:
        made = await self.urlmode.create(
            kind="payment", provider=self.name, item=f"report:{uuid.uuid4()}", expected=PRICE, target_url="https://checkout.example/",
            **self.me,
        )
        return made.elicitation_id

    async def event(self, id: str) -> None:
        assert await self.callback.event(id, "recheck", provider=self.name) == "recheck"


async def opened(keys_file: Path, rechecks: dict[str, RecheckFunction]) -> UrlMode:
    return UrlMode(
        database_url=required("URLMODE_DATABASE_URL"), keys_file=keys_file, base_url="https://callback.example", rechecks=rechecks
    )


async def passes(id: str, seconds: int) -> None:
    await admin(
        "UPDATE urlmode.recheck SET answered_at = answered_at - %s * interval '1 second', recheck_at = recheck_at - %s * interval '1 second'"
        " WHERE elicitation = %s RETURNING 1", seconds, seconds, id,
    )  # fmt: skip


async def test_a_refund_after_the_delivery_is_asked_for(urlmode: UrlMode, callback: Callback, keys_file: Path) -> None:
    shop = Provider(urlmode, callback)
    async with await opened(keys_file, {shop.name: shop.recheck}) as server:
        id, of = await shop.create(), f"tr_{uuid.uuid4()}"
        told = asyncio.ensure_future(_first_refund(server, of))
        shop.payments = [of]
        await shop.event(id)
        # A wait without a function has that of the provider.
        assert (await server.wait_for_completion(id, **shop.me)).reference == of
        assert await server.claim(id, **shop.me)
        assert (len(shop.asked), await server.recheck_due()) == (1, 0)
        shop.refunds = [RefundEntry(reference=f"re_{of}", payment=of, amount=1050, status="paid")]
        await shop.event(id)
        assert (await server.recheck_due(), len(shop.asked)) == (1, 2)
        [refund] = await server.refunds(provider=shop.name)
        assert refund.payment is not None and refund.payment.claimed and refund.payment.refunded == 1050
        assert await asyncio.wait_for(told, 60) == f"re_{of}"
    rows = await admin("SELECT type FROM urlmode.ledger WHERE payment = %s ORDER BY id", of)
    assert [type for (type,) in rows] == ["paid", "claimed", "delivered", "refunded"]


async def _first_refund(server: UrlMode, payment: str) -> str | None:
    async for refund in server.new_refunds():
        if refund.payment is not None and refund.payment.reference == payment:
            return refund.reference
    return None


async def test_a_function_that_fails_is_asked_again_later(urlmode: UrlMode, callback: Callback, keys_file: Path) -> None:
    shop = Provider(urlmode, callback)
    async with await opened(keys_file, {shop.name: shop.recheck}) as server:
        first, second = await shop.create(), await shop.create()
        shop.failure = OSError("the provider cannot be asked")
        await shop.event(first)
        with pytest.raises(RuntimeError, match=first) as failed:
            await server.recheck_due()
        assert failed.value.__cause__ is shop.failure
        assert await server.recheck_due() == 0  # It has failed just now.
        shop.failure = None
        await shop.event(second)
        await passes(first, 60)
        assert await server.recheck_due() == 2
    async with await opened(keys_file, {"other": shop.recheck}) as server:
        await shop.event(first)
        assert await server.recheck_due() == 0


async def test_a_function_that_never_settles_holds_up_neither_other_providers_nor_a_claim(
    urlmode: UrlMode, callback: Callback, keys_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung, other = Provider(urlmode, callback), Provider(urlmode, callback)
    called: asyncio.Queue[asyncio.Task[Any] | None] = asyncio.Queue()

    async def hangs(_event: Recheck) -> Entries:
        called.put_nowait(asyncio.current_task())
        await asyncio.Event().wait()
        raise AssertionError

    id = await hung.create()
    await hung.event(id)
    await passes(id, 60)
    await other.event(await other.create())
    async with await opened(keys_file, {hung.name: hangs, other.name: other.recheck}) as server:
        with monkeypatch.context() as patch:
            patch.setattr(ask_back, "RECHECK_LEASE_S", 1)
            with pytest.raises(RuntimeError, match=f"{id} at {hung.name} has failed: recheck of .* has not answered within 1 s") as failed:
                await server.recheck_due()
        assert isinstance(failed.value.__cause__, TimeoutError)
        assert len(other.asked) == 1
        asked = called.get_nowait()
        assert asked is not None
        await until("it is cancelled", asked.cancelled)

        await urlmode.complete(id, **hung.me, action="accept", amount=1050, currency="EUR", reference=f"tr_{id}")
        await passes(id, 61)
        claiming = asyncio.ensure_future(urlmode.begin_claim(id, **hung.me, recheck=hangs))
        await asyncio.wait_for(called.get(), 30)
        claiming.cancel()
        with pytest.raises(asyncio.CancelledError):
            await claiming
        await passes(id, 61)
        assert (await urlmode.begin_claim(id, **hung.me, recheck=lambda _event: Entries())).state == "begun"


async def test_it_is_asked_once_a_minute(
    urlmode: UrlMode, callback: Callback, keys_file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "RECHECK_EVERY_S", 0.05)
    shop = Provider(urlmode, callback)
    id = await shop.create()
    shop.failure = OSError("the provider cannot be asked")
    await shop.event(id)
    async with await opened(keys_file, {shop.name: shop.recheck}) as server:
        await server.unclaimed(provider=shop.name)  # Whatever it does, it has begun.
        await until("it is asked", lambda: bool(caplog.records))
        assert f"URLMODE_RECHECK: recheck of elicitation {id} at {shop.name} has failed: the provider" in caplog.text
        shop.failure = None
        await until("it is asked again", lambda: len(shop.asked) >= 2)


async def test_a_claim_with_both_ends_at_once_asks_first(urlmode: UrlMode, callback: Callback) -> None:
    shop = Provider(urlmode, callback)
    id, of = await shop.create(), f"tr_{uuid.uuid4()}"
    shop.payments = [of]
    await shop.event(id)
    await urlmode.wait_for_completion(id, **shop.me, recheck=shop.recheck)
    shop.failure = OSError("the provider cannot be asked")
    await passes(id, 61)
    with pytest.raises(OSError, match="cannot be asked"):
        await urlmode.claim(id, **shop.me, recheck=shop.recheck)
    assert len(await urlmode.unclaimed(provider=shop.name)) == 1  # It was not claimed.
    shop.failure = None
    shop.refunds = [RefundEntry(reference=f"re_{of}", payment=of, amount=1050, status="paid")]
    # It went back. A failure has nobody ask for a second.
    assert not await urlmode.claim(id, **shop.me, recheck=shop.recheck)
    assert len(shop.asked) == 3
    with pytest.raises(TypeError, match="recheck must be"):
        await urlmode.claim(id, **shop.me, recheck=cast(Any, 1))
    with pytest.raises(ValueError, match="recheck_after must be"):
        await urlmode.claim(id, **shop.me, recheck_after=-1)


async def test_how_old_the_last_answer_may_be_is_for_the_caller_to_say(urlmode: UrlMode, callback: Callback) -> None:
    shop = Provider(urlmode, callback)
    id = await shop.create()
    shop.payments = [f"tr_{id}"]
    await shop.event(id)
    await urlmode.wait_for_completion(id, **shop.me, recheck=shop.recheck)
    asked = 1
    cases: list[tuple[int, float | timedelta, int]] = [
        (61, 3600, 0), (0, 0, 1), (3601, 3600, 1), (61, timedelta(hours=1), 0), (3601, timedelta(hours=1), 1),
    ]  # fmt: skip
    for old, after, more in cases:
        await passes(id, old)
        claim = await urlmode.begin_claim(id, **shop.me, recheck=shop.recheck, recheck_after=after)
        assert isinstance(claim, BegunClaim) and await claim.release()
        asked += more
        assert len(shop.asked) == asked, (old, after)
    await passes(id, 61)
    assert await urlmode.claim(id, **shop.me, recheck=shop.recheck, recheck_after=3600)
    assert len(shop.asked) == asked


async def test_a_claim_does_not_ask_without_a_reason(urlmode: UrlMode, callback: Callback, keys_file: Path) -> None:
    shop = Provider(urlmode, callback)
    ids = [await shop.create() for _ in range(3)]
    for id in ids:
        shop.payments = [f"tr_{id}"]
        await shop.event(id)
        await urlmode.wait_for_completion(id, **shop.me, recheck=shop.recheck)
    assert await urlmode.claim(ids[0], **shop.me, recheck=shop.recheck)  # The last answer is younger than a minute.
    await passes(ids[1], 61)
    async with await opened(keys_file, {"other": shop.recheck}) as server:
        assert await server.claim(ids[1], **shop.me)  # Nobody can ask.
    assert len(shop.asked) == 3
    await passes(ids[2], 61)
    async with await opened(keys_file, {shop.name: shop.recheck}) as server:
        assert (await server.begin_claim(ids[2], **shop.me)).state == "begun"
    assert len(shop.asked) == 4


@pytest.mark.parametrize(("rechecks", "message"), [
    (1, "rechecks must be a mapping with functions"), ({"demo": 1}, r"rechecks\['demo'\] must be"), ({"a b": print}, "provider must be"),
    ({"demo": None}, r"rechecks\['demo'\] must be a function"),
])  # fmt: skip
async def test_functions_are_checked(rechecks: Any, message: str, keys_file: Path) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        await opened(keys_file, rechecks)
