"""Calls a function again and again, and at the earliest of many times."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .background import jittered
from .contract_limits import ALARM_MIN_S, POLL_GROWTH, POLL_MAX_S, POLL_MIN_S



class Poll:
    """Soon at first, then at growing intervals up to a limit, with jitter."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback
        self._timer: asyncio.TimerHandle | None = None
        self._interval = POLL_MIN_S

    def start(self) -> None:
        """Starts again with the shortest interval, and goes on until `stop`. Many calls do not put off the next time."""
        self._interval = POLL_MIN_S
        delay = jittered(POLL_MIN_S)
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
        self._interval = min(POLL_MAX_S, self._interval * POLL_GROWTH)
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
        self._timer = loop.call_at(max(at, loop.time() + ALARM_MIN_S), self._go_off)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._at = float("inf")

    def _go_off(self) -> None:
        self._at = float("inf")
        self._callback()
