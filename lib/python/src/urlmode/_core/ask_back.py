"""Asks the server back, by a function of the caller: `recheck`, about an event that proves nothing, and `verify`, about
what a user has typed.

For one elicitation each runs in one process at a time: a process takes a lease in the row before it begins, and ends it
with what the function has said, or with its failure.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Generic, NamedTuple, TypeVar

from . import contract_texts as texts
from .background import OverdueError, call
from .contract_calls import Row, RowKey, TakenCheck
from .contract_limits import RECHECK_LEASE_S
from .contract_rechecks import TakenRecheck
from .contract_seals import PROBLEM_INFO, RESULT_INFO
from .database import Database
from .entries import check_entries
from .errors import ElicitationMismatchError, ElicitationReferenceError
from .form import check_problem
from .form_types import Verify, VerifyFunction
from .keys import KeyRing
from .log import warn
from .money_types import Entries, Expected
from .seal import seal, to_json, unseal
from .types import Answer, Recheck, RecheckFunction

Taken = TypeVar("Taken")
Function = TypeVar("Function")


_NOT_RECORDED = {
    "foreign": texts.ENTRY_IS_FOREIGN,
    "reference_taken": texts.ENTRY_IS_TAKEN,
}


class Asked(NamedTuple):
    taken: bool
    """False: another process asks, or there is nothing to ask."""
    error: Exception | None = None
    """That of the function, or of an answer that is not valid."""


def needs_recheck(row: Row) -> bool:
    """Whether an event has asked for a recheck that nobody has answered. A payment that has ended may have been paid
    late, or have gone back."""
    return row.rechecks > row.rechecked and (row.status != "completed" or row.kind == "payment")


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

    async def run(
        self, key: RowKey, status: str, function: Function, *, provider: str = "", max_age_ms: int | None = None
    ) -> Asked:
        """`provider` is for a check; `max_age_ms` is for a claim: how old the last answer may be. Raises errors of
        PostgreSQL."""
        self._running[key.id] = status
        try:
            taken = await self._take(key, max_age_ms)
            if taken is None:
                return Asked(False)
            return Asked(True, await self.answer(key, provider, taken, function))
        finally:
            self._running.pop(key.id, None)

    async def answer(self, key: RowKey, provider: str, taken: Taken, function: Function) -> Exception | None:
        """`run`, of what was taken before."""
        answer: Any = None
        error: Exception | None = None
        failed = False
        try:
            answer = await self._ask(key, provider, taken, function)
        except OverdueError:
            failed = True
        except Exception as raised:
            failed, error = True, raised
        except asyncio.CancelledError:
            # Others need not wait for the end of the lease.
            with contextlib.suppress(Exception):
                await self._end(key, taken, None, True)
            raise
        await self._end(key, taken, answer, failed)
        return error

    async def _take(self, key: RowKey, max_age_ms: int | None) -> Taken | None:
        raise NotImplementedError

    async def _ask(self, key: RowKey, provider: str, taken: Taken, function: Function) -> Any:
        raise NotImplementedError

    async def _end(self, key: RowKey, taken: Taken, answer: Any, failed: bool) -> None:
        raise NotImplementedError


class Rechecker(AskBack[TakenRecheck, RecheckFunction]):
    """Asks the provider about an event that proves nothing."""

    def __init__(
        self, database: Database, keys: KeyRing, complete: Callable[[RowKey, Answer], Awaitable[object]]
    ) -> None:
        super().__init__()
        self._database = database
        self._keys = keys
        self._complete = complete

    async def _take(self, key: RowKey, max_age_ms: int | None) -> TakenRecheck | None:
        return await self._database.begin_recheck(key, round(RECHECK_LEASE_S * 1000), max_age_ms)

    async def _ask(self, key: RowKey, provider: str, taken: TakenRecheck, function: RecheckFunction) -> Any:
        """What the provider has, or None if there is nothing to record any more."""
        expected, references = taken.expected, taken.unproven_references
        request = Recheck(
            elicitation_id=key.id,
            provider=taken.provider,
            type=taken.event_type,
            reference=references[-1] if references else None,
            references=references,
            expected=Expected(expected.get("amount"), expected.get("currency"), expected.get("match", "exact")) if isinstance(expected, dict) else expected,
            checkout=taken.checkout,
        )
        try:
            answer = await call("recheck", function, request, RECHECK_LEASE_S)
            if isinstance(answer, Entries):
                return check_entries(answer)
            if answer is not None:
                await self._complete(key, answer)
        except (ElicitationMismatchError, ElicitationReferenceError) as error:
            # A stranger may have sent the reference. The wait continues.
            warn("URLMODE_RECHECK", f"recheck changed nothing: {error}")
        except OverdueError:
            raise TimeoutError(texts.recheck_overdue(key.id, RECHECK_LEASE_S)) from None
        return None

    async def _end(self, key: RowKey, taken: TakenRecheck, answer: Any, failed: bool) -> None:
        if answer is None:
            await self._database.end_recheck(key, taken, failed)
            return
        payments, refunds = answer
        sealed = [{**row, "result": self._seal(key, row)} for row in payments]
        outcomes = await self._database.answer_recheck(key, taken, sealed, refunds)
        for row, outcome in zip([*payments, *refunds], outcomes):
            why = _NOT_RECORDED.get(outcome)
            if why:
                warn("URLMODE_RECHECK", texts.recheck_not_recorded(key.id, row["reference"], why))

    def _seal(self, key: RowKey, row: dict[str, Any]) -> str:
        """What an event would have told."""
        result = {name: row[name] for name in ("reference", "amount", "currency")}
        return base64.b64encode(seal(self._keys, RESULT_INFO, *key, to_json(result))).decode()


class Checker(AskBack[TakenCheck, VerifyFunction]):
    """Verifies what a user has typed."""

    def __init__(self, database: Database, keys: KeyRing) -> None:
        super().__init__()
        self._database = database
        self._keys = keys

    async def _take(self, key: RowKey, max_age_ms: int | None) -> TakenCheck | None:
        return await self._database.take_check(key)

    async def _ask(self, key: RowKey, provider: str, taken: TakenCheck, function: VerifyFunction) -> Any:
        values = unseal(self._keys, RESULT_INFO, *key, taken.result)["values"]
        request = Verify(elicitation_id=key.id, provider=provider, values=values)
        try:
            return check_problem(await call("verify", function, request, max(0.0, taken.left_ms / 1000)))
        except OverdueError:
            # The page is open again.
            warn("URLMODE_VERIFY", texts.verify_overdue(key.id))
            raise

    async def _end(self, key: RowKey, taken: TakenCheck, answer: Any, failed: bool) -> None:
        problem = None if answer is None else seal(self._keys, PROBLEM_INFO, *key, to_json(answer))
        await self._database.end_check(key, taken.lease, problem, failed)
