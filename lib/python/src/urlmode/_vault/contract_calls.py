"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from .._core.contract_calls import Query
from .sealed_tokens import Place


STORE_ACCOUNT = """SELECT urlmode.store_account(%s::text, %s::text, %s::text, %s::text[], %s::text[],
    %s::bytea, %s::bigint, %s::uuid, %s::bigint)"""


async def store_account(
    query: Query,
    place: Place,
    *,
    scopes: list[str],
    requested: list[str],
    tokens: bytes,
    expires_in_ms: int | None,
    elicitation: str | None,
    kept: int | None,
) -> int | None:
    """`kept`: the version whose refresh token is stored again."""
    found = await query(STORE_ACCOUNT, [
        place.subject,
        place.provider,
        place.account,
        scopes,
        requested,
        tokens,
        expires_in_ms,
        elicitation,
        kept,
    ])
    answer: int | None = found[0][0]
    return answer


STORE_EXCHANGED = """SELECT urlmode.store_exchanged(%s::uuid, %s::bytea, %s::text, %s::text[], %s::text[],
    %s::bytea, %s::bigint, %s::bigint)"""


async def store_exchanged(
    query: Query,
    *,
    id: str,
    binding: bytes,
    account: str,
    scopes: list[str],
    requested: list[str],
    tokens: bytes,
    expires_in_ms: int | None,
    kept: int | None,
) -> bool:
    """`kept`: the version whose refresh token is stored again."""
    found = await query(STORE_EXCHANGED, [id, binding, account, scopes, requested, tokens, expires_in_ms, kept])
    answer: bool = found[0][0]
    return answer


class AccountRow(NamedTuple):
    provider_name: str
    account_id: str
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
    since_refresh_ms: int | None
    """how long ago a refresh has stored them; None: none has since the user has connected the account"""


FIND_ACCOUNTS = """SELECT provider_name, account_id, state, reason, scopes, requested, connected_at,
    refreshed_at, expires_at, expires_in_ms, lifetime_ms, version, tokens, since_refresh_ms FROM
    urlmode.find_accounts(%s::text, %s::text, %s::text)"""


async def find_accounts(
    query: Query,
    *,
    subject: str,
    provider: str | None,
    account: str | None,
) -> list[AccountRow]:
    found = await query(FIND_ACCOUNTS, [subject, provider, account], True)
    return [AccountRow(*row) for row in found]


class BegunRefresh(NamedTuple):
    outcome: Literal["begun", "leased", "paused", "lost", "changed"]
    lease: int
    """if it has begun"""
    wait_ms: int
    """if another instance has the lease: for how long at most"""


BEGIN_LEASE_OF = """SELECT outcome, lease, wait_ms FROM urlmode.begin_lease_of(%s::text, %s::text, %s::text,
    %s::bigint, %s::bigint, %s::bigint, %s::boolean)"""


async def begin_lease_of(
    query: Query,
    place: Place,
    *,
    version: int,
    lease_ms: int,
    holder: int | None,
    late: bool,
) -> BegunRefresh:
    """`holder`: of the lock of the listening session; None: there is none. `late`: to try a refresh token that
    came late.
    """
    found = await query(BEGIN_LEASE_OF, [place.subject, place.provider, place.account, version, lease_ms, holder, late])
    return BegunRefresh(*found[0])


MARK_SENDING = """SELECT urlmode.mark_sending(%s::text, %s::text, %s::text, %s::bigint, %s::bigint,
    %s::boolean, %s::bigint)"""


async def mark_sending(
    query: Query,
    place: Place,
    *,
    lease: int,
    lease_ms: int,
    stays_good: bool,
    reuse_ms: int | None,
) -> bool:
    """`lease_ms`: from now on. `stays_good`: the token can be sent again, whatever becomes of the answer.
    `reuse_ms`: for how long the provider takes it again; 0: never; None: not known.
    """
    found = await query(MARK_SENDING, [
        place.subject,
        place.provider,
        place.account,
        lease,
        lease_ms,
        stays_good,
        reuse_ms,
    ])
    answer: bool = found[0][0]
    return answer


StoreRefreshedAnswer = Literal["stored", "changed", "late", "gone"]
STORE_REFRESHED = """SELECT urlmode.store_refreshed(%s::text, %s::text, %s::text, %s::bigint, %s::bigint,
    %s::boolean, %s::text[], %s::bytea, %s::bigint)"""


async def store_refreshed(
    query: Query,
    place: Place,
    *,
    version: int,
    lease: int,
    replaced: bool,
    scopes: list[str],
    tokens: bytes,
    expires_in_ms: int | None,
) -> StoreRefreshedAnswer:
    """`replaced`: there is a new refresh token."""
    found = await query(STORE_REFRESHED, [
        place.subject,
        place.provider,
        place.account,
        version,
        lease,
        replaced,
        scopes,
        tokens,
        expires_in_ms,
    ])
    answer: StoreRefreshedAnswer = found[0][0]
    return answer


END_REFRESH = """SELECT urlmode.end_refresh(%s::text, %s::text, %s::text, %s::bigint, %s::bigint, %s::text,
    %s::text, %s::bigint)"""


async def end_refresh(
    query: Query,
    place: Place,
    *,
    version: int,
    lease: int,
    reason: str | None,
    lost: Literal["answer", "status"] | None,
    retry_after_ms: int | None,
) -> None:
    """`reason`: why it must be connected again; None: it can be tried again. `lost`: the provider may have
    replaced the token; None: it has not. `retry_after_ms`: as the provider says it.
    """
    await query(END_REFRESH, [
        place.subject,
        place.provider,
        place.account,
        version,
        lease,
        reason,
        lost,
        retry_after_ms,
    ])


class BegunDisconnect(NamedTuple):
    outcome: Literal["begun", "leased", "gone"]
    wait_ms: int
    version: int
    tokens: bytes
    first_version: int | None


BEGIN_DISCONNECT = """SELECT outcome, wait_ms, version, tokens, first_version FROM
    urlmode.begin_disconnect(%s::text, %s::text, %s::text, %s::bigint, %s::bigint)"""


async def begin_disconnect(query: Query, place: Place, *, lease_ms: int, first: int | None) -> BegunDisconnect:
    """`first`: what this has returned before as `first_version`."""
    found = await query(BEGIN_DISCONNECT, [place.subject, place.provider, place.account, lease_ms, first])
    return BegunDisconnect(*found[0])


DELETE_ACCOUNT = "SELECT urlmode.delete_account(%s::text, %s::text, %s::text, %s::bigint)"


async def delete_account(query: Query, place: Place, *, version: int) -> bool:
    found = await query(DELETE_ACCOUNT, [place.subject, place.provider, place.account, version])
    answer: bool = found[0][0]
    return answer


class KeyRow(NamedTuple):
    kid: int
    accounts: int


VAULT_KEYS_OF = "SELECT kid, accounts FROM urlmode.vault_keys_of(%s::text)"


async def vault_keys_of(query: Query, *, tenant: str) -> list[KeyRow]:
    found = await query(VAULT_KEYS_OF, [tenant], True)
    return [KeyRow(*row) for row in found]


class SealedRow(NamedTuple):
    subject: str
    provider: str
    account: str
    tokens: bytes


LIST_SEALED = """SELECT subject, provider, account, tokens FROM urlmode.list_sealed(%s::integer, %s::text,
    %s::text, %s::text)"""


async def list_sealed(
    query: Query,
    *,
    minting: int,
    after_subject: str,
    after_provider: str,
    after_account: str,
) -> list[SealedRow]:
    found = await query(LIST_SEALED, [minting, after_subject, after_provider, after_account], True)
    return [SealedRow(*row) for row in found]


RESEAL_ACCOUNT = "SELECT urlmode.reseal_account(%s::text, %s::text, %s::text, %s::bytea, %s::bytea)"


async def reseal_account(query: Query, place: Place, *, old: bytes, tokens: bytes) -> bool:
    found = await query(RESEAL_ACCOUNT, [place.subject, place.provider, place.account, old, tokens])
    answer: bool = found[0][0]
    return answer


class ForgottenRow(NamedTuple):
    unclaimed: str
    provider: str
    reference: str
    amount: int
    currency: str


FORGET_OWNER = """SELECT unclaimed::text, provider, reference, amount, currency FROM
    urlmode.forget_owner(%s::text, %s::text)"""


async def forget_owner(query: Query, *, tenant: str, subject: str) -> list[ForgottenRow]:
    found = await query(FORGET_OWNER, [tenant, subject])
    return [ForgottenRow(*row) for row in found]
