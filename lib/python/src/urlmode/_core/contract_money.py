"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from .contract_calls import Query
from .types import Kind


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
