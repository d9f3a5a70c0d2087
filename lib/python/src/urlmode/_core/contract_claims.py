"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .contract_calls import Query, RowKey
from .types import Action


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
