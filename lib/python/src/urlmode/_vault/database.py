"""The functions of the vault (sql/functions/014_vault.sql)."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Literal, NamedTuple

from .._core.database import Query, RowKey
from .._core.types import UnclaimedReference
from .sealed_tokens import Place

_STORE = """SELECT urlmode.store_account(%s::text, %s::text, %s::text, %s::text[], %s::text[], %s::bytea, %s::bigint,
    %s::uuid, %s::bigint) IS NOT NULL"""
_STORE_EXCHANGED = """SELECT urlmode.store_exchanged(%s::uuid, %s::bytea, %s::text, %s::text[], %s::text[], %s::bytea,
    %s::bigint, %s::bigint)"""
_READ = """SELECT provider_name, account_id, state, reason, scopes, requested, connected_at, refreshed_at, expires_at,
    expires_in_ms, lifetime_ms, version, tokens FROM urlmode.read_accounts(%s::text, %s::text, %s::text)"""
_BEGIN = """SELECT outcome, lease, wait_ms
    FROM urlmode.begin_refresh(%s::text, %s::text, %s::text, %s::bigint, %s::bigint)"""
_MARK_SENT = "SELECT urlmode.mark_sent(%s::text, %s::text, %s::text, %s::bigint, %s::bigint, %s::boolean)"
_COMMIT = """SELECT urlmode.commit_refresh(%s::text, %s::text, %s::text, %s::bigint, %s::text[], %s::bytea,
    %s::bigint)"""
_FAIL = """SELECT urlmode.fail_refresh(%s::text, %s::text, %s::text, %s::bigint, %s::bigint, %s::text,
    %s::boolean, %s::boolean)"""
_BEGIN_DISCONNECT = """SELECT outcome, wait_ms, version, tokens, first_version
    FROM urlmode.begin_disconnect(%s::text, %s::text, %s::text, %s::bigint, %s::bigint)"""
_DELETE = "SELECT urlmode.delete_account(%s::text, %s::text, %s::text, %s::bigint)"
_KEYS = "SELECT kid, accounts FROM urlmode.vault_keys()"
_LIST_SEALED = """SELECT subject, provider, account, tokens
    FROM urlmode.list_sealed(%s::integer, %s::text, %s::text, %s::text)"""
_RESEAL = "SELECT urlmode.reseal_account(%s::text, %s::text, %s::text, %s::bytea, %s::bytea)"
_FORGET = "SELECT unclaimed::text, provider, reference, amount, currency FROM urlmode.forget_subject(%s::text)"


class AccountRow(NamedTuple):
    provider: str
    account: str
    state: Literal["connected", "reconnect"]
    reason: str
    scopes: list[str]
    requested: list[str]
    connected_at: datetime
    refreshed_at: datetime
    expires_at: datetime | None
    expires_in_ms: int | None
    """by PostgreSQL's clock; None: not known"""
    lifetime_ms: int | None
    version: int
    tokens: bytes
    """sealed"""


class Stored(NamedTuple):
    """Tokens to be stored."""

    scopes: list[str]
    sealed: bytes
    lifetime_ms: int | None
    """until the access token expires; None: not known"""
    kept: int | None = None
    """the version whose refresh token is stored again"""


class BegunRefresh(NamedTuple):
    outcome: Literal["begun", "leased", "paused", "lost", "changed"]
    lease: int
    """if it has begun"""
    wait_ms: int
    """if another instance has the lease: for how long at most"""


class BegunDisconnect(NamedTuple):
    outcome: Literal["begun", "leased", "gone"]
    wait_ms: int
    version: int
    tokens: bytes
    first_version: int


class VaultDatabase:
    def __init__(self, query: Query) -> None:
        self._query = query

    async def store(self, place: Place, stored: Stored, requested: list[str], elicitation_id: str | None) -> bool:
        """False: the user was forgotten after this elicitation was created, and nothing was stored."""
        values = [*place, stored.scopes, requested, stored.sealed, stored.lifetime_ms, elicitation_id, stored.kept]
        return bool((await self._query(_STORE, values))[0][0])

    async def store_exchanged(self, key: RowKey, account: str, stored: Stored, requested: list[str]) -> bool:
        """Ends the exchange of this elicitation as well. False: nothing was stored, because the user was forgotten."""
        values = [*key, account, stored.scopes, requested, stored.sealed, stored.lifetime_ms, stored.kept]
        return bool((await self._query(_STORE_EXCHANGED, values))[0][0])

    async def read(self, subject: str, provider: str | None, account: str | None) -> list[AccountRow]:
        """The one that was connected last first."""
        rows = [AccountRow(*row) for row in await self._query(_READ, [subject, provider, account])]
        return [
            row._replace(
                connected_at=row.connected_at.astimezone(timezone.utc),
                refreshed_at=row.refreshed_at.astimezone(timezone.utc),
                expires_at=row.expires_at and row.expires_at.astimezone(timezone.utc),
            )
            for row in rows
        ]

    async def begin_refresh(self, place: Place, version: int, lease_ms: int) -> BegunRefresh:
        return BegunRefresh(*(await self._query(_BEGIN, [*place, version, lease_ms]))[0])

    async def mark_sent(self, place: Place, lease: int, lease_ms: int, is_reusable: bool) -> bool:
        """The lease ends `lease_ms` from now. `is_reusable`: the token can be sent again, whatever becomes of the answer.
        False: the lease is lost."""
        return bool((await self._query(_MARK_SENT, [*place, lease, lease_ms, is_reusable]))[0][0])

    async def commit_refresh(
        self, place: Place, version: int, stored: Stored
    ) -> Literal["stored", "changed", "gone"]:
        """`changed`: there are newer ones; `gone`: it was disconnected."""
        values = [*place, version, stored.scopes, stored.sealed, stored.lifetime_ms]
        outcome: Literal["stored", "changed", "gone"] = (await self._query(_COMMIT, values))[0][0]
        return outcome

    async def fail_refresh(
        self, place: Place, version: int, lease: int, reason: str | None, is_answer_lost: bool,
        is_by_gateway: bool,
    ) -> None:  # fmt: skip
        """`reason`: why it must be connected again; None: it can be tried again."""
        await self._query(_FAIL, [*place, version, lease, reason, is_answer_lost, is_by_gateway])

    async def begin_disconnect(self, place: Place, lease_ms: int, first: int | None) -> BegunDisconnect:
        """`first`: what this has returned before as `first_version`."""
        return BegunDisconnect(*(await self._query(_BEGIN_DISCONNECT, [*place, lease_ms, first]))[0])

    async def delete(self, place: Place, version: int) -> bool:
        """False: there are newer tokens, or none."""
        return bool((await self._query(_DELETE, [*place, version]))[0][0])

    async def keys(self) -> list[tuple[int, int]]:
        return [(kid, accounts) for kid, accounts in await self._query(_KEYS, [])]

    async def list_sealed(self, minting: int, after: Place) -> list[tuple[Place, bytes]]:
        """Some that are sealed with another key, in order."""
        rows = await self._query(_LIST_SEALED, [minting, *after])
        return [(Place(*place), tokens) for *place, tokens in rows]

    async def reseal(self, place: Place, old: bytes, sealed: bytes) -> bool:
        return bool((await self._query(_RESEAL, [*place, old, sealed]))[0][0])

    async def forget(self, subject: str) -> list[UnclaimedReference]:
        """The unclaimed payments that prevent it."""
        return [UnclaimedReference(*row) for row in await self._query(_FORGET, [subject])]
