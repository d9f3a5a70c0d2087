"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from .contract_words import EndAction
from .types import Action, Kind, OpenStatus


class Query(Protocol):
    """Sends a statement. `reads`: its function only reads, so that it can be sent once more if its connection was lost before
    the answer came. Any other is sent again only if it is certain that it was not sent."""

    def __call__(self, statement: str, values: Sequence[Any], reads: bool = False, /) -> Awaitable[list[tuple[Any, ...]]]: ...


class NewRow(NamedTuple):
    id: str
    provider: str
    kind: Kind
    subject: str
    session: str
    binding: bytes
    requester: str
    target_url: str | None
    """not of a form"""
    expected: Any
    verifier: bytes | None
    """sealed"""
    ttl_ms: int
    exclusive: bool
    resume_key: str | None
    """of the caller"""
    can_recheck: bool
    """whether the call can answer a recheck"""
    request: bytes
    """digest of the request"""
    checkout: str | None
    """the provider's id of the checkout"""
    client_id: str | None
    """of the MCP client"""
    link_kid: int
    """of the key that mints its link"""
    form: bytes | None
    """sealed"""
    approvers: list[str] | dict[str, Any] | None
    """who may decide: None is the subject, none is anybody else"""
    verify_ms: int | None
    """the time limit of `verify`, if there is one"""
    traceparent: str | None
    """the trace of the call"""
    tenant: str
    """empty: none"""
    item: str | None
    """what a payment or signature is for"""


class Created(NamedTuple):
    expires_at: datetime | None
    outcome: Literal["created", "resumed", "busy", "full", "subscribed"]


CREATE_ELICITATION = """SELECT expires_at, outcome FROM urlmode.create_elicitation(%s::uuid[], %s::text[],
    %s::text[], %s::text[], %s::text[], %s::bytea[], %s::text[], %s::text[], %s::jsonb[], %s::bytea[],
    %s::bigint[], %s::boolean[], %s::text[], %s::boolean[], %s::bytea[], %s::text[], %s::text[], %s::smallint[],
    %s::bytea[], %s::jsonb[], %s::integer[], %s::text[], %s::text[], %s::text[])"""


async def create_elicitation(query: Query, rows: Sequence[NewRow]) -> list[Created]:
    found = await query(CREATE_ELICITATION, [
        [each.id for each in rows],
        [each.provider for each in rows],
        [each.kind for each in rows],
        [each.subject for each in rows],
        [each.session for each in rows],
        [each.binding for each in rows],
        [each.requester for each in rows],
        [each.target_url for each in rows],
        [None if each.expected is None else json.dumps(each.expected) for each in rows],
        [each.verifier for each in rows],
        [each.ttl_ms for each in rows],
        [each.exclusive for each in rows],
        [each.resume_key for each in rows],
        [each.can_recheck for each in rows],
        [each.request for each in rows],
        [each.checkout for each in rows],
        [each.client_id for each in rows],
        [each.link_kid for each in rows],
        [each.form for each in rows],
        [None if each.approvers is None else json.dumps(each.approvers) for each in rows],
        [each.verify_ms for each in rows],
        [each.traceparent for each in rows],
        [each.tenant for each in rows],
        [each.item for each in rows],
    ])
    return [Created(*row) for row in found]


class Resuming(NamedTuple):
    binding: bytes
    provider: str
    kind: Kind
    resume_key: str | None
    """of a request without an item"""
    can_recheck: bool
    request: bytes
    """digest of the request"""
    item: str | None
    """what a payment or signature is for"""
    expected: Any
    earlier_request: bytes | None
    """the digest that a package without items has made of it"""


class ResumedRow(NamedTuple):
    id: str | None
    """None: there is none"""
    provider: str
    kind: Kind
    status: Literal["pending", "opened", "processing", "completed", "held"]
    expires_at: datetime
    expires_in_ms: int
    """negative if it has expired"""
    link_kid: int | None
    """of the key that has minted its link"""


RESUME_FOR = """SELECT id::text, provider, kind, status, expires_at, expires_in_ms, link_kid FROM
    urlmode.resume_for(%s::bytea[], %s::text[], %s::text[], %s::text[], %s::boolean[], %s::bytea[], %s::text[],
    %s::jsonb[], %s::bytea[])"""


async def resume_for(query: Query, rows: Sequence[Resuming]) -> list[ResumedRow]:
    found = await query(RESUME_FOR, [
        [each.binding for each in rows],
        [each.provider for each in rows],
        [each.kind for each in rows],
        [each.resume_key for each in rows],
        [each.can_recheck for each in rows],
        [each.request for each in rows],
        [each.item for each in rows],
        [None if each.expected is None else json.dumps(each.expected) for each in rows],
        [each.earlier_request for each in rows],
    ], True)
    return [ResumedRow(*row) for row in found]


class RowKey(NamedTuple):
    id: str
    binding: bytes


class Row(NamedTuple):
    id: str
    provider: str
    kind: Kind
    status: Literal["pending", "opened", "processing", "completed"]
    action: Action | None = None
    reason: str = ""
    late: bool = False
    """whether a payment was proved after the end, which makes the action accept"""
    result: bytes | None = None
    """sealed"""
    verifier: bytes | None = None
    """sealed"""
    closes_in_ms: int = 0
    """by PostgreSQL's clock; negative if it may be expired"""
    expected: Any = None
    """the price that was asked"""
    failed_attempts: int = 0
    """how many attempts to pay have failed, or how many problems `verify` has found"""
    completed_from: OpenStatus | None = None
    """the status that a cancellation by an MCP server has interrupted"""
    rechecks: int = 0
    """how many events have required a recheck"""
    rechecked: int = 0
    """how many of them were answered"""
    recheck_in_ms: int | None = None
    """for how long nobody may begin a recheck; None or negative: now"""
    payment_reference: str | None = None
    """of the payment that is the outcome"""
    refunded: int = 0
    """how much of it went back, in minor units"""
    held: bool = False
    """whether it was paid, and the operator must decide, because a part of it may have gone back"""
    amount: int | None = None
    """of that payment, in minor units"""
    currency: str | None = None
    tax: int | None = None
    """how much of it is tax; None: nobody has said it"""


READ_PAID = """SELECT id::text, provider, kind, status, action, reason, late, result, verifier,
    closes_in_ms, expected, failed_attempts, completed_from, rechecks, rechecked, recheck_in_ms,
    payment_reference, refunded, held, amount, currency, tax FROM urlmode.read_paid(%s::uuid[], %s::bytea[])"""


async def read_paid(query: Query, rows: Sequence[RowKey]) -> list[Row]:
    found = await query(READ_PAID, [[each.id for each in rows], [each.binding for each in rows]], True)
    return [Row(*row) for row in found]


class Abandoned(NamedTuple):
    id: str
    binding: bytes
    action: EndAction
    reason: str


AbandonAnswer = Literal["completed", "already", "opened", "processing", "unknown"]
ABANDON = "SELECT outcome FROM urlmode.abandon(%s::uuid[], %s::bytea[], %s::text[], %s::text[])"


async def abandon(query: Query, rows: Sequence[Abandoned]) -> list[AbandonAnswer]:
    found = await query(ABANDON, [
        [each.id for each in rows],
        [each.binding for each in rows],
        [each.action for each in rows],
        [each.reason for each in rows],
    ])
    return [answer for (answer,) in found]


EXPIRE = "SELECT urlmode.expire(%s::uuid[], %s::bytea[])"


async def expire(query: Query, rows: Sequence[RowKey]) -> None:
    await query(EXPIRE, [[each.id for each in rows], [each.binding for each in rows]])


BeginAskAnswer = Literal["", "asked", "declined", "dismissed", "failed"]
BEGIN_ASK = "SELECT urlmode.begin_ask(%s::uuid, %s::bytea, %s::bytea, %s::boolean)"


async def begin_ask(query: Query, key: RowKey, *, client: bytes, awaited: bool) -> BeginAskAnswer:
    """`client`: digest of its name and version. `awaited`: whether its answer comes with its next call."""
    found = await query(BEGIN_ASK, [key.id, key.binding, client, awaited])
    answer: BeginAskAnswer = found[0][0]
    return answer


END_ASK = "SELECT urlmode.end_ask(%s::uuid, %s::bytea, %s::bytea, %s::text)"


async def end_ask(
    query: Query,
    key: RowKey,
    *,
    client: bytes,
    answer: Literal["accepted", "asked", "declined", "dismissed", "failed"],
) -> None:
    """`client`: digest of its name and version."""
    await query(END_ASK, [key.id, key.binding, client, answer])


MARK_READ = "SELECT urlmode.mark_read(%s::uuid[], %s::bytea[], %s::bigint)"


async def mark_read(query: Query, rows: Sequence[RowKey], *, keep_ms: int) -> None:
    """`keep_ms`: from now until the results are purged."""
    await query(MARK_READ, [[each.id for each in rows], [each.binding for each in rows], keep_ms])


SettleAnswer = Literal[
    "completed",
    "late",
    "already",
    "unknown",
    "mismatch",
    "reference_taken",
    "undecided",
    "missing",
]
SETTLE = """SELECT urlmode.settle(%s::uuid, %s::bytea, %s::text, %s::text, %s::bytea, %s::bigint, %s::text,
    %s::text)"""


async def settle(
    query: Query,
    key: RowKey,
    *,
    action: Action,
    reason: str,
    result: bytes | None,
    amount: int | None,
    currency: str | None,
    reference: str | None,
) -> SettleAnswer:
    """`result`: sealed."""
    found = await query(SETTLE, [key.id, key.binding, action, reason, result, amount, currency, reference])
    answer: SettleAnswer = found[0][0]
    return answer


class TakenCheck(NamedTuple):
    lease: int
    """for the end of this check"""
    result: bytes
    """sealed"""
    left_ms: int
    """until the time limit"""


TAKE_CHECK = "SELECT lease, result, left_ms FROM urlmode.take_check(%s::uuid, %s::bytea)"


async def take_check(query: Query, key: RowKey) -> TakenCheck | None:
    found = await query(TAKE_CHECK, [key.id, key.binding])
    return TakenCheck(*found[0]) if found else None


EndCheckAnswer = Literal["completed", "opened", "refused", "late", "unknown"]
END_CHECK = "SELECT urlmode.end_check(%s::uuid, %s::bytea, %s::integer, %s::bytea, %s::boolean)"


async def end_check(
    query: Query,
    key: RowKey,
    *,
    lease: int,
    problem: bytes | None,
    failed: bool,
) -> EndCheckAnswer:
    """`problem`: sealed. `failed`: whether it is not known."""
    found = await query(END_CHECK, [key.id, key.binding, lease, problem, failed])
    answer: EndCheckAnswer = found[0][0]
    return answer


PURGE_RESULTS = "SELECT urlmode.purge_results(%s::bigint)"


async def purge_results(query: Query, *, keep_unclaimed_ms: int) -> int:
    """`keep_unclaimed_ms`: for which the result of a payment is kept until it is claimed."""
    found = await query(PURGE_RESULTS, [keep_unclaimed_ms])
    answer: int = found[0][0]
    return answer


PURGE = "SELECT urlmode.purge(%s::bigint, %s::text)"


async def purge(query: Query, *, keep_ms: int, kind: str | None) -> int:
    """`keep_ms`: for which it must have been purgeable. `kind`: None: everything."""
    found = await query(PURGE, [keep_ms, kind])
    answer: int = found[0][0]
    return answer


END_EXCHANGE = "SELECT urlmode.end_exchange(%s::uuid, %s::bytea, %s::text)"


async def end_exchange(query: Query, key: RowKey, *, reason: str) -> bool:
    found = await query(END_EXCHANGE, [key.id, key.binding, reason])
    answer: bool = found[0][0]
    return answer


RELEASE_UNSENT = "SELECT urlmode.release_unsent(%s::uuid, %s::bytea, %s::uuid)"


async def release_unsent(query: Query, key: RowKey, *, claim_id: str) -> bool:
    found = await query(RELEASE_UNSENT, [key.id, key.binding, claim_id])
    answer: bool = found[0][0]
    return answer


READ_EXCHANGE = "SELECT urlmode.read_exchange(%s::uuid, %s::bytea)"


async def read_exchange(query: Query, key: RowKey) -> str | None:
    found = await query(READ_EXCHANGE, [key.id, key.binding], True)
    answer: str | None = found[0][0]
    return answer
