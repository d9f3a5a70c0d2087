"""The intervals of a poll."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from urlmode._core.poll import Poll


class Clock:
    """An event loop with a time that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[asyncio.TimerHandle] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Any) -> asyncio.TimerHandle:
        self.timers.append(asyncio.TimerHandle(self.now + delay, callback, (), cast(Any, self)))
        return self.timers[-1]

    def _timer_handle_cancelled(self, timer: asyncio.TimerHandle) -> None:
        self.timers.remove(timer)

    def get_debug(self) -> bool:
        return False

    def pass_time(self, seconds: float) -> None:
        until = self.now + seconds
        while due := [timer for timer in self.timers if timer.when() <= until]:
            first = min(due, key=asyncio.TimerHandle.when)
            self.timers.remove(first)
            self.now = first.when()
            first._run()
        self.now = until


def test_a_poll_begins_with_its_shortest_interval_and_is_never_put_off(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, times = Clock(), list[float]()
    monkeypatch.setattr("urlmode._core.poll.asyncio.get_running_loop", lambda: clock)
    monkeypatch.setattr("urlmode._core.background.random.random", lambda: 0.5)
    poll = Poll(lambda: times.append(clock.now))
    for start in (0.0, 100.0):
        poll.start()
        clock.pass_time(100)
        assert [at - start for at in times[:4]] == [0.25, 0.625, 1.1875, 2.03125]
        assert len(times) > 20, "at least every five seconds"
        times.clear()
    for _ in range(100):
        poll.start()
        clock.pass_time(0.1)
    assert len(times) >= 20
    poll.stop()
    assert clock.timers == []
