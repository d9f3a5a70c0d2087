"""Calls a function again and again, and at the earliest of many times."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ._tasks import jittered

_POLL_MIN_S = 0.25
_POLL_MAX_S = 5.0
_POLL_GROWTH = 1.5
# The shortest delay of an alarm, because each call looks at everything.
_ALARM_MIN_S = 0.05


class Poll:
    """Soon at first, then at growing intervals up to a limit, with jitter."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback
        self._timer: asyncio.TimerHandle | None = None
        self._interval = _POLL_MIN_S

    def start(self) -> None:
        """Starts again with the shortest interval, and goes on until `stop`. Many calls do not put off the next time."""
        self._interval = _POLL_MIN_S
        delay = jittered(_POLL_MIN_S)
        if self._timer is None or asyncio.get_running_loop().time() + delay < self._timer.when():
            self._schedule(delay)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self, delay: float) -> None:
        self.stop()
        self._timer = asyncio.get_running_loop().call_later(delay, self._go_off)

    def _go_off(self) -> None:
        self._timer = None
        self._interval = min(_POLL_MAX_S, self._interval * _POLL_GROWTH)
        self._schedule(jittered(self._interval))
        self._callback()


class Alarm:
    """One timer for thousands of times. It goes off at the earliest; the function that it calls sets it again."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback
        self._timer: asyncio.TimerHandle | None = None
        self._at = float("inf")

    def set(self, at: float) -> None:
        """`at` is a time of the event loop."""
        if at >= self._at:
            return
        self.stop()
        loop = asyncio.get_running_loop()
        self._at = at
        self._timer = loop.call_at(max(at, loop.time() + _ALARM_MIN_S), self._go_off)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._at = float("inf")

    def _go_off(self) -> None:
        self._at = float("inf")
        self._callback()
