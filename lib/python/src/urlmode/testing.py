"""For your own tests: a UrlMode whose elicitations end as the test says, without a database, callback programs or a browser.

    urlmode = ScriptedUrlMode(accept({"reference": "cs_1"}), expire(), hold())

Everything but PostgreSQL is the real package: it checks what a call is given, and the adapters ask the client, wait, and run the body. The first
elicitation that is created ends as the first end says, and so on; without one it stays open, so that a wait for it times out. Nothing else
is remembered: what the real database decides about claims, refunds and resumed calls is not tested here, and `unclaimed` and the like are empty.

    async with temporary_database("postgresql://postgres@127.0.0.1/postgres") as url, UrlMode(database_url=url, …) as urlmode:

For what the database decides, this is a real one with the schema, which is dropped afterwards. `complete` ends an elicitation there.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ._core.contract_calls import Query, ResumedRow, Row
from ._core.contract_limits import TTL_S
from ._core.contract_seals import RESULT_INFO
from ._core.contract_statements import LOCK_MIGRATIONS, UNLOCK_MIGRATIONS
from ._core.keys import KeyRing
from ._core.listener import Listener
from ._commands.migrate import make_schema
from ._core.pool import Pool, Rows
from ._core.seal import seal, to_json
from ._core.sending import current_sending
from ._core.types import Action
from ._core.urlmode import UrlMode

__all__ = ["End", "ScriptedUrlMode", "accept", "approve", "decline", "expire", "hold", "temporary_database", "type_in"]


@dataclass(frozen=True)
class End:
    """How an elicitation ends."""

    action: Action
    """as that of the outcome"""
    reason: str = ""
    """as that of the outcome"""
    result: Mapping[str, Any] | None = None
    """what the provider has sent"""
    reference: str | None = None
    """the provider's reference of the payment"""
    amount: int | None = None
    """of the payment, in minor units"""
    currency: str | None = None
    """of the payment"""


def accept(result: Mapping[str, Any] | None = None, *, reference: str | None = None, amount: int | None = None, currency: str | None = None) -> End:
    """The user came back, or has paid: `result` is what the provider has sent, and `reference`, `amount` and `currency` are those of the
    payment; by default it is the price that was asked."""
    return End("accept", result=result, reference=reference, amount=amount, currency=currency)


def type_in(values: Mapping[str, Any]) -> End:
    """The user has typed these `values`, for `create_input`."""
    return End("accept", result={"values": dict(values)})


def approve(approver: str, comment: str | None = None) -> End:
    """This `approver` has agreed, for `create_approval`, with a `comment`."""
    said = {"approver": approver, "decided_at": datetime.now(timezone.utc).isoformat(), "comment": comment}
    return End("accept", result={name: value for name, value in said.items() if value is not None})


def decline(reason: str = "declined") -> End:
    """The user, or the provider, has refused, with this `reason`."""
    return End("decline", reason)


def expire() -> End:
    """Nobody has opened the link in time."""
    return End("cancel", "expired")


def hold() -> End:
    """It was paid, and the operator must decide, because a part of it may have gone back."""
    return End("cancel", "held")


@asynccontextmanager
async def temporary_database(admin_url: str) -> AsyncIterator[str]:
    """The `database_url` of a new database with the schema. It is dropped at the end, whoever is connected to it.

    `admin_url`: a connection string of PostgreSQL, as a superuser. Sessions of the new one have the role urlmode_server, as a server has
    it. The roles urlmode_owner, urlmode_cgi, urlmode_server and urlmode_operator are made if they are missing, and stay. Raises
    psycopg.Error.
    """
    name = f"urlmode_test_{secrets.token_hex(8)}"
    async with await psycopg.AsyncConnection.connect(admin_url, autocommit=True) as admin:
        # As migrations wait for each other: the roles are those of the cluster.
        await admin.execute(LOCK_MIGRATIONS)
        await admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            own = make_conninfo(admin_url, dbname=name)
            await asyncio.to_thread(make_schema, own)
            await admin.execute(UNLOCK_MIGRATIONS)
            options = f"{conninfo_to_dict(own).get('options', '')} -c role=urlmode_server".strip()
            yield make_conninfo(own, options=options)
        finally:
            await admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


class ScriptedUrlMode(UrlMode):
    def __init__(self, *ends: End, base_url: str = "https://callback.example", **options: Any) -> None:
        """`ends`: how the elicitations end, in the order in which they are created. `base_url`, `options`: as those of UrlMode."""
        keys = f"1 {base64.b64encode(secrets.token_bytes(32)).decode()}\n"
        super().__init__(database_url="postgresql://scripted.invalid/none", keys=keys, base_url=base_url, **options)
        self.created: list[str] = []
        """the ids of the elicitations, in their order"""
        script = _Script(list(ends), self._keys, self.created)
        assert isinstance(self._pool, _ScriptedPool) and isinstance(self._listener, _ScriptedListener)
        self._pool.script = self._listener.script = script

    @classmethod
    def _types(cls) -> tuple[type[Pool], type[Listener]]:
        return _ScriptedPool, _ScriptedListener


class _Script:
    """Answers the statements of the package."""

    def __init__(self, ends: list[End], keys: KeyRing, created: list[str]) -> None:
        self._ends = ends
        self._keys = keys
        self._created = created
        self._rows: dict[str, Row] = {}

    def answer(self, statement: str, values: Sequence[Any]) -> Rows:
        match = re.search(r"urlmode\.(\w+)\(", statement)
        answer: Callable[[Sequence[Any]], Rows] | None = getattr(self, f"_{match[1]}", None) if match else None
        return [] if answer is None else answer(values)

    def _create_elicitation(self, values: Sequence[Any]) -> Rows:
        expires_at = datetime.now(timezone.utc) + timedelta(seconds=TTL_S)
        ids, providers, kinds, bindings, prices = values[0], values[1], values[2], values[5], values[8]
        for id, provider, kind, binding, price in zip(ids, providers, kinds, bindings, prices):
            expected = None if price is None else json.loads(price)
            row = Row(id, provider, kind, "pending", closes_in_ms=TTL_S * 1_000, expected=expected)
            self._rows[id] = self._end(row, binding, self._ends.pop(0)) if self._ends else row
            self._created.append(id)
        return [(expires_at, "created") for _ in ids]

    def _end(self, row: Row, binding: bytes, end: End) -> Row:
        result = None if end.result is None else seal(self._keys, RESULT_INFO, row.id, binding, to_json(dict(end.result)))
        row = row._replace(status="completed", action=end.action, reason=end.reason, result=result, held=end.reason == "held")
        if row.kind != "payment" or end.action != "accept":
            return row
        asked = row.expected if isinstance(row.expected, dict) else {}
        return row._replace(
            payment_reference=end.reference or f"test_{row.id}", amount=asked.get("amount") if end.amount is None else end.amount,
            currency=end.currency or asked.get("currency"),
        )  # fmt: skip

    def _read_paid(self, values: Sequence[Any]) -> Rows:
        return [tuple(self._rows[id]) for id in values[0] if id in self._rows]

    def _resume_for(self, values: Sequence[Any]) -> Rows:
        none = ResumedRow(None, "", "oauth", "pending", datetime.now(timezone.utc), 0, None)
        return [tuple(none) for _ in values[0]]

    def _begin_lease(self, values: Sequence[Any]) -> Rows:
        row = self._rows.get(values[0])
        if row is None:
            return [("unknown", None, None, None, None)]
        if row.action != "accept":
            return [("open" if row.action is None else "changed", None, None, None, None)]
        return [("claimed" if row.kind == "oauth" else "begun", row.payment_reference or "", 1, None, None)]

    def _claim_at_once(self, values: Sequence[Any]) -> Rows:
        return [("claimed", None)]

    def _settle(self, values: Sequence[Any]) -> Rows:
        return [("completed",)]

    def _abandon(self, values: Sequence[Any]) -> Rows:
        return [("completed",) for _ in values[0]]

    def _renew_lease(self, values: Sequence[Any]) -> Rows:
        return [("renewed",)]

    def _fulfil_lease(self, values: Sequence[Any]) -> Rows:
        return [("fulfilled",)]

    def _begin_ask(self, values: Sequence[Any]) -> Rows:
        return [("",)]

    def _purge(self, values: Sequence[Any]) -> Rows:
        return [(0,)]

    def _yes(self, values: Sequence[Any]) -> Rows:
        return [(True,)]

    def _no(self, values: Sequence[Any]) -> Rows:
        return [(False,)]

    _confirm_claim = _release_claim = _end_exchange = _release_unsent = _yes
    _paid = _delivered = _no
    _purge_results = _purge


class _ScriptedPool(Pool):
    script: _Script

    async def _on_connection(self, work: Callable[[Query], Awaitable[Rows]]) -> Rows:
        async def fetch(statement: str, values: Sequence[Any], reads: bool = False, /) -> Rows:
            current_sending().sent = True
            await asyncio.sleep(0)
            return self.script.answer(statement, values)

        return await work(fetch)


class _ScriptedListener(Listener):
    script: _Script

    @property
    def listening(self) -> bool:
        return True

    @property
    def receives_notifications(self) -> bool:
        return True

    def acquire(self, user: object) -> None:
        pass

    async def query(self, statement: str, values: Sequence[Any], _reads: bool = False, /) -> Rows:
        await asyncio.sleep(0)
        return self.script.answer(statement, values)
