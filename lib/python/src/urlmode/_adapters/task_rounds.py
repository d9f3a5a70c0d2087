"""A call that its client can hold as a task, and a run of the tool of a task: what the adapter and the tasks tell each other.
See tasks.py."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from .._core.tasks import TaskClaim
from .._core.types import Kind


@dataclass(frozen=True)
class Awaited:
    """What a call waits for from now on."""

    elicitation_id: str
    kind: Kind
    text: str


class TaskRound:
    """A call that can become a task."""

    def __init__(self) -> None:
        self.awaited: Awaited | None = None


class TaskRun(TaskRound):
    """A run of the tool of a task. Nobody waits for its answer, and who reads what is kept of it confirms its claims."""

    def __init__(self) -> None:
        super().__init__()
        self.claims: list[TaskClaim] = []
        self.is_undone = False
        """whether it has failed before its body has begun, so that the next one tries again"""
        self._settle: list[Callable[[bool, bool], Any]] = []

    def made_of(self, claim: TaskClaim, settle: Callable[[bool, bool], Any]) -> None:
        """`settle` says what becomes of the claim if the task does not keep it: whether the call has ended well, and was answered."""
        self.claims.append(claim)
        self._settle.append(settle)

    def kept(self) -> None:
        self._settle.clear()

    def end(self, *, well: bool, written: bool) -> None:
        """Once, unless it is kept."""
        settle, self._settle = self._settle, []
        for each in settle:
            each(well, written)


_current: ContextVar[tuple[object, TaskRound] | None] = ContextVar("urlmode_task_round", default=None)


@contextlib.contextmanager
def in_round(session: object, round: TaskRound) -> Iterator[None]:
    """The call that is made inside. `session`: that of its request, which a call of another server beside it does not have."""
    token = _current.set((session, round))
    try:
        yield
    finally:
        _current.reset(token)


def round_of(session: object) -> TaskRound | None:
    current = _current.get()
    return current[1] if current is not None and current[0] is session else None
