"""A tool that requires a subscription: who has one goes on at once, others are asked for the first payment, and who must
settle something is sent there."""

from __future__ import annotations

import time
import uuid
from typing import Any

import psycopg
import pytest
from conftest import Callback, OpenUrlMode, required
from tool_app import MODES_AND_TASKS, ToolApp

from urlmode import ElicitationSubscribedError, Entitlement, Expected, TargetArguments
from urlmode.mcp import Subscribed

PRICE = Expected(1050, "EUR")


class App(ToolApp):
    """A server with a tool that requires a subscription, and a client whose user pays at once."""

    def __init__(self, open_urlmode: OpenUrlMode, callback: Callback, mode: str = "legacy") -> None:
        self.urlmode = open_urlmode()
        self.callback = callback
        self.subject = f"user-{uuid.uuid4()}"
        self.subscription = f"sub_{uuid.uuid4()}"
        self.is_of_subscription = True
        self.shows_page = False
        self.options: dict[str, Any] = {}
        super().__init__(self.urlmode, mode)

    async def tool(self, ctx: Any) -> Any:
        async def body(entitlement: Subscribed) -> str:
            said = f"{entitlement.item} is {entitlement.status}"
            return f"{said}: {await entitlement.manage_url()}" if self.shows_page else said

        return await self.adapter.require_paid(
            ctx, body, urlmode=self.urlmode, subject=self.subject, item="pro", provider="stripe", message="Pro is 10.50 a month.",
            target_url="https://shop.example/checkout", expected=PRICE, round_timeout=20, **self.options,
        )

    async def follow_link(self) -> None:
        id = str((await self.rows())[-1][0])
        if self.is_of_subscription:
            assert await self.tell(id, "paid", f"cs_{id}") == "accept"
        else:
            await self.callback.paid(id)

    async def tell(self, id: str | None, effect: str, reference: str | None = None, **said: Any) -> str:
        told = {"id": self.subscription, "at_ms": time.time_ns() // 1_000_000, **said}
        return await self.callback.event(
            id or str(uuid.uuid4()), effect, amount=PRICE.amount, currency=PRICE.currency, reference=reference, details={"subscription": told}
        )

    async def rows(self) -> list[Any]:
        async with await psycopg.AsyncConnection.connect(required("URLMODE_ADMIN_DATABASE_URL")) as admin:
            found = await admin.execute(
                "SELECT id, expected, item FROM urlmode.elicitation WHERE subject = %s ORDER BY created_at", [self.subject]
            )
            return await found.fetchall()

    async def use(self, **options: Any) -> str:
        """The text of the result."""
        self.options = options
        result = await self.call("use", {})
        return str(result.content[0].text)


@pytest.mark.parametrize("mode", MODES_AND_TASKS)
async def test_the_first_payment_opens_the_entitlement_and_later_calls_go_on_at_once(
    open_urlmode: OpenUrlMode, callback: Callback, mode: str
) -> None:
    app = App(open_urlmode, callback, mode)
    async with app.client:
        assert [await app.use() for _ in range(3)] == ["pro is active"] * 3
        assert app.asked == 1
        await app.tell(None, "subscription", status="trialing", until_ms=4_102_444_800_000)
        assert await app.use() == "pro is trialing"
    ((_, expected, item),) = await app.rows()
    assert (expected, item) == ({"amount": 1050, "currency": "EUR", "subscription": True}, "pro")
    (entitlement,) = await app.urlmode.entitlements(subject=app.subject)
    assert (entitlement.subscription, entitlement.entitled, entitlement.until and entitlement.until.year) == (app.subscription, True, 2100)
    assert await app.urlmode.entitlements(subject=app.subject, item="other") == []
    assert app.subject not in [payment.subject for payment in await app.urlmode.unclaimed()]


async def test_who_is_past_due_or_has_paused_is_sent_to_manage_url(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    app = App(open_urlmode, callback)
    seen = []

    async def manage_url(entitlement: Entitlement) -> str:
        seen.append((entitlement.status, entitlement.paused))
        return "https://shop.example/portal"

    async with app.client:
        await app.use()
        await app.tell(None, "subscription", status="past_due")
        assert "\n\nhttps://shop.example/portal\n\n" in await app.use(manage_url=manage_url)
        assert await app.use() == "Not done: the last payment of the subscription has failed or is missing."
        await app.tell(None, "subscription", status="paused", at_ms=time.time_ns() // 1_000_000 + 1)
        assert "the subscription is paused" in await app.use(manage_url=manage_url)
        await app.tell(None, "subscription", status="active", at_ms=time.time_ns() // 1_000_000 + 2)
        assert await app.use(manage_url=manage_url) == "pro is active"
        assert (seen, app.asked) == ([("past_due", False), ("ended", True)], 1)
        # Who is entitled gets it as well, if the tool asks for it, also until the end of what was cancelled.
        app.shows_page = True
        assert await app.use(manage_url=manage_url) == "pro is active: https://shop.example/portal"
        await app.tell(None, "subscription", status="cancelled", until_ms=4_102_444_800_000, at_ms=time.time_ns() // 1_000_000 + 3)
        assert await app.use(manage_url=lambda entitlement: entitlement.subscription) == f"pro is cancelled: {app.subscription}"
        assert await app.use() == "pro is cancelled: None"


async def test_a_payment_of_no_subscription_opens_nothing(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    app = App(open_urlmode, callback)
    app.is_of_subscription = False
    async with app.client:
        assert await app.use() == "Not done: the amount paid differs from the price."
    assert await app.urlmode.entitlements(subject=app.subject) == []


async def test_another_call_that_pays_meanwhile_does_not_make_two_subscriptions(
    open_urlmode: OpenUrlMode, callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App(open_urlmode, callback)
    look = app.urlmode.entitlements
    looks = 0

    async def late(**of: Any) -> list[Entitlement]:
        nonlocal looks
        found = await look(**of)
        looks += 1
        if looks == 1:
            made = await app.urlmode.create(
                provider="stripe", kind="payment", subject=app.subject, item="pro", expected=PRICE, subscription=True,
                target_url="https://shop.example/checkout",
            )  # fmt: skip
            assert await app.tell(made.elicitation_id, "paid", f"cs_{made.elicitation_id}") == "accept"
        return found

    monkeypatch.setattr(app.urlmode, "entitlements", late)
    async with app.client:
        assert await app.use() == "pro is active"
    assert (app.asked, len(await app.rows())) == (0, 1)


async def test_create_makes_no_second_subscription_and_no_checkout_for_one(open_urlmode: OpenUrlMode, callback: Callback) -> None:
    app = App(open_urlmode, callback)
    checkouts = 0

    async def create(item: str = "pro", provider: str = "stripe", subscribes_meanwhile: bool = False) -> str:
        async def target(urls: TargetArguments) -> str:
            nonlocal checkouts
            checkouts += 1
            if subscribes_meanwhile:
                other = await create(item)
                await app.urlmode.complete(
                    other, subject=app.subject, action="accept", amount=PRICE.amount, currency=PRICE.currency, reference=f"cs_{other}"
                )
            return "https://shop.example/checkout"

        made = await app.urlmode.create(
            provider=provider, kind="payment", subject=app.subject, item=item, expected=PRICE, subscription=True, target_url=target
        )
        assert not made.resumed
        return made.elicitation_id

    first = await create()
    assert await app.tell(first, "paid", f"cs_{first}") == "accept"
    at = time.time_ns() // 1_000_000
    for told in ({"status": "active"}, {"status": "past_due"}, {"status": "paused"}):
        at += 1
        await app.tell(None, "subscription", at_ms=at, **told)
        for provider in ("stripe", "other"):
            with pytest.raises(ElicitationSubscribedError) as refused:
                await create(provider=provider)
            assert refused.value.code == "ELICITATION_SUBSCRIBED"
    assert checkouts == 1
    # Another item is another subscription. The database refuses it as well: a call that subscribes while another makes its checkout.
    await create("team")
    with pytest.raises(ElicitationSubscribedError):
        await create("late", subscribes_meanwhile=True)
    await app.tell(None, "subscription", at_ms=at + 1, status="ended")
    await create()


async def test_what_makes_no_sense_is_refused(open_urlmode: OpenUrlMode) -> None:
    urlmode = open_urlmode()

    async def create(**more: Any) -> None:
        wanted: dict[str, Any] = {"kind": "payment", "item": "pro", "expected": PRICE, **more}
        await urlmode.create(provider="stripe", subject="ann", target_url="https://shop.example", subscription=True, **wanted)

    with pytest.raises(TypeError, match="item is required"):
        await create(item=None)
    with pytest.raises(TypeError, match="requires its first price"):
        await create(expected="any")
    with pytest.raises(TypeError, match="only allowed for kind payment"):
        await create(kind="signature", expected=None)
