"""When an answer counts as written: the framework has taken it, and it is no error. What a tool does after its body can
still fail, or make a result of it that the framework refuses. Then the next call is given the result that was kept, or
makes it again."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

Ended = Callable[[bool], None]
"""Whether the call has ended well."""

_waiting: ContextVar[list[Ended] | None] = ContextVar("urlmode_deliveries", default=None)
"""What waits for the end of this call. The tasks of a call share it. None: nobody tells how the call ends."""


def expect_end() -> None:
    """Somebody will tell how this call ends, by `has_ended`."""
    if _waiting.get() is None:
        _waiting.set([])


def when_ended(tell: Ended) -> None:
    """At once if nobody tells how the call ends."""
    waiting = _waiting.get()
    if waiting is None:
        tell(True)
    else:
        waiting.append(tell)


def has_ended(*, well: bool) -> None:
    waiting = _waiting.get() or []
    for tell in waiting:
        tell(well)
    waiting.clear()
