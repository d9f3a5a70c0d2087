"""When an answer counts as written: the framework has taken it, and it is no error. What a tool does after its body can
still fail, or make a result of it that the framework refuses. Then the next call is given the result that was kept, or
makes it again. A tool that asks for something more has not ended: the call that goes on is given the results again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Union

Ended = Callable[[bool], None]
"""Whether the call has ended well."""
Pass = Callable[[Union[str, None]], str]
"""The request state of a call that goes on after a body that has a result, around that of what has asked."""


class Delivery:
    def __init__(self) -> None:
        self.waiting: list[Ended] = []
        self.passes: list[Pass] = []

    def ended(self, *, well: bool) -> None:
        for report in self.waiting:
            report(well)
        self.waiting.clear()
        self.passes.clear()

    def goes_on(self, state: str | None) -> str | None:
        passes, self.passes = self.passes, []
        self.waiting.clear()
        for each in reversed(passes):
            state = each(state)
        return state


_delivery: ContextVar[Delivery | None] = ContextVar("urlmode_deliveries", default=None)
"""What waits for the end of this call. The tasks of a call share it. None: nobody tells how the call ends."""


def expect_end() -> None:
    """Somebody will tell how this call ends, by `has_ended`."""
    if _delivery.get() is None:
        _delivery.set(Delivery())


@contextlib.contextmanager
def of_body() -> Iterator[Delivery]:
    """What the body of a call asks for in its turn is done when the result of the body is kept."""
    made = Delivery()
    token = _delivery.set(made)
    try:
        yield made
    finally:
        _delivery.reset(token)


def when_ended(report: Ended, goes_on: Pass) -> None:
    """At once if nobody tells how the call ends. `goes_on` is called in its place if the tool asks for something more."""
    delivery = _delivery.get()
    if delivery is None:
        report(True)
    else:
        delivery.waiting.append(report)
        delivery.passes.append(goes_on)


def has_ended(*, well: bool) -> None:
    if (delivery := _delivery.get()) is not None:
        delivery.ended(well=well)


def goes_on(state: str | None = None) -> str | None:
    """The tool has not ended: it asks for something more, with this request state, or has returned a link. The request state of the
    call that goes on."""
    delivery = _delivery.get()
    return state if delivery is None else delivery.goes_on(state)
