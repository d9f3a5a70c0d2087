"""The events of a UrlMode, for audit logs. An instance tells of its own actions, and of the changes that it sees while it waits, each
once; of late payments and of refunds each instance tells."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
from typing import Any

from .background import Background
from .callback_urls import AnyElicitation
from .contract_calls import Row
from .contract_limits import REMEMBERED_MIN
from .create_options import Checked
from .money_types import Payment, Refund
from .types import Event, EventFunction, EventType, Outcome, Progress, ProgressFunction
from .wait import Entry

_RANKS: dict[EventType, int] = {"created": 1, "opened": 2, "processing": 3, "completed": 4}


class Events:
    def __init__(self, on_event: EventFunction, background: Background) -> None:
        self._on_event = on_event
        self._background = background
        self._ranks: dict[str, int] = {}
        self._older: dict[str, int] = {}

    def follow(self, late: AsyncIterator[Payment], refunds: AsyncIterator[Refund]) -> None:
        """Tells of them from now on."""
        self._background.start(self._follow_late(late))
        self._background.start(self._follow_refunds(refunds))

    async def _follow_late(self, payments: AsyncIterator[Payment]) -> None:
        async for one in payments:
            self._emit(Event(type="late", elicitation_id=one.elicitation_id, provider=one.provider, subject=one.subject, session=one.session, payment=one))

    async def _follow_refunds(self, refunds: AsyncIterator[Refund]) -> None:
        async for one in refunds:
            self._emit(Event(type="refunded", elicitation_id=one.elicitation_id, provider=one.provider, subject=one.subject, session=one.session, refund=one))

    def created(self, elicitation: AnyElicitation, checked: Checked) -> None:
        if not elicitation.resumed:
            request, owner = checked.request, checked.owner
            self._once(Event(
                type="created", elicitation_id=elicitation.elicitation_id, provider=request.provider, subject=owner.subject, session=owner.session,
                kind=request.kind, expires_at=elicitation.expires_at,
            ))  # fmt: skip

    def completed(self, row: Row | None, subject: str, session: str) -> None:
        """By this instance."""
        if row is not None and row.status == "completed":
            self._once(Event(
                type="completed", elicitation_id=row.id, provider=row.provider, subject=subject, session=session, kind=row.kind,
                action=row.action, reason=row.reason,
            ))  # fmt: skip

    def of_wait(self, subject: str, session: str, on_progress: ProgressFunction | None) -> WaitEvents:
        return WaitEvents(self, {"subject": subject, "session": session}, on_progress)

    def _once(self, event: Event) -> None:
        """Unless a later status of this elicitation was told, or the same one."""
        rank = _RANKS[event.type]
        known = self._ranks.get(event.elicitation_id, self._older.get(event.elicitation_id, 0))
        if rank <= known:
            return
        self._ranks[event.elicitation_id] = rank
        if len(self._ranks) == REMEMBERED_MIN:
            self._older, self._ranks = self._ranks, {}
        self._emit(event)

    def _emit(self, event: Event) -> None:
        """An error of the application ends no call: the event loop reports it."""
        try:
            returned = self._on_event(event)
        except Exception as error:
            asyncio.get_running_loop().call_exception_handler({"message": "on_event of UrlMode has raised", "exception": error})
            return
        if inspect.isawaitable(returned):
            asyncio.ensure_future(returned).add_done_callback(_report)


def _report(returned: asyncio.Future[Any]) -> None:
    if not returned.cancelled() and (error := returned.exception()) is not None:
        returned.get_loop().call_exception_handler({"message": "on_event of UrlMode has raised", "exception": error})


class WaitEvents:
    """Those of one wait."""

    def __init__(self, events: Events, owner: dict[str, str], on_progress: ProgressFunction | None) -> None:
        self._events = events
        self._owner = owner
        self._on_progress = on_progress
        self.entry: Entry | None = None

    def progress(self, progress: Progress) -> Any:
        if progress != "attempt_failed" and self.entry is not None:
            of: Any = self._owner
            self._events._once(Event(type=progress, elicitation_id=self.entry.id, provider=self.entry.provider, kind=self.entry.kind, **of))
        return None if self._on_progress is None else self._on_progress(progress)

    def completed(self, outcome: Outcome) -> None:
        assert self.entry is not None
        of: Any = self._owner
        self._events._once(Event(
            type="completed", elicitation_id=outcome.elicitation_id, provider=self.entry.provider, kind=self.entry.kind,
            action=outcome.action, reason=outcome.reason, **of,
        ))  # fmt: skip
