"""Verifies what a user has typed, by a function of the caller. For one submission it runs in one process: a process takes
the values from the row before it begins."""

from __future__ import annotations

from typing import NamedTuple

from .contract_calls import TakenCheck, Row, RowKey
from .contract_seals import PROBLEM_INFO, RESULT_INFO
from .database import Database
from .form import check_problem
from .form_types import Verify, VerifyFunction
from .keys import KeyRing
from .log import warn
from .seal import seal, to_json, unseal
from .tasks import OverdueError, call


class _End(NamedTuple):
    failed: bool
    """The function has not answered."""
    problem: bytes | None = None
    """sealed"""
    error: Exception | None = None


def needs_check(row: Row) -> bool:
    """Whether a user has typed something that nobody has verified."""
    return row.kind == "input" and row.status == "processing"


class Checker:
    def __init__(self, database: Database, keys: KeyRing) -> None:
        self._database = database
        self._keys = keys
        self._running: set[str] = set()

    def is_running(self, id: str) -> bool:
        """Whether a check is running in this process."""
        return id in self._running

    async def run(self, row: Row, binding: bytes, verify: VerifyFunction) -> tuple[bool, Exception | None]:
        """Whether this process has verified it, and the error of the function, or of an answer that is not valid. Raises
        errors of PostgreSQL."""
        self._running.add(row.id)
        key = RowKey(row.id, binding)
        try:
            taken = await self._database.take_check(key)
            if taken is None:
                return False, None
            end = await self._verify(key, row.provider, taken, verify)
            await self._database.end_check(key, taken.lease, end.problem, end.failed)
            return True, end.error
        finally:
            self._running.discard(row.id)

    async def _verify(self, key: RowKey, provider: str, taken: TakenCheck, verify: VerifyFunction) -> _End:
        try:
            values = unseal(self._keys, RESULT_INFO, *key, taken.result)["values"]
            request = Verify(elicitation_id=key.id, provider=provider, values=values)
            problem = check_problem(await call("verify", verify, request, max(0.0, taken.left_ms / 1000)))
        except OverdueError:
            # The page is open again.
            warn("URLMODE_VERIFY", f"verify of elicitation {key.id} took longer than its time limit")
            return _End(True)
        except Exception as error:
            return _End(True, error=error)
        return _End(False, None if problem is None else seal(self._keys, PROBLEM_INFO, *key, to_json(problem)))
