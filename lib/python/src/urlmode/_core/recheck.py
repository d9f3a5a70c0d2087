"""Asks the provider about an event that proves nothing, by a function of the caller.

For one elicitation it runs in one process at a time: a process takes a lease in the row before it begins, and sets a
pause there when it has failed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from .contract_calls import TakenRecheck, Row, RowKey
from .contract_limits import RECHECK_LEASE_S
from .database import Database
from .errors import ElicitationMismatchError, ElicitationReferenceError
from .log import warn
from .tasks import call
from .types import Answer, Expected, Recheck, RecheckFunction



def needs_recheck(row: Row) -> bool:
    """Whether an event has asked for a recheck that nobody has answered. A payment that ended without an accept may
    have been paid late. One that is held was paid."""
    if row.rechecks <= row.rechecked:
        return False
    return row.status != "completed" or (row.kind == "payment" and row.action != "accept" and not row.held)


class Rechecker:
    def __init__(self, database: Database, complete: Callable[[RowKey, Answer], Awaitable[object]]) -> None:
        self._database = database
        self._complete = complete
        self._running: dict[str, str] = {}

    def begun_on(self, id: str) -> str | None:
        """The status in which the recheck has begun that is running in this process."""
        return self._running.get(id)

    async def run(self, row: Row, binding: bytes, recheck: RecheckFunction) -> BaseException | None:
        """Asks, unless somebody else is asking, and completes the row with the answer. Returns the error of the
        function, or of an answer that is not valid; raises errors of PostgreSQL."""
        self._running[row.id] = row.status
        key = RowKey(row.id, binding)
        try:
            taken = await self._database.take_recheck(key, round(RECHECK_LEASE_S * 1000))
            if taken is None:
                return None
            error = await self._ask(key, row.provider, taken, recheck)
            await self._database.end_recheck(key, taken, error is not None)
            return error
        finally:
            del self._running[row.id]

    async def _ask(
        self, key: RowKey, provider: str, taken: TakenRecheck, recheck: RecheckFunction
    ) -> BaseException | None:
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
            answer = await call("recheck", recheck, request)
            if answer is not None:
                await self._complete(key, answer)
        except (ElicitationMismatchError, ElicitationReferenceError) as error:
            # A stranger may have sent the reference. The wait continues.
            warn("URLMODE_RECHECK", f"recheck changed nothing: {error}")
        except Exception as error:
            return error
        finally:
            timer.cancel()
        return None
