"""The functions of the server that ask providers whose events prove nothing, by the names of the providers.

They are for waits and claims without a function of their own; and for events about which nobody waits and no call claims,
such as a refund after the delivery. The row remembers that it is to be asked about, and any instance with a function for its
provider takes it, under a lease (sql/functions/029_recheck.sql).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import psycopg

from . import contract_texts as texts
from . import contract_calls as sql
from . import contract_rechecks as rechecking
from .ask_back import Rechecker
from .background import Background, jittered, shielded
from .contract_calls import Query, RowKey
from .contract_limits import RECHECK_EVERY_S, RECHECK_LEASE_S
from .contract_rechecks import TakenRecheck
from .errors import UrlModeClosedError, UrlModeError
from .log import warn
from .pool import is_refusal
from .types import RecheckFunction


class RecheckFailedError(RuntimeError):
    """A function for a provider has failed, which is the cause. It is asked again later."""


class Rechecks:
    def __init__(self, functions: Mapping[str, RecheckFunction], query: Query, rechecker: Rechecker, tenant: str) -> None:
        self._functions = functions
        self._query = query
        self._rechecker = rechecker
        self._tenant = tenant
        self._background = Background()
        self._asking: asyncio.Task[int] | None = None
        self._started = False

    def __bool__(self) -> bool:
        """Whether there is a function for some provider."""
        return bool(self._functions)

    def of(self, provider: str) -> RecheckFunction | None:
        return self._functions.get(provider)

    async def of_row(self, key: RowKey) -> RecheckFunction | None:
        rows = await sql.read_paid(self._query, [key]) if self else []
        return self.of(rows[0].provider) if rows else None

    def start(self) -> None:
        """Asks regularly, until `close`."""
        if self and not self._started:
            self._started = True
            self._background.start(self._every())

    async def ask_all(self) -> int:
        """Asks about one row after the other, until nothing is left to ask. A provider whose function fails is not asked any
        more, and holds up no other.

        How many. Raises the first RecheckFailedError.
        """
        if self._asking is None or self._asking.done():
            self._asking = self._background.start(self._ask_all())
        return await shielded(self._asking)

    async def close(self) -> None:
        await self._background.cancel()

    async def _every(self) -> None:
        while True:
            await asyncio.sleep(jittered(RECHECK_EVERY_S))
            try:
                await self.ask_all()
            except RecheckFailedError as error:
                warn("URLMODE_RECHECK", str(error), error.__cause__)
            except UrlModeClosedError:
                return
            except (psycopg.Error, UrlModeError) as error:
                # When PostgreSQL is unavailable, the next time catches up.
                if is_refusal(error):
                    warn("URLMODE_RECHECK", f"events are not asked about: {error}")

    async def _ask_all(self) -> int:
        asked = 0
        providers = dict(self._functions)
        first: RecheckFailedError | None = None
        while providers:
            due = await rechecking.begin_recheck_of(
                self._query, tenant=self._tenant, providers=list(providers), lease_ms=round(RECHECK_LEASE_S * 1000)
            )
            if due is None:
                break
            key, taken = RowKey(due.id, due.binding), TakenRecheck(*due[2:])
            error = await self._rechecker.answer(key, due.provider, taken, providers[due.provider])
            if error is None:
                asked += 1
                continue
            del providers[due.provider]
            if first is None:
                first = RecheckFailedError(texts.recheck_failed(key.id, due.provider, str(error)))
                first.__cause__ = error
        if first is not None:
            raise first
        return asked
