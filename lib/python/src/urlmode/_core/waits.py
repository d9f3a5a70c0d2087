"""All open waits of a process.

A notification, a new wait and a new listening connection each make rows due. The row alone counts, and a notification
is a reason to read it. One that carries the sealed outcome saves the read, where the row was read before for this owner.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import psycopg

from .ask_back import Checker, Rechecker, needs_check, needs_recheck
from .background import Background, jittered, start_quietly
from .contract_calls import Row, RowKey
from .contract_limits import READ_RETRY_S, ROUTINE_S
from .database import Database
from .errors import ElicitationNotFoundError, ElicitationSealError, UrlModeClosedError, UrlModeError
from .form_types import VerifyFunction
from .keys import KeyRing
from .listener import Notification, Listener
from .metrics import Metrics
from .outcome import open_verifier, to_outcome
from .poll import Alarm, Poll
from .pool import is_refused_change
from .reader import Reader
from .rechecks import Rechecks
from .seal import open_outcome, row_bytes
from .types import Answer, RecheckFunction
from .wait import Entry, Wait



class Waits:
    def __init__(
        self, listener: Listener, database: Database, keys: KeyRing, metrics: Metrics, *,
        mark_read: Callable[[RowKey], None], complete: Callable[[RowKey, Answer], Awaitable[object]], rechecks: Rechecks,
    ) -> None:
        self._listener = listener
        self._database = database
        self._keys = keys
        self._metrics = metrics
        self._mark_read = mark_read
        self._rechecker = Rechecker(database, keys, complete)
        self._rechecks = rechecks
        self._checker = Checker(database, keys)
        # By id; more than one if another owner waits for the same id. Tuples are smaller than lists.
        self._entries: dict[str, tuple[Entry, ...]] = {}
        self._routine_timer: asyncio.TimerHandle | None = None
        self._poll = Poll(self._read_all)
        self._alarm = Alarm(self._look_at_times)
        self._over = self._end  # one for all waits
        self._background = Background()
        self._reader = Reader(listener, self._background, apply=self._apply, fail=self._fail)
        self._lost: BaseException | None = None
        """why there is no connection to PostgreSQL"""
        self.size = 0
        """how many waits are open"""
        listener.on_listening.append(self._on_listening)
        listener.on_receiving.append(self._poll.stop)
        listener.on_notified.append(self._on_notified)
        listener.on_lost.append(self._on_lost)

    def begin(self, key: RowKey, timeout: float | None, **options: Any) -> Wait:
        """Begins a wait, which must be entered at once. `options` are those of Wait."""
        entry = self._find_or_add(key)
        wait = Wait(entry, timeout, self._over, **options)
        entry.waits += (wait,)
        self.size += 1
        try:
            self._listener.acquire(self)
            if self._routine_timer is None:
                self._schedule_routine_read()
            if not self._listener.receives_notifications:
                self._poll.start()
            self._wake(entry)
        except BaseException:
            self._remove(wait)
            raise
        self._alarm.set(wait.deadline)
        self._metrics.begin(wait)
        return wait

    async def close(self) -> None:
        """Ends all waits."""
        ending = [start_quietly(wait.end("closed", UrlModeClosedError())) for wait in self._all_waits()]
        if ending:
            await asyncio.wait(ending)
        await self._background.cancel()

    def _all_entries(self) -> list[Entry]:
        return [entry for entries in self._entries.values() for entry in entries]

    def _all_waits(self) -> list[Wait]:
        return [wait for entry in self._all_entries() for wait in entry.waits]

    def _find_or_add(self, key: RowKey) -> Entry:
        entries = self._entries.get(key.id, ())
        for entry in entries:
            if entry.key == key:
                return entry
        entry = Entry(key)
        self._entries[key.id] = (*entries, entry)
        return entry

    def _end(self, wait: Wait, error: BaseException | None) -> None:
        self._metrics.end(wait, error)
        self._remove(wait)

    def _remove(self, wait: Wait) -> None:
        entry = wait.entry
        entry.waits = tuple(each for each in entry.waits if each is not wait)
        self.size -= 1
        if entry.waits:
            return
        if entry.next_recheck is not None:
            entry.next_recheck.cancel()
        self._reader.remove(entry)
        others = tuple(each for each in self._entries[entry.id] if each is not entry)
        if others:
            self._entries[entry.id] = others
            return
        del self._entries[entry.id]
        if self._entries:
            return
        if self._routine_timer is not None:
            self._routine_timer.cancel()
            self._routine_timer = None
        self._poll.stop()
        self._alarm.stop()
        self._listener.release(self)

    def _on_listening(self) -> None:
        self._lost = None
        for entry in self._all_entries():
            self._wake(entry)
        if self._entries:
            self._poll.start()

    def _on_notified(self, notifications: list[Notification]) -> None:
        for notification in notifications:
            outcome = notification.get("outcome")
            for entry in self._entries.get(notification["id"], ()):
                try:
                    if not isinstance(outcome, str) or not self._take_outcome(entry, outcome):
                        self._wake(entry)
                except Exception as error:
                    self._fail(entry, error)

    def _take_outcome(self, entry: Entry, sealed: str) -> bool:
        """Ends the waits with an outcome that was announced. False: the row must be read."""
        if entry.kind is None:
            return False
        outcome = open_outcome(self._keys, row_bytes(*entry.key), sealed)
        if outcome is None:
            return False
        # A payment that was not accepted may be asked about once more.
        if entry.kind == "payment" and outcome.action != "accept":
            return False
        completed = Row(entry.id, entry.provider, entry.kind, "completed", outcome.action, outcome.reason)
        if entry.kind == "payment":
            said = outcome.result or {}
            completed = completed._replace(
                payment_reference=outcome.reference, expected=entry.expected,
                amount=said.get("amount"), currency=said.get("currency"), tax=said.get("tax"),
            )  # fmt: skip
        self._complete(entry, completed, outcome.result)
        return True

    def _on_lost(self, error: BaseException) -> None:
        """Waits continue without a connection, except those that read the row only once."""
        self._lost = error
        for wait in self._all_waits():
            if wait.checks_once:
                wait.reject(error)

    def _schedule_routine_read(self) -> None:
        """A lost notification, or a connection that broke unnoticed, delays a wait until the next routine read."""

        def go_off() -> None:
            self._schedule_routine_read()
            self._read_all()

        self._routine_timer = asyncio.get_running_loop().call_later(jittered(ROUTINE_S), go_off)

    def _read_all(self) -> None:
        self._reader.add_routine(self._all_entries())

    def _look_at_times(self) -> None:
        """Reads the rows that may be expired, and ends the waits whose time has passed."""
        now = asyncio.get_running_loop().time()
        for entry in self._all_entries():
            if entry.closes_at <= now:
                entry.closes_at = math.inf
                self._wake(entry)
            self._alarm.set(entry.closes_at)
            for wait in entry.waits:
                if wait.deadline <= now:
                    wait.deadline = math.inf
                    wait.time_out(self._lost)
                self._alarm.set(wait.deadline)

    def _wake(self, entry: Entry) -> None:
        if entry.waits:
            self._reader.add(entry)

    def _apply(self, batch: list[Entry], rows: dict[str, Row]) -> None:
        overdue: list[Entry] = []
        for entry in batch:
            try:
                self._apply_to(entry, rows.get(entry.id), overdue)
            except Exception as error:  # The others of the batch go on.
                self._fail(entry, error)
        if overdue:
            self._background.start(self._then_wake(overdue, partial(self._expire, overdue)))

    def _apply_to(self, entry: Entry, row: Row | None, overdue: list[Entry]) -> None:
        if row is not None and row.status == "completed":
            self._complete(entry, row)
        elif not entry.waits or self._reader.is_due(entry):
            pass  # It has become due again since this read began: the next read decides.
        elif row is None:
            self._fail(entry, ElicitationNotFoundError(entry.id))
        elif row.closes_in_ms <= 0:
            overdue.append(entry)
        else:
            self._keep_waiting(entry, row)

    def _complete(self, entry: Entry, row: Row, result: dict[str, Any] | None = None) -> None:
        rechecking = self._recheck(entry, row)
        for wait in entry.waits:
            if rechecking and wait.recheck_of(self._rechecks) is not None:
                continue
            try:
                wait.resolve(to_outcome(self._keys, row, entry.key.binding, result=result, verifier=entry.verifier))
            except ElicitationSealError as error:
                wait.reject(error)
                continue
            if row.result or row.verifier or result:
                self._mark_read(entry.key)

    def _keep_waiting(self, entry: Entry, row: Row) -> None:
        if entry.verifier is None and row.verifier is not None:
            try:
                entry.verifier = open_verifier(self._keys, row, entry.key.binding)
            except ElicitationSealError:
                pass  # It is an error only when it is needed.
        entry.provider, entry.kind, entry.expected = row.provider, row.kind, row.expected
        entry.closes_at = asyncio.get_running_loop().time() + row.closes_in_ms / 1000
        self._alarm.set(entry.closes_at)
        rechecking = self._recheck(entry, row)
        checking = self._check(entry, row)
        for wait in entry.waits:
            wait.progress(row)
            is_asked = (rechecking and wait.recheck_of(self._rechecks) is not None) or (checking and wait.verify is not None)
            if wait.checks_once and not is_asked:
                wait.time_out()

    def _check(self, entry: Entry, row: Row) -> bool:
        """Begins to verify what the user has typed, unless that is under way. True while it is under way in this process:
        its end makes the row due again."""
        if not needs_check(row):
            return False
        if self._checker.begun_on(row.id) is not None:
            return True
        wait = next((wait for wait in entry.waits if wait.verify is not None), None)
        verify = None if wait is None else wait.verify
        if wait is None or verify is None:
            return False
        self._background.start(self._then_wake([entry], partial(self._run_check, entry, row, wait, verify)))
        return True

    async def _run_check(self, entry: Entry, row: Row, wait: Wait, verify: VerifyFunction) -> bool:
        taken, error = await self._checker.run(entry.key, row.status, verify, provider=row.provider)
        if error is not None:
            wait.reject(error)
        if not taken:
            # Another process has taken it, and its end is announced.
            for each in entry.waits:
                if each.checks_once:
                    each.time_out()
        return taken

    def _recheck(self, entry: Entry, row: Row) -> bool:
        """Begins a recheck if an event asks for one. True while one is running: its end makes the row due again."""
        if entry.next_recheck is not None:
            entry.next_recheck.cancel()
            entry.next_recheck = None
        if not needs_recheck(row):
            return False
        begun_on = self._rechecker.begun_on(row.id)
        # An outcome that the row got meanwhile needs no answer.
        if begun_on is not None:
            return row.status != "completed" or begun_on == "completed"
        entry.provider = row.provider
        wait = next((wait for wait in entry.waits if wait.recheck_of(self._rechecks) is not None), None)
        recheck = None if wait is None else wait.recheck_of(self._rechecks)
        if wait is None or recheck is None:
            return False
        pause = row.recheck_in_ms or 0
        if pause > 0:
            entry.next_recheck = asyncio.get_running_loop().call_later(pause / 1000, self._wake, entry)
            return False
        self._background.start(self._then_wake([entry], partial(self._run_recheck, entry, row, wait, recheck)))
        return True

    async def _run_recheck(self, entry: Entry, row: Row, wait: Wait, recheck: RecheckFunction) -> bool:
        _, error = await self._rechecker.run(entry.key, row.status, recheck)
        wait.rechecked = True
        if error is not None:
            now = await self._database.read(entry.key)
            # Somebody else may have completed the row meanwhile. That outcome counts.
            if now is None or now.status != "completed":
                wait.reject(error)
        return True

    async def _expire(self, entries: list[Entry]) -> bool:
        await self._database.expire([entry.key for entry in entries])
        return True

    async def _then_wake(self, entries: list[Entry], change: Callable[[], Awaitable[bool]]) -> None:
        """Changes rows, and reads them again, unless `change` says that there is no reason to."""
        reads = True
        try:
            reads = await change()
        except Exception as error:
            if is_refused_change(error) or not isinstance(error, (psycopg.Error, UrlModeError)):
                for entry in entries:
                    self._fail(entry, error)
            await asyncio.sleep(jittered(READ_RETRY_S))
        finally:
            if reads:
                for entry in entries:
                    for each in self._entries.get(entry.id, ()):
                        self._wake(each)

    def _fail(self, entry: Entry, error: BaseException) -> None:
        for wait in entry.waits:
            wait.reject(error)
