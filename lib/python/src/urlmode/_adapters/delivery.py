"""When an answer counts as written: the framework has taken it, and it is no error. What a tool does after its body can
still fail, or make a result of it that the framework refuses. Then the next call is given the result that was kept."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

_waiting: ContextVar[list[Callable[[], None]] | None] = ContextVar("urlmode_deliveries", default=None)
"""What the end of this call confirms. The tasks of a call share it. None: nobody tells how the call ends."""


def expect_end() -> None:
    """Somebody will tell how this call ends, by `has_ended`."""
    if _waiting.get() is None:
        _waiting.set([])


def when_delivered(confirm: Callable[[], None]) -> None:
    """Confirms at once if nobody tells how the call ends."""
    waiting = _waiting.get()
    if waiting is None:
        confirm()
    else:
        waiting.append(confirm)


def has_ended(*, well: bool) -> None:
    waiting = _waiting.get() or []
    if well:
        for confirm in waiting:
            confirm()
    waiting.clear()
