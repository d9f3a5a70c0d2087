"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Literal, NamedTuple

from .contract_calls import Query, RowKey


class TakenRecheck(NamedTuple):
    lease: int
    """for the end of this recheck"""
    rechecks: int
    event_type: str | None
    unproven_references: list[str]
    """in the events that ask for a recheck, the last one last"""
    provider: str
    expected: Any
    checkout: str | None
    """the provider's id of the checkout that was made"""


BEGIN_RECHECK = """SELECT lease, rechecks, event_type, unproven_references, provider, expected, checkout
    FROM urlmode.begin_recheck(%s::uuid, %s::bytea, %s::bigint, %s::bigint)"""


async def begin_recheck(
    query: Query,
    key: RowKey,
    *,
    lease_ms: int,
    max_age_ms: int | None,
) -> TakenRecheck | None:
    """`max_age_ms`: before a claim: how old the last answer may be; None: only if an event asks."""
    found = await query(BEGIN_RECHECK, [key.id, key.binding, lease_ms, max_age_ms])
    return TakenRecheck(*found[0]) if found else None


class DueRecheck(NamedTuple):
    id: str
    binding: bytes
    lease: int
    """for the end of this recheck"""
    rechecks: int
    event_type: str | None
    unproven_references: list[str]
    """in the events that ask for a recheck, the last one last"""
    provider: str
    expected: Any
    checkout: str | None
    """the provider's id of the checkout that was made"""


BEGIN_RECHECK_OF = """SELECT id::text, binding, lease, rechecks, event_type, unproven_references, provider,
    expected, checkout FROM urlmode.begin_recheck_of(%s::text, %s::jsonb, %s::bigint)"""


async def begin_recheck_of(query: Query, *, tenant: str, providers: Any, lease_ms: int) -> DueRecheck | None:
    """`providers`: names of those whose events can be answered, as JSON."""
    found = await query(BEGIN_RECHECK_OF, [tenant, None if providers is None else json.dumps(providers), lease_ms])
    return DueRecheck(*found[0]) if found else None


ANSWER_RECHECK = """SELECT outcome FROM urlmode.answer_recheck(%s::uuid, %s::bytea, %s::integer,
    %s::integer, %s::jsonb, %s::jsonb)"""


async def answer_recheck(
    query: Query,
    key: RowKey,
    *,
    lease: int,
    rechecks: int,
    payments: Any,
    refunds: Any,
) -> list[str]:
    """`payments`: entries of the answer, as JSON. `refunds`: the same."""
    found = await query(ANSWER_RECHECK, [
        key.id,
        key.binding,
        lease,
        rechecks,
        None if payments is None else json.dumps(payments),
        None if refunds is None else json.dumps(refunds),
    ])
    return [answer for (answer,) in found]


class ReconciledRow(NamedTuple):
    what: Literal["missing_here", "missing_there", "differs"]
    kind: Literal["payment", "refund"]
    reference: str
    payment: str
    elicitation: str
    """of the payment"""
    amount: int | None
    currency: str | None
    their_amount: int | None
    """of the provider"""
    their_currency: str | None


RECONCILE = """SELECT what, kind, reference, payment, elicitation::text, amount, currency, their_amount,
    their_currency FROM urlmode.reconcile(%s::text, %s::timestamptz, %s::timestamptz, %s::jsonb, %s::jsonb,
    %s::text)"""


async def reconcile(
    query: Query,
    *,
    provider: str,
    since: datetime,
    until: datetime,
    payments: Any,
    refunds: Any,
    tenant: str,
) -> list[ReconciledRow]:
    """`payments`: entries, as JSON. `refunds`: the same."""
    found = await query(RECONCILE, [
        provider,
        since,
        until,
        None if payments is None else json.dumps(payments),
        None if refunds is None else json.dumps(refunds),
        tenant,
    ], True)
    return [ReconciledRow(*row) for row in found]


END_RECHECK = "SELECT urlmode.end_recheck(%s::uuid, %s::bytea, %s::integer, %s::integer, %s::boolean)"


async def end_recheck(query: Query, key: RowKey, *, lease: int, rechecks: int, failed: bool) -> None:
    """`failed`: whether it has to be done again."""
    await query(END_RECHECK, [key.id, key.binding, lease, rechecks, failed])
