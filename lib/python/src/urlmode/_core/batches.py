"""Statements for many callers at once.

What is asked for while others are under way goes into the next one together; one alone is not delayed.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

import psycopg

from .contract_limits import BATCHES_AT_ONCE, BATCH_MAX, BATCH_WAIT_S
from .errors import UrlModeBusyError
from .tasks import Tasks

T = TypeVar("T")
A = TypeVar("A")

# SQLSTATEs with which the server refuses a statement for the sake of one of its elements, or of another transaction:
# data, constraints, RAISE, deadlocks, locks that take too long. Nothing of the statement has happened then.
_OF_AN_ELEMENT = re.compile("22|23|P0|40|55P03|57014")


class _Asked(Generic[T, A]):
    __slots__ = ("answer", "element", "overdue", "sent", "timer")

    def __init__(self, element: T, loop: asyncio.AbstractEventLoop) -> None:
        self.element = element
        self.answer: asyncio.Future[A] = loop.create_future()
        self.sent = False
        self.overdue = False
        self.timer = loop.call_later(BATCH_WAIT_S, self._end_wait)

    def _end_wait(self) -> None:
        self.overdue = True
        if not self.sent:
            self._refuse()

    def was_not_carried_out(self) -> None:
        self.sent = False
        if self.overdue:
            self._refuse()

    def _refuse(self) -> None:
        self.fail(UrlModeBusyError(f"the call has waited {BATCH_WAIT_S:g} s for others"))

    def fail(self, error: BaseException) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class Batches(Generic[T, A]):
    """`run` is one statement, in a transaction of its own, with an answer for each element, in their order."""

    def __init__(self, run: Callable[[Sequence[T]], Awaitable[Sequence[A]]]) -> None:
        self._run = run
        self._asked: deque[_Asked[T, A]] = deque()
        self._under_way = 0
        self._tasks = Tasks()

    async def ask(self, element: T) -> A:
        asked: _Asked[T, A] = _Asked(element, asyncio.get_running_loop())
        self._asked.append(asked)
        if self._under_way < BATCHES_AT_ONCE:
            self._under_way += 1
            self._tasks.start(self._work())
        try:
            return await asked.answer
        finally:
            asked.timer.cancel()

    async def _work(self) -> None:
        # The task begins after all that asks in the same turn of the event loop.
        try:
            while self._asked:
                await self._answer([self._asked.popleft() for _ in range(min(BATCH_MAX, len(self._asked)))])
        finally:
            self._under_way -= 1

    async def _answer(self, batch: list[_Asked[T, A]]) -> None:
        """One bad element fails alone: a batch that is refused is tried again in halves, as long as its callers wait.
        Never after an error that leaves open whether the statement was carried out."""
        batch = [asked for asked in batch if not asked.answer.done()]
        if not batch:
            return
        for asked in batch:
            asked.sent = True
        try:
            answers = await self._run([asked.element for asked in batch])
        except BaseException as error:
            splits = isinstance(error, psycopg.Error) and _OF_AN_ELEMENT.match(error.sqlstate or "")
            if len(batch) == 1 or not splits:
                for asked in batch:
                    asked.fail(error)
                return
            for asked in batch:
                asked.was_not_carried_out()
            half = (len(batch) + 1) // 2
            await self._answer(batch[:half])
            await self._answer(batch[half:])
            return
        for asked, answer in zip(batch, answers):
            if not asked.answer.done():
                asked.answer.set_result(answer)
