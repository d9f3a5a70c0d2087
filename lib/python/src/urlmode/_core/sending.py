"""Whether the statement of a call was sent. Until then, who cancels the call takes it back; what was sent ends as it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Sending:
    __slots__ = ("sent",)

    def __init__(self) -> None:
        self.sent = False

    @contextmanager
    def of_what_follows(self) -> Iterator[None]:
        """The statements of this task, and of those that it starts, are those of one call."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[Sending] = ContextVar("urlmode_sending")


def current_sending() -> Sending:
    return _current.get(None) or Sending()
