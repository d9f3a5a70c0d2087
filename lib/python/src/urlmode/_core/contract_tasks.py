"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from .contract_calls import Query, RowKey


class CreatedTask(NamedTuple):
    created_at: datetime
    expires_at: datetime


CREATE_TASK = """SELECT created_at, expires_at FROM urlmode.create_task(%s::uuid, %s::bytea, %s::uuid,
    %s::bytea)"""


async def create_task(query: Query, key: RowKey, *, elicitation: str, call: bytes) -> CreatedTask | None:
    """`elicitation`: that it waits for. `call`: sealed."""
    found = await query(CREATE_TASK, [key.id, key.binding, elicitation, call])
    return CreatedTask(*found[0]) if found else None


class TaskRow(NamedTuple):
    elicitation: str
    call: bytes
    """sealed"""
    round: int
    """how often its client was asked for something"""
    answered: list[str]
    """the keys of this round that it has answered"""
    answers: list[bytes]
    """sealed, in the order of `answered`"""
    state: Literal["open", "ended", "cancelled"]
    result: bytes | None
    """sealed"""
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
    status: Literal["", "pending", "opened", "processing", "completed"]
    """of its elicitation; empty: it is deleted"""
    is_due: bool
    """whether its tool has something to do now"""
    is_leased: bool
    """whether an instance runs its tool"""
    is_unread: bool
    """whether it has a result that was never read"""
    withheld: Literal["refunded", "claimed"] | None
    """why it has none any more"""


READ_TASK = """SELECT elicitation::text, call, round, answered, answers, state, result, created_at,
    updated_at, expires_at, status, is_due, is_leased, is_unread, withheld FROM urlmode.read_task(%s::uuid,
    %s::bytea)"""


async def read_task(query: Query, key: RowKey) -> TaskRow | None:
    found = await query(READ_TASK, [key.id, key.binding], True)
    return TaskRow(*found[0]) if found else None


ANSWER_TASK_INPUT = """SELECT urlmode.answer_task_input(%s::uuid, %s::bytea, %s::integer, %s::text,
    %s::bytea)"""


async def answer_task_input(query: Query, key: RowKey, *, round: int, name: str, sealed: bytes) -> bool:
    """`name`: of what was asked. `sealed`: what was answered."""
    found = await query(ANSWER_TASK_INPUT, [key.id, key.binding, round, name, sealed])
    answer: bool = found[0][0]
    return answer


BEGIN_TASK = "SELECT urlmode.begin_task(%s::uuid, %s::bytea, %s::bigint, %s::integer)"


async def begin_task(query: Query, key: RowKey, *, lease_ms: int, lease: int) -> int:
    """`lease`: its number, to make it longer; 0: a new one."""
    found = await query(BEGIN_TASK, [key.id, key.binding, lease_ms, lease])
    answer: int = found[0][0]
    return answer


CONTINUE_TASK = "SELECT urlmode.continue_task(%s::uuid, %s::bytea, %s::integer, %s::uuid, %s::bytea)"


async def continue_task(
    query: Query,
    key: RowKey,
    *,
    lease: int,
    elicitation: str | None,
    call: bytes | None,
) -> bool:
    """`call`: sealed."""
    found = await query(CONTINUE_TASK, [key.id, key.binding, lease, elicitation, call])
    answer: bool = found[0][0]
    return answer


END_TASK = """SELECT urlmode.end_task(%s::uuid, %s::bytea, %s::integer, %s::bytea, %s::uuid[], %s::bigint[],
    %s::bigint)"""


async def end_task(
    query: Query,
    key: RowKey,
    *,
    lease: int,
    result: bytes,
    claimed: list[str],
    fences: list[int],
    keep_ms: int,
) -> bool:
    """`result`: sealed. `claimed`: the elicitations whose outcomes it was made of. `fences`: of these claims.
    `keep_ms`: from now until the results are purged.
    """
    found = await query(END_TASK, [key.id, key.binding, lease, result, claimed, fences, keep_ms])
    answer: bool = found[0][0]
    return answer


CONFIRM_TASK = "SELECT urlmode.confirm_task(%s::uuid, %s::bytea, %s::bigint)"


async def confirm_task(query: Query, key: RowKey, *, keep_ms: int) -> bool:
    """`keep_ms`: from now until the results are purged."""
    found = await query(CONFIRM_TASK, [key.id, key.binding, keep_ms])
    answer: bool = found[0][0]
    return answer


CANCEL_TASK = "SELECT urlmode.cancel_task(%s::uuid, %s::bytea)"


async def cancel_task(query: Query, key: RowKey) -> bool:
    found = await query(CANCEL_TASK, [key.id, key.binding])
    answer: bool = found[0][0]
    return answer
