"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from .contract_calls import Query
from .money_types import LedgerType


class BegunLedger(NamedTuple):
    lease: int | None
    """for what follows; None: another instance reads for this consumer"""
    wait_ms: int | None
    """how long that lease lasts at most"""


BEGIN_LEDGER = "SELECT lease, wait_ms FROM urlmode.begin_ledger(%s::text, %s::bigint, %s::text)"


async def begin_ledger(query: Query, *, consumer: str, lease_ms: int, tenant: str) -> BegunLedger:
    found = await query(BEGIN_LEDGER, [consumer, lease_ms, tenant])
    return BegunLedger(*found[0])


class LedgerRow(NamedTuple):
    number: int
    entered_at: datetime
    entry_type: LedgerType
    kind: Literal["payment", "refund", "dispute", "cancellation"]
    provider: str
    elicitation: str | None
    subject: str | None
    item: str | None
    payment: str | None
    checkout: str | None
    reference: str | None
    amount: int | None
    currency: str | None
    refunded: int | None
    status: str | None
    occurred_at: datetime | None
    evidence_due_at: datetime | None


READ_LEDGER = """SELECT number, entered_at, entry_type, kind, provider, elicitation::text, subject, item,
    payment, checkout, reference, amount, currency, refunded, status, occurred_at, evidence_due_at FROM
    urlmode.read_ledger(%s::text, %s::bigint, %s::integer, %s::text)"""


async def read_ledger(query: Query, *, consumer: str, lease: int, most: int, tenant: str) -> list[LedgerRow]:
    """`most`: entries, at most 100."""
    found = await query(READ_LEDGER, [consumer, lease, most, tenant])
    return [LedgerRow(*row) for row in found]


ACKNOWLEDGE_LEDGER = """SELECT urlmode.acknowledge_ledger(%s::text, %s::bigint, %s::bigint, %s::bigint,
    %s::text)"""


async def acknowledge_ledger(
    query: Query,
    *,
    consumer: str,
    lease: int,
    number: int | None,
    lease_ms: int,
    tenant: str,
) -> bool:
    """`number`: of the entry that was dealt with; None: the lease is renewed alone."""
    found = await query(ACKNOWLEDGE_LEDGER, [consumer, lease, number, lease_ms, tenant])
    answer: bool = found[0][0]
    return answer


END_LEDGER = "SELECT urlmode.end_ledger(%s::text, %s::bigint, %s::text)"


async def end_ledger(query: Query, *, consumer: str, lease: int, tenant: str) -> bool:
    found = await query(END_LEDGER, [consumer, lease, tenant])
    answer: bool = found[0][0]
    return answer
