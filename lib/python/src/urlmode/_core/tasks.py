"""Calls that MCP clients hold as tasks: rows that any instance reads, whose values are sealed for the task and its owner
(../../../../sql/functions/044_task.sql)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import contract_tasks as sql
from .contract_calls import Query, RowKey
from .contract_limits import TASK_CALL_MAX, TASK_LEASE_S
from .contract_seals import TASK_INFO
from .contract_tasks import TaskRow
from .keys import KeyRing
from .seal import seal, to_json, unseal
from .types import Kind

_LEASE_MS = TASK_LEASE_S * 1000


@dataclass(frozen=True, kw_only=True)
class TaskCall:
    tool: str
    arguments: Any
    responses: dict[str, Any] | None
    """what was sent with the call, which had asked for something before"""
    state: str
    """the request state with which the call goes on"""
    requests: dict[str, Any]
    """what its client is asked meanwhile"""
    is_own: bool
    """whether that is to open the elicitation, which may end without an answer"""
    text: str
    """for people and models: what it waits for"""
    kind: Kind

    def to_wire(self) -> dict[str, Any]:
        wire = {
            "tool": self.tool, "arguments": self.arguments, "responses": self.responses, "state": self.state, "requests": self.requests,
            "isOwn": self.is_own, "text": self.text, "kind": self.kind,
        }  # fmt: skip
        return {name: value for name, value in wire.items() if value is not None}


def _call_of(wire: dict[str, Any]) -> TaskCall:
    return TaskCall(
        tool=wire["tool"], arguments=wire.get("arguments"), responses=wire.get("responses"), state=wire["state"],
        requests=wire["requests"], is_own=wire["isOwn"], text=wire["text"], kind=wire["kind"],
    )  # fmt: skip


@dataclass(frozen=True)
class Task:
    key: RowKey
    row: TaskRow
    call: TaskCall
    answers: dict[str, Any]
    """of the client, by the keys of `call.requests`"""
    result: dict[str, Any] | None
    """`result`, or `error`"""


class TaskClaim(NamedTuple):
    """Of the elicitation with this id."""

    id: str
    fence: int


class NextCall(NamedTuple):
    """What a task waits for from now on."""

    elicitation: str
    call: TaskCall


class Tasks:
    def __init__(self, query: Query, keys: KeyRing, keep_ms: int) -> None:
        """`keep_ms`: how long a result is kept after the last end of its claim."""
        self._query = query
        self._keys = keys
        self._keep_ms = keep_ms

    async def create(self, binding: bytes, elicitation: str, call: TaskCall) -> Task | None:
        """None: the owner has no such elicitation."""
        key = RowKey(str(uuid.uuid4()), binding)
        created = await sql.create_task(self._query, key, elicitation=elicitation, call=self.seal(key, call.to_wire()))
        return await self.read(key) if created else None

    async def read(self, key: RowKey) -> Task | None:
        """None: the owner has no such task, or it is over."""
        row = await sql.read_task(self._query, key)
        if row is None:
            return None
        answers = {name: self._open(key, sealed)["answer"] for name, sealed in zip(row.answered, row.answers)}
        result = None if row.result is None else self._open(key, row.result)
        return Task(key, row, _call_of(self._open(key, row.call)), answers, result)

    async def answer(self, task: Task, name: str, answer: Any) -> bool:
        """Keeps what the client has answered to what it was asked by this name: true once."""
        sealed = self.seal(task.key, {"answer": answer})
        return await sql.answer_task_input(self._query, task.key, round=task.row.round, name=name, sealed=sealed)

    async def begin(self, task: Task, lease: int = 0) -> int:
        """The lease, or `lease` made longer. 0: another instance has it, or the task is not open."""
        return await sql.begin_task(self._query, task.key, lease_ms=_LEASE_MS, lease=lease)

    async def go_on(self, task: Task, lease: int, next: NextCall | None = None) -> None:
        """Ends the lease of a tool that has not ended. None: it waits as before."""
        await sql.continue_task(
            self._query, task.key, lease=lease, elicitation=next.elicitation if next else None,
            call=self.seal(task.key, next.call.to_wire()) if next else None,
        )  # fmt: skip

    async def end(self, task: Task, lease: int, result: bytes, claims: Sequence[TaskClaim]) -> bool:
        """`result`: sealed. False: another instance has the lease, or it was cancelled."""
        return await sql.end_task(
            self._query, task.key, lease=lease, result=result, claimed=[each.id for each in claims],
            fences=[each.fence for each in claims], keep_ms=self._keep_ms,
        )  # fmt: skip

    async def confirm(self, task: Task) -> None:
        """The client has the result: what it was made of is delivered."""
        await sql.confirm_task(self._query, task.key, keep_ms=self._keep_ms)

    async def cancel(self, key: RowKey) -> bool:
        """False: the owner has no such task."""
        return await sql.cancel_task(self._query, key)

    def seal(self, key: RowKey, value: dict[str, Any]) -> bytes:
        """Raises if it cannot be written as JSON."""
        return seal(self._keys, TASK_INFO, *key, to_json(value))

    def _open(self, key: RowKey, sealed: bytes) -> dict[str, Any]:
        return unseal(self._keys, TASK_INFO, *key, sealed)


def can_be_kept(value: Any) -> bool:
    """Whether a call, or an answer, is small enough to be kept. Its state and what it asks for come on top."""
    try:
        return len(to_json(value)) <= TASK_CALL_MAX / 4
    except (ValueError, RecursionError):
        return False
