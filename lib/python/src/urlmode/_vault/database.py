"""The functions of the vault (sql/functions/014_vault.sql)."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Literal, NamedTuple

from . import contract_calls as sql
from .._core.contract_calls import Query, RowKey
from .._core.money_types import UnclaimedReference
from .contract_calls import AccountRow, BegunDisconnect, BegunRefresh, SealedRow, StoreRefreshedAnswer
from .sealed_tokens import Place


class Stored(NamedTuple):
    """Tokens to be stored."""

    scopes: list[str]
    sealed: bytes
    lifetime_ms: int | None
    """until the access token expires; None: not known"""
    kept: int | None = None
    """the version whose refresh token is stored again"""


class VaultDatabase:
    def __init__(self, query: Query, tenant: str) -> None:
        self._query = query
        self._tenant = tenant

    async def store(self, place: Place, stored: Stored, requested: list[str], elicitation_id: str | None) -> bool:
        """False: the user was forgotten after this elicitation was created, and nothing was stored."""
        version = await sql.store_account(
            self._query, place, scopes=stored.scopes, requested=requested, tokens=stored.sealed,
            expires_in_ms=stored.lifetime_ms, elicitation=elicitation_id, kept=stored.kept,
        )  # fmt: skip
        return version is not None

    async def store_exchanged(self, key: RowKey, account: str, stored: Stored, requested: list[str]) -> bool:
        """Ends the exchange of this elicitation as well. False: nothing was stored, because the user was forgotten."""
        return await sql.store_exchanged(
            self._query, id=key.id, binding=key.binding, account=account, scopes=stored.scopes, requested=requested,
            tokens=stored.sealed, expires_in_ms=stored.lifetime_ms, kept=stored.kept,
        )  # fmt: skip

    async def read(self, subject: str, provider: str | None, account: str | None) -> list[AccountRow]:
        """The one that was connected last first."""
        rows = await sql.find_accounts(self._query, subject=subject, provider=provider, account=account)
        return [
            row._replace(
                connected_at=row.connected_at.astimezone(timezone.utc),
                refreshed_at=row.refreshed_at.astimezone(timezone.utc),
                expires_at=row.expires_at and row.expires_at.astimezone(timezone.utc),
            )
            for row in rows
        ]

    async def begin_refresh(
        self, place: Place, version: int, lease_ms: int, holder: int | None, late: bool
    ) -> BegunRefresh:
        """`holder`: of the lock of the listening session. `late`: to try a refresh token that came late."""
        return await sql.begin_lease_of(
            self._query, place, version=version, lease_ms=lease_ms, holder=holder, late=late
        )

    async def mark_sent(self, place: Place, lease: int, lease_ms: int, is_reusable: bool, reuse_ms: int | None) -> bool:
        """The lease ends `lease_ms` from now. `is_reusable`: the token can be sent again, whatever becomes of the answer.
        `reuse_ms`: for how long after its use the provider takes it again; None: not known. False: the lease is lost."""
        return await sql.mark_sending(
            self._query, place, lease=lease, lease_ms=lease_ms, stays_good=is_reusable, reuse_ms=reuse_ms
        )

    async def commit_refresh(
        self, place: Place, version: int, lease: int, stored: Stored, is_replaced: bool
    ) -> StoreRefreshedAnswer:
        """`changed`: there are newer ones; `late`: another instance has sent the old refresh token since, and
        `is_replaced`, there is a new one; `gone`: it was disconnected."""
        return await sql.store_refreshed(
            self._query, place, version=version, lease=lease, replaced=is_replaced, scopes=stored.scopes,
            tokens=stored.sealed, expires_in_ms=stored.lifetime_ms,
        )  # fmt: skip

    async def fail_refresh(
        self, place: Place, version: int, lease: int, reason: str | None, lost: Literal["answer", "status"] | None,
        retry_after_ms: int | None,
    ) -> None:  # fmt: skip
        """`reason`: why it must be connected again; None: it can be tried again."""
        await sql.end_refresh(
            self._query, place, version=version, lease=lease, reason=reason, lost=lost, retry_after_ms=retry_after_ms
        )

    async def begin_disconnect(self, place: Place, lease_ms: int, first: int | None) -> BegunDisconnect:
        """`first`: what this has returned before as `first_version`."""
        return await sql.begin_disconnect(self._query, place, lease_ms=lease_ms, first=first)

    async def delete(self, place: Place, version: int) -> bool:
        """False: there are newer tokens, or none."""
        return await sql.delete_account(self._query, place, version=version)

    async def keys(self) -> list[tuple[int, int]]:
        return [(row.kid, row.accounts) for row in await sql.vault_keys_of(self._query, tenant=self._tenant)]

    async def list_sealed(self, minting: int, after: Place) -> list[SealedRow]:
        """Some that are sealed with another key, in order."""
        return await sql.list_sealed(
            self._query, minting=minting, after_subject=after.subject, after_provider=after.provider,
            after_account=after.account,
        )  # fmt: skip

    async def reseal(self, place: Place, old: bytes, sealed: bytes) -> bool:
        return await sql.reseal_account(self._query, place, old=old, tokens=sealed)

    async def forget(self, subject: str) -> list[UnclaimedReference]:
        """The unclaimed payments that prevent it."""
        return [
            UnclaimedReference(row.unclaimed, row.provider, row.reference, row.amount, row.currency)
            for row in await sql.forget_owner(self._query, tenant=self._tenant, subject=subject)
        ]
