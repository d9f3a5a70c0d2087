"""Asks GoCardless, whose events name neither an amount nor how much went back: for `rechecks` of UrlMode.

Billing requests and payments have `metadata = {"elicitation_id": …}`, as lib/providers/gocardless.json says.

    UrlMode(…, rechecks={"gocardless": recheck})
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any, Literal
from urllib.parse import quote
from urllib.request import Request, urlopen

from urlmode import Entries, PaymentEntry, Recheck, RefundEntry

Status = Literal["paid", "processing", "failed", "cancelled"]

# Whatever else there is, is under way: a bank debit takes days.
PAYMENTS: dict[str, Status] = {
    "confirmed": "paid", "paid_out": "paid", "charged_back": "paid",
    "failed": "failed", "customer_approval_denied": "failed", "cancelled": "cancelled",
}  # fmt: skip
REFUNDS: dict[str, Status] = {
    "paid": "paid", "failed": "failed", "bounced": "failed", "funds_returned": "failed", "cancelled": "cancelled",
}  # fmt: skip


def get(path: str) -> Any:
    headers = {"Authorization": f"Bearer {os.environ['GOCARDLESS_ACCESS_TOKEN']}", "GoCardless-Version": "2015-07-06"}
    with urlopen(Request(f"https://api.gocardless.com{path}", headers=headers), timeout=30) as answer:
        return json.load(answer)


async def recheck(event: Recheck) -> Entries | None:
    """All that GoCardless has of the payments that events have named. Each names its elicitation itself."""
    payments: list[PaymentEntry] = []
    refunds: list[RefundEntry] = []
    for id in await _payments_of(event):
        payment = (await asyncio.to_thread(get, f"/payments/{quote(id, safe='')}"))["payments"]
        amount, currency = payment["amount"], payment["currency"]  # in minor units
        payments.append(PaymentEntry(
            reference=id, amount=amount, currency=currency, status=PAYMENTS.get(payment["status"], "processing"),
            elicitation_id=payment["metadata"].get("elicitation_id"),
        ))  # fmt: skip
        if payment["status"] == "charged_back":
            refunds.append(RefundEntry(reference=f"{id} charged back", payment=id, amount=amount, status="paid"))
        for refund in (await asyncio.to_thread(get, f"/refunds?payment={quote(id, safe='')}"))["refunds"]:
            refunds.append(RefundEntry(
                reference=refund["id"], payment=id, amount=refund["amount"], currency=refund["currency"],
                status=REFUNDS.get(refund["status"], "processing"),
            ))  # fmt: skip
    return Entries(payments=payments, refunds=refunds)


async def _payments_of(event: Recheck) -> list[str]:
    """An event names its payment, or the billing request that has become one."""
    found: dict[str, None] = {}
    for reference in event.references:
        if reference.startswith("BRQ"):
            request = (await asyncio.to_thread(get, f"/billing_requests/{quote(reference, safe='')}"))["billing_requests"]
            reference = request["links"].get("payment_request_payment", "")
        if reference:
            found[reference] = None
    return list(found)
