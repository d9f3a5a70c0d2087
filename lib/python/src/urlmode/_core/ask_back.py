"""Asks the server back, by a function of the caller: `recheck`, about an event that proves nothing, and `verify`, about
what a user has typed.

For one elicitation each runs in one process at a time: a process takes a lease in the row before it begins, and ends it
with what the function has said, or with its failure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Generic, NamedTuple, TypeVar

from .contract_calls import Row, RowKey, TakenCheck, TakenRecheck
from .contract_limits import RECHECK_LEASE_S
from .contract_seals import PROBLEM_INFO, RESULT_INFO
from .database import Database
from .errors import ElicitationMismatchError, ElicitationReferenceError
from .form import check_problem
from .form_types import Verify, VerifyFunction
from .keys import KeyRing
from .log import warn
from .seal import seal, to_json, unseal
from .tasks import OverdueError, call
from .types import Answer, Expected, Recheck, RecheckFunction

Taken = TypeVar("Taken")
Function = TypeVar("Function")


class Asked(NamedTuple):
    taken: bool
    """False: another process asks, or there is nothing to ask."""
    error: Exception | None = None
    """That of the function, or of an answer that is not valid."""


def needs_recheck(row: Row) -> bool:
    """Whether an event has asked for a recheck that nobody has answered. A payment that ended without an accept may
    have been paid late. One that is held was paid."""
    if row.rechecks <= row.rechecked:
        return False
    return row.status != "completed" or (row.kind == "payment" and row.action != "accept" and not row.held)


def needs_check(row: Row) -> bool:
    """Whether a user has typed something that nobody has verified."""
    return row.kind == "input" and row.status == "processing"


class AskBack(Generic[Taken, Function]):
    """One of the two questions."""

    def __init__(self) -> None:
        self._running: dict[str, str] = {}

    def begun_on(self, id: str) -> str | None:
        """The status of the row when this process began to ask what it is asking."""
        return self._running.get(id)

    async def run(self, row: Row, binding: bytes, function: Function) -> Asked:
        """Raises errors of PostgreSQL."""
        self._running[row.id] = row.status
        key = RowKey(row.id, binding)
        try:
            taken = await self._take(key)
            if taken is None:
                return Asked(False)
            answer: Any = None
            error: Exception | None = None
            failed = False
            try:
                answer = await self._ask(key, row.provider, taken, function)
            except OverdueError:
                failed = True
            except Exception as raised:
                failed, error = True, raised
            await self._end(key, taken, answer, failed)
            return Asked(True, error)
        finally:
            self._running.pop(row.id, None)

    async def _take(self, key: RowKey) -> Taken | None:
        raise NotImplementedError

    async def _ask(self, key: RowKey, provider: str, taken: Taken, function: Function) -> Any:
        raise NotImplementedError

    async def _end(self, key: RowKey, taken: Taken, answer: Any, failed: bool) -> None:
        raise NotImplementedError


class Rechecker(AskBack[TakenRecheck, RecheckFunction]):
    """Asks the provider about an event that proves nothing."""

    def __init__(self, database: Database, complete: Callable[[RowKey, Answer], Awaitable[object]]) -> None:
        super().__init__()
        self._database = database
        self._complete = complete

    async def _take(self, key: RowKey) -> TakenRecheck | None:
        return await self._database.take_recheck(key, round(RECHECK_LEASE_S * 1000))

    async def _ask(self, key: RowKey, provider: str, taken: TakenRecheck, function: RecheckFunction) -> None:
        expected, references = taken.expected, taken.unproven_references
        request = Recheck(
            elicitation_id=key.id,
            provider=provider,
            type=taken.event_type,
            reference=references[-1] if references else None,
            references=references,
            expected=Expected(expected["amount"], expected["currency"]) if isinstance(expected, dict) else expected,
        )
        timer = asyncio.get_running_loop().call_later(RECHECK_LEASE_S, warn, "URLMODE_RECHECK",
            f"recheck of elicitation {key.id} takes more than {RECHECK_LEASE_S:g} s: another instance may begin one meanwhile")
        try:
            answer = await call("recheck", function, request)
            if answer is not None:
                await self._complete(key, answer)
        except (ElicitationMismatchError, ElicitationReferenceError) as error:
            # A stranger may have sent the reference. The wait continues.
            warn("URLMODE_RECHECK", f"recheck changed nothing: {error}")
        finally:
            timer.cancel()

    async def _end(self, key: RowKey, taken: TakenRecheck, answer: None, failed: bool) -> None:
        await self._database.end_recheck(key, taken, failed)


class Checker(AskBack[TakenCheck, VerifyFunction]):
    """Verifies what a user has typed."""

    def __init__(self, database: Database, keys: KeyRing) -> None:
        super().__init__()
        self._database = database
        self._keys = keys

    async def _take(self, key: RowKey) -> TakenCheck | None:
        return await self._database.take_check(key)

    async def _ask(self, key: RowKey, provider: str, taken: TakenCheck, function: VerifyFunction) -> Any:
        values = unseal(self._keys, RESULT_INFO, *key, taken.result)["values"]
        request = Verify(elicitation_id=key.id, provider=provider, values=values)
        try:
            return check_problem(await call("verify", function, request, max(0.0, taken.left_ms / 1000)))
        except OverdueError:
            # The page is open again.
            warn("URLMODE_VERIFY", f"verify of elicitation {key.id} took longer than its time limit")
            raise

    async def _end(self, key: RowKey, taken: TakenCheck, answer: Any, failed: bool) -> None:
        problem = None if answer is None else seal(self._keys, PROBLEM_INFO, *key, to_json(answer))
        await self._database.end_check(key, taken.lease, problem, failed)
