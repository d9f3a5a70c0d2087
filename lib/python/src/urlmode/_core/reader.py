"""Reads rows that are waited for: all that are due together, one read at a time. Those that become due during a read belong
to the next one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import psycopg

from .background import Background
from .contract_calls import Row
from .contract_limits import READ_BATCH_MAX
from .database import read_rows
from .listener import Listener
from .pool import is_refusal
from .wait import Entry



class Reader:
    """`apply` gets the rows that were read, by id, and `fail` an error that another read would have as well."""

    def __init__(
        self, listener: Listener, background: Background, *, apply: Callable[[list[Entry], dict[str, Row]], None],
        fail: Callable[[Entry, BaseException], None],
    ) -> None:
        self._listener = listener
        self._background = background
        self._apply = apply
        self._fail = fail
        self._due: dict[Entry, None] = {}
        self._routine: dict[Entry, None] = {}  # to be read after those that are due
        self._reading = False

    def add(self, entry: Entry) -> None:
        """Its row is due."""
        self._due[entry] = None
        self._routine.pop(entry, None)
        self._start()

    def add_routine(self, entries: Iterable[Entry]) -> None:
        """Their rows are read when no other is due."""
        self._routine.update(dict.fromkeys(entries))
        self._start()

    def is_due(self, entry: Entry) -> bool:
        return entry in self._due

    def remove(self, entry: Entry) -> None:
        self._due.pop(entry, None)
        self._routine.pop(entry, None)

    def _start(self) -> None:
        if not self._reading:
            self._reading = True
            self._background.start(self._read())

    async def _read(self) -> None:
        try:
            while self._listener.listening and (self._due or self._routine):
                batch = self._take_batch()
                rows = await self._read_rows(batch)
                if rows is not None:
                    self._apply(batch, rows)
        finally:
            self._reading = False

    def _take_batch(self) -> list[Entry]:
        """The entries to read next. No id occurs twice, because the rows that come back do not contain the binding."""
        batch: dict[str, Entry] = {}
        for queue in (self._due, self._routine):
            for entry in tuple(queue):
                if len(batch) == READ_BATCH_MAX:
                    break
                if entry.id not in batch:
                    batch[entry.id] = entry
                    del queue[entry]
            if not queue:
                queue.clear()  # A dict from which each key was deleted keeps its size.
        return list(batch.values())

    async def _read_rows(self, batch: list[Entry]) -> dict[str, Row] | None:
        try:
            rows = await read_rows(self._listener.query, [entry.key for entry in batch])
            return {row.id: row for row in rows}
        except Exception as error:
            # Otherwise the connection was lost, and the next one starts by reading all rows.
            if is_refusal(error) or not isinstance(error, psycopg.Error):
                for entry in batch:
                    self._fail(entry, error)
            return None
