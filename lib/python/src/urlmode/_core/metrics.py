"""What a process knows of its waits, for Prometheus (text format 0.0.4): the same names as in the Node package."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from . import contract_texts as texts
from .contract_words import WAIT_ENDS
from .errors import ElicitationTimeoutError, UrlModeClosedError
from .listener import Listener
from .wait import Wait


def _end_of(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError):
        return "aborted"
    if isinstance(error, ElicitationTimeoutError):
        return "timeout"
    return "closed" if isinstance(error, UrlModeClosedError) else "error"


class Metrics:
    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lost = 0
        self._ended = dict.fromkeys(WAIT_ENDS, 0)
        self._open: dict[Wait, float] = {}  # when each has begun, the oldest first
        listener.on_lost.append(self._count_lost)

    def _count_lost(self, _: BaseException) -> None:
        self._lost += 1

    def begin(self, wait: Wait) -> None:
        """Counts a wait. One that checks once is none."""
        if not wait.checks_once:
            self._open[wait] = time.monotonic()

    def end(self, wait: Wait, error: BaseException | None) -> None:
        """`error`: why it has ended without an outcome"""
        if self._open.pop(wait, None) is not None:
            self._ended[wait.future.result().action if error is None else _end_of(error)] += 1

    def text(self) -> str:
        began = next(iter(self._open.values()), None)
        age = 0.0 if began is None else time.monotonic() - began
        ended = [(f'{{end="{end}"}}', count) for end, count in self._ended.items()]
        return "".join((
            _metric("waits", "gauge", texts.WAITS_METRIC, [("", len(self._open))]),
            _metric("oldest_wait_age_seconds", "gauge",
                texts.OLDEST_WAIT_METRIC, [("", f"{age:.3f}")]),
            _metric("waits_ended_total", "counter",
                texts.WAITS_ENDED_METRIC, ended),
            _metric("notifications_arrive", "gauge",
                texts.NOTIFICATIONS_METRIC,
                [("", int(self._listener.receives_notifications))]),
            _metric("connections_lost_total", "counter",
                texts.CONNECTIONS_LOST_METRIC,
                [("", self._lost)]),
        ))  # fmt: skip


def _metric(name: str, kind: str, help: str, values: Sequence[tuple[str, object]]) -> str:
    """`values`: labels and value."""
    whole = f"urlmode_server_{name}"
    samples = "".join(f"{whole}{labels} {value}\n" for labels, value in values)
    return f"# HELP {whole} {help}\n# TYPE {whole} {kind}\n{samples}"
