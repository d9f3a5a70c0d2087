"""Statements for many callers at once.

What is asked for while others are under way goes into the next one together; one alone is not delayed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Generic, TypeVar

import psycopg

from . import contract_texts as texts
from .background import Background
from .contract_calls import Query
from .contract_limits import BATCHES_AT_ONCE, BATCH_MAX, BATCH_WAIT_S
from .contract_words import ELEMENT_CLASSES
from .errors import UrlModeBusyError
from .sending import Sending, current_sending

T = TypeVar("T")
A = TypeVar("A")


class _Asked(Generic[T, A]):
    __slots__ = ("answer", "element", "overdue", "sending", "timer")

    def __init__(self, element: T, loop: asyncio.AbstractEventLoop) -> None:
        self.element = element
        self.answer: asyncio.Future[A] = loop.create_future()
        self.sending = current_sending()
        self.overdue = False
        self.timer = loop.call_later(BATCH_WAIT_S, self._end_wait)

    def _end_wait(self) -> None:
        self.overdue = True
        if not self.sending.sent:
            self._refuse()

    def was_not_carried_out(self) -> None:
        self.sending.sent = False
        if self.overdue:
            self._refuse()

    def _refuse(self) -> None:
        self.fail(UrlModeBusyError(texts.waited_for_others(BATCH_WAIT_S)))

    def fail(self, error: BaseException) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class Batches(Generic[T, A]):
    """`run` is one statement, in a transaction of its own, with an answer for each element, in their order. `reserve` waits for a
    connection: what is asked for, or taken back, until there is one, is in the statement, or is not."""

    def __init__(
        self, run: Callable[[Query, Sequence[T]], Awaitable[Sequence[A]]],
        reserve: Callable[[Callable[[Query], Awaitable[None]]], Awaitable[None]], background: Background,
    ) -> None:  # fmt: skip
        self._run = run
        self._reserve = reserve
        self._background = background
        self._waiting: set[asyncio.Task[None]] = set()
        """for a connection"""
        self._asked: dict[_Asked[T, A], None] = {}
        """in their order"""
        self._under_way = 0

    async def ask(self, element: T) -> A:
        asked: _Asked[T, A] = _Asked(element, asyncio.get_running_loop())
        self._asked[asked] = None
        if self._under_way < BATCHES_AT_ONCE:
            self._under_way += 1
            self._background.start(self._work())
        try:
            return await asked.answer
        finally:
            asked.timer.cancel()
            self._asked.pop(asked, None)
            if not self._asked:
                for waiting in self._waiting:
                    waiting.cancel()

    async def _work(self) -> None:
        # The task begins after all that asks in the same turn of the event loop.
        working = asyncio.current_task()
        assert working is not None

        async def answer_some(query: Query) -> None:
            self._waiting.discard(working)
            await self._answer(query, self._take())

        try:
            while self._asked:
                self._waiting.add(working)
                try:
                    with Sending().of_what_follows():  # not that of the first call
                        await self._reserve(answer_some)
                except asyncio.CancelledError:
                    pass  # All was taken back.
                except Exception as error:  # There is no connection.
                    for asked in self._take():
                        asked.fail(error)
        finally:
            self._waiting.discard(working)
            self._under_way -= 1

    def _take(self) -> list[_Asked[T, A]]:
        taken = list(islice(self._asked, BATCH_MAX))
        for asked in taken:
            del self._asked[asked]
        return taken

    async def _answer(self, query: Query, batch: list[_Asked[T, A]]) -> None:
        """One bad element fails alone: a batch that is refused is tried again in halves, as long as its callers wait.
        Never after an error that leaves open whether the statement was carried out."""
        batch = [asked for asked in batch if not asked.answer.done()]
        if not batch:
            return
        for asked in batch:
            asked.sending.sent = True
        try:
            answers = await self._run(query, [asked.element for asked in batch])
        except BaseException as error:
            splits = isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith(ELEMENT_CLASSES)
            if len(batch) == 1 or not splits:
                for asked in batch:
                    asked.fail(error)
                return
            for asked in batch:
                asked.was_not_carried_out()
            half = (len(batch) + 1) // 2
            await self._answer(query, batch[:half])
            await self._answer(query, batch[half:])
            return
        for asked, answer in zip(batch, answers):
            if not asked.answer.done():
                asked.answer.set_result(answer)
