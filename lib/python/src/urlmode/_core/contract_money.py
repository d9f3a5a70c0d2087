"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Literal, NamedTuple

from .contract_calls import Query, RowKey
from .types import Action, Kind


class ClaimedRow(NamedTuple):
    outcome: Literal["claimed", "recheck", "taken", "changed", "open", "unknown"]
    leased_ms: int
    """for how long nobody can ask the provider"""


CLAIM_AT_ONCE = """SELECT outcome, leased_ms FROM urlmode.claim_at_once(%s::uuid, %s::bytea, %s::text,
    %s::bigint, %s::text, %s::boolean, %s::bigint)"""


async def claim_at_once(
    query: Query,
    key: RowKey,
    *,
    reference: str | None,
    keep_ms: int,
    action: Action,
    held: bool,
    recheck_ms: int | None,
) -> ClaimedRow:
    """`reference`: of the payment to claim; None: the oldest that matches. `keep_ms`: for which the result of a
    payment is kept afterwards. `held`: whether to claim it although a part of it may have gone back.
    `recheck_ms`: how old the last answer of a recheck may be; None: the caller cannot ask.
    """
    found = await query(CLAIM_AT_ONCE, [key.id, key.binding, reference, keep_ms, action, held, recheck_ms])
    return ClaimedRow(*found[0])


class UnclaimedRow(NamedTuple):
    elicitation: str
    provider_name: str
    reference: str
    amount: int
    currency: str
    matches: bool
    late: bool
    proven_at: datetime
    refunded: int
    held: bool
    subject: str
    session: str
    binding: bytes
    resume_key: str | None
    result: bytes | None
    """sealed"""
    item: str | None
    """what the payment is for"""


UNCLAIMED_OF = """SELECT elicitation::text, provider_name, reference, amount, currency, matches, late,
    proven_at, refunded, held, subject, session, binding, resume_key, result, item FROM
    urlmode.unclaimed_of(%s::text, %s::text, %s::timestamptz, %s::uuid)"""


async def unclaimed_of(
    query: Query,
    *,
    tenant: str,
    provider: str | None,
    since: datetime | None,
    id: str | None,
) -> list[UnclaimedRow]:
    found = await query(UNCLAIMED_OF, [tenant, provider, since, id], True)
    return [UnclaimedRow(*row) for row in found]


class UndeliveredRow(NamedTuple):
    elicitation: str
    provider_name: str
    kind: Kind
    reference: str | None
    amount: int | None
    currency: str | None
    fulfilled_at: datetime
    given_at: datetime | None
    has_result: bool
    """whether its result is still kept"""
    refunded: int
    held: bool
    subject: str
    session: str
    resume_key: str | None
    item: str | None
    """what the payment or signature is for"""


UNDELIVERED_OF = """SELECT elicitation::text, provider_name, kind, reference, amount, currency,
    fulfilled_at, given_at, has_result, refunded, held, subject, session, resume_key, item FROM
    urlmode.undelivered_of(%s::text, %s::text, %s::timestamptz, %s::uuid)"""


async def undelivered_of(
    query: Query,
    *,
    tenant: str,
    provider: str | None,
    since: datetime | None,
    id: str | None,
) -> list[UndeliveredRow]:
    found = await query(UNDELIVERED_OF, [tenant, provider, since, id], True)
    return [UndeliveredRow(*row) for row in found]


class RefundRow(NamedTuple):
    elicitation: str
    provider_name: str
    reference: str
    amount: int | None
    currency: str | None
    reversed: int | None
    received_at: datetime
    changed_at: datetime
    payment: str | None
    paid: int | None
    refunded: int | None
    held: bool | None
    claimed: bool
    subject: str | None
    session: str | None
    resume_key: str | None
    item: str | None
    """what the payment is for"""


REFUNDS_WITH_ITEM = """SELECT elicitation::text, provider_name, reference, amount, currency, reversed,
    received_at, changed_at, payment, paid, refunded, held, claimed, subject, session, resume_key, item FROM
    urlmode.refunds_with_item(%s::text, %s::text, %s::timestamptz, %s::uuid)"""


async def refunds_with_item(
    query: Query,
    *,
    tenant: str,
    provider: str | None,
    since: datetime | None,
    id: str | None,
) -> list[RefundRow]:
    found = await query(REFUNDS_WITH_ITEM, [tenant, provider, since, id], True)
    return [RefundRow(*row) for row in found]


PAID = "SELECT urlmode.paid(%s::text, %s::text, %s::timestamptz, %s::text)"


async def paid(query: Query, *, subject: str, item: str, since: datetime | None, tenant: str) -> bool:
    """`since`: when it was proved, or later."""
    found = await query(PAID, [subject, item, since, tenant], True)
    answer: bool = found[0][0]
    return answer


DELIVERED = "SELECT urlmode.delivered(%s::text, %s::text, %s::timestamptz, %s::text)"


async def delivered(query: Query, *, subject: str, item: str, since: datetime | None, tenant: str) -> bool:
    """`since`: when it was proved, or later."""
    found = await query(DELIVERED, [subject, item, since, tenant], True)
    answer: bool = found[0][0]
    return answer


class EntitlementRow(NamedTuple):
    item_name: str
    status: Literal["trialing", "active", "cancelled", "past_due", "ended"]
    until: datetime | None
    """the end of what was paid; None: the provider has not said it yet"""
    entitled: bool
    """whether the status is one of the first three"""
    paused: bool
    """whether it has ended until it is resumed"""
    provider: str
    account: str
    subscription: str | None
    elicitation: str
    opened_at: datetime


ENTITLEMENTS = """SELECT item_name, status, until, entitled, paused, provider, account, subscription,
    elicitation::text, opened_at FROM urlmode.entitlements(%s::text, %s::text, %s::text)"""


async def entitlements(query: Query, *, tenant: str, subject: str, item: str | None) -> list[EntitlementRow]:
    found = await query(ENTITLEMENTS, [tenant, subject, item], True)
    return [EntitlementRow(*row) for row in found]


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


class ClaimRow(NamedTuple):
    outcome: Literal["begun", "fulfilled", "leased", "recheck", "claimed", "taken", "changed", "open", "unknown"]
    claimed_reference: str | None
    fence: int
    fulfilled: bytes
    leased_ms: int


BEGIN_LEASE = """SELECT outcome, claimed_reference, fence, fulfilled, leased_ms FROM
    urlmode.begin_lease(%s::uuid, %s::bytea, %s::text, %s::bigint, %s::bigint, %s::uuid, %s::boolean,
    %s::bigint)"""


async def begin_lease(
    query: Query,
    key: RowKey,
    *,
    reference: str | None,
    lease_ms: int,
    keep_ms: int,
    claim_id: str | None,
    any_payment: bool,
    recheck_ms: int | None,
) -> ClaimRow:
    """`any_payment`: whether it may be one that does not match, or is held. `recheck_ms`: how old the last answer
    of a recheck may be; None: the caller cannot ask.
    """
    found = await query(BEGIN_LEASE, [
        key.id,
        key.binding,
        reference,
        lease_ms,
        keep_ms,
        claim_id,
        any_payment,
        recheck_ms,
    ])
    return ClaimRow(*found[0])


RenewLeaseAnswer = Literal["renewed", "refunded", "disputed", "lost"]
RENEW_LEASE = "SELECT urlmode.renew_lease(%s::uuid, %s::bytea, %s::bigint, %s::bigint)"


async def renew_lease(query: Query, key: RowKey, *, fence: int, lease_ms: int) -> RenewLeaseAnswer:
    found = await query(RENEW_LEASE, [key.id, key.binding, fence, lease_ms])
    answer: RenewLeaseAnswer = found[0][0]
    return answer


class ContinuedRow(NamedTuple):
    outcome: Literal["renewed", "refunded", "disputed", "lost"]
    claimed_reference: str
    next_fence: int


CONTINUE_LEASE = """SELECT outcome, claimed_reference, next_fence FROM urlmode.continue_lease(%s::uuid,
    %s::bytea, %s::bigint, %s::bigint)"""


async def continue_lease(query: Query, key: RowKey, *, fence: int, lease_ms: int) -> ContinuedRow:
    found = await query(CONTINUE_LEASE, [key.id, key.binding, fence, lease_ms])
    return ContinuedRow(*found[0])


FulfilLeaseAnswer = Literal["fulfilled", "refunded", "disputed", "lost"]
FULFIL_LEASE = """SELECT urlmode.fulfil_lease(%s::uuid, %s::bytea, %s::bigint, %s::bytea, %s::text,
    %s::text, %s::bigint)"""


async def fulfil_lease(
    query: Query,
    key: RowKey,
    *,
    fence: int,
    fulfilled: bytes | None,
    claim_end: Literal["delivered", "refunded"] | None,
    refund: str | None,
    keep_ms: int,
) -> FulfilLeaseAnswer:
    """`fulfilled`: sealed; None where the claim has both ends at once. `refund`: the provider's reference of the
    refund.
    """
    found = await query(FULFIL_LEASE, [key.id, key.binding, fence, fulfilled, claim_end, refund, keep_ms])
    answer: FulfilLeaseAnswer = found[0][0]
    return answer


CONFIRM_CLAIM = "SELECT urlmode.confirm_claim(%s::uuid, %s::bytea, %s::bigint, %s::bigint)"


async def confirm_claim(query: Query, key: RowKey, *, fence: int, keep_ms: int) -> bool:
    found = await query(CONFIRM_CLAIM, [key.id, key.binding, fence, keep_ms])
    answer: bool = found[0][0]
    return answer


RELEASE_CLAIM = "SELECT urlmode.release_claim(%s::uuid, %s::bytea, %s::bigint)"


async def release_claim(query: Query, key: RowKey, *, fence: int) -> bool:
    found = await query(RELEASE_CLAIM, [key.id, key.binding, fence])
    answer: bool = found[0][0]
    return answer
