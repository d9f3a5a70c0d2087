"""The examples that ask a provider, against doubles of its API."""

from __future__ import annotations

import importlib.util
import uuid
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import Callback, Owner, owner

from urlmode import ElicitationTimeoutError, Expected, Outcome, UrlMode


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class GoCardless:
    """A double of the used part of GoCardless' API, compared on 28 November 2026 with the document of its version
    2015-07-06 (https://developer.gocardless.com/api-reference/) and the types of its package for Node."""

    def __init__(self) -> None:
        self.payments: dict[str, dict[str, Any]] = {}
        self.refunds: list[dict[str, Any]] = []
        self.requests: dict[str, str] = {}

    def pay(self, elicitation_id: str | None, amount: int = 1050) -> str:
        id = f"PM{uuid.uuid4().hex[:12].upper()}"
        self.payments[id] = {
            "id": id, "amount": amount, "amount_refunded": 0, "currency": "GBP", "status": "submitted",
            "metadata": {} if elicitation_id is None else {"elicitation_id": elicitation_id},
        }  # fmt: skip
        return id

    def refund(self, payment: str, amount: int) -> dict[str, Any]:
        made = {
            "id": f"RF{uuid.uuid4().hex[:12].upper()}", "amount": amount, "currency": "GBP", "status": "created",
            "links": {"payment": payment}, "metadata": {},
        }  # fmt: skip
        self.refunds.append(made)
        return made

    def get(self, path: str) -> dict[str, Any]:
        parts = urlsplit(path)
        _, kind, *rest = parts.path.split("/")
        if kind == "refunds":
            [payment] = parse_qs(parts.query)["payment"]
            return {"refunds": [each for each in self.refunds if each["links"]["payment"] == payment], "meta": {"limit": 50}}
        [id] = rest
        if kind == "payments":
            return {"payments": self.payments[id]}
        assert kind == "billing_requests"
        links = {"payment_request_payment": self.requests[id]} if self.requests[id] else {}
        return {"billing_requests": {"id": id, "status": "fulfilled", "links": links}}


async def test_gocardless(urlmode: UrlMode, callback: Callback, monkeypatch: pytest.MonkeyPatch) -> None:
    example, bank, me = load("gocardless"), GoCardless(), owner()
    monkeypatch.setattr(example, "get", bank.get)
    id = await create(urlmode, me)

    async def look(reference: str) -> Outcome:
        await callback.event(id, "recheck", reference=reference)
        return await urlmode.wait_for_completion(id, **me, timeout=0, recheck=example.recheck)

    foreign, own = bank.pay(str(uuid.uuid4())), bank.pay(id)
    bank.payments[foreign]["status"] = "paid_out"
    bank.requests["BRQ1"] = ""
    for reference in ("BRQ1", foreign, own):
        with pytest.raises(ElicitationTimeoutError):
            await look(reference)
    bank.payments[own]["status"] = "confirmed"
    bank.requests["BRQ1"] = own
    outcome = await look("BRQ1")
    assert (outcome.action, outcome.reference) == ("accept", own)

    refund = bank.refund(own, 50)
    assert (await look(own)).reason == "held"
    refund["status"] = "bounced"
    assert (await look(own)).reference == own
    bank.payments[own]["status"] = "charged_back"
    assert (await look(own)).refunded


async def create(urlmode: UrlMode, me: Owner) -> str:
    made = await urlmode.create(
        kind="payment", provider="stripe", item=f"report:{uuid.uuid4()}", expected=Expected(1050, "GBP"),
        target_url="https://pay.gocardless.com/flow/RE1", **me,
    )  # fmt: skip
    return made.elicitation_id
