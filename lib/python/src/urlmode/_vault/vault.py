"""The class `Vault`: accounts that stay connected."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

import psycopg

from .._accounts.client_authentication import OAuthClient
from .._accounts.provider import AccountOptions, AccountProvider, Connected, check_scopes
from .._accounts.token_response import VARIABLES, unusable_of
from .._core import contract_texts as texts
from .._core.arguments import check_duration, check_function, check_id, check_provider, check_text
from .._core.background import Background, jittered, shielded
from .._core.contract_calls import RowKey
from .._core.contract_limits import (
    ACCOUNT_LOOK_S,
    ACCOUNT_MAX,
    COMMIT_S,
    REFRESH_LEASE_S,
    REUSE_MAX_S,
    SUBJECT_MAX,
    VALID_FOR_MAX_S,
)
from .._core.errors import (
    AccountNotConnectedError,
    AccountReconnectError,
    AccountSealError,
    AccountUnavailableError,
    ElicitationNotFoundError,
    KeysFileError,
    ProviderUnavailableError,
    UnclaimedPaymentsError,
    UrlModeClosedError,
    UrlModeError,
)
from .._core.keys import have_common_key
from .._core.types import Duration
from .._core.urlmode import UrlMode, open_keys
from .access import judge
from .account_owner import account_owner, whose_account
from .contract_calls import AccountRow
from .database import Stored, VaultDatabase
from .kept_token import read_kept
from .refresher import Refreshable, Refresher, less_waited, lifetime_of
from .retried import is_no_conflict, is_refused, reason_of, retried
from .sealed_tokens import Place, open_tokens, seal_tokens
from .types import (
    AccessToken,
    AccountEvent,
    Disconnected,
    EventName,
    KeyInUse,
    ListedAccount,
    Provider,
    Resealed,
)

# The account of a provider that does not say whose it is.
_ONLY_ACCOUNT = "default"


class Vault:
    def __init__(
        self,
        urlmode: UrlMode,
        *,
        keys_file: str | PathLike[str] | None = None,
        keys: str | None = None,
        providers: Mapping[str, Provider],
        on_event: Callable[[AccountEvent], object] | None = None,
    ) -> None:
        """Uses the database of `urlmode`, whose `aclose` waits for refreshes that are under way.

        `keys_file` is the vault's own, which no callback host holds; `keys` is its content. `on_event` is told what
        happens to accounts, for a log. Raises KeysFileError.

        `providers`: what their accounts are connected with.
        """
        if not isinstance(urlmode, UrlMode):
            raise TypeError(texts.MUST_BE_URLMODE)
        check_function("on_event", on_event)
        if inspect.iscoroutinefunction(on_event):
            raise TypeError("on_event must be a plain function, because nobody awaits it")
        self._urlmode = urlmode
        self._providers = _check_providers(providers)
        self._on_event = on_event
        self._keys = open_keys(keys_file, keys)
        if have_common_key(self._keys, urlmode._keys):
            raise KeysFileError(
                f"{'keys' if keys_file is None else fspath(keys_file)}: {texts.VAULT_KEYS_ARE_SHARED}"
            )
        self._tenant = urlmode._database.tenant
        self._database = VaultDatabase(urlmode._database.query, self._tenant)
        self._background = Background()
        self._refresher = Refresher(
            urlmode._listener, self._database, self._keys, self._background, self._options_of, self._report, urlmode._check_open,
        )  # fmt: skip
        urlmode._finishers.append(self._background.finish)

    async def store(self, connected: Connected, *, subject: str, provider: str) -> str:
        """Stores what `connect_account` gives its body, over what there is of the same account.

        Returns the account: `connected.account.id`, or `default` if the provider does not name it. `use_account` does
        this by itself. Raises ElicitationNotFoundError if the user was forgotten since the elicitation was created.

        `connected`: what the body of `connect_account` is given. `subject`, `provider`: whose account it is.
        """
        self._urlmode._check_open()
        if not isinstance(connected, Connected):
            raise TypeError("connected must be a Connected, as connect_account gives it to its body")
        place = _place_of(connected, *self._owner(subject, provider))
        if (unusable := unusable_of(connected.tokens)) is not None:
            raise ValueError(f"the {unusable} must have no control characters")
        id = check_id(connected.elicitation_id) if connected.elicitation_id else None
        since = time.monotonic()

        async def store() -> bool:
            stored = less_waited(await self._sealed(place, connected), since)
            return await self._database.store(place, stored, connected.requested, id)

        if not await retried(store, COMMIT_S, is_no_conflict):
            raise ElicitationNotFoundError(connected.elicitation_id)
        self._report("connected", place, scopes=connected.scopes)
        return place.account

    async def access_token(
        self, *, subject: str, provider: str, account: str | None = None, valid_for: Duration | None = None,
        refused: str | None = None,
    ) -> AccessToken:  # fmt: skip
        """A token that is valid, at once if the stored one is. Otherwise it is refreshed, by one instance at a time. Near
        its end it is refreshed in the background.

        `valid_for`: how long it must still be valid, at most half the time that the provider gives its tokens. `refused`:
        a token that the provider's API has refused; if it is the stored one, it is refreshed, once. Without `account` it
        is the one that was connected last. Cancelling the call does not cancel the refresh. Raises
        AccountNotConnectedError, AccountReconnectError (the provider refuses to refresh it, or its API refuses what came
        of that: only the user can help), AccountUnavailableError (it has expired or was refused, and cannot be refreshed
        just now) and AccountSealError.

        `subject`, `provider`: whose account.

        `connected`: what the body of `connect_account` is given. `subject`, `provider`: whose account it is.
        """
        subject, provider = self._owner(subject, provider)
        wanted_account = _check_account(account)
        asked_ms = None if valid_for is None else check_duration("valid_for", valid_for, 0, VALID_FOR_MAX_S)
        if refused is not None and not isinstance(refused, str):
            raise TypeError(texts.REFUSED_IS_A_TOKEN)
        self._options_of(provider)
        until = time.monotonic() + REFRESH_LEASE_S
        first: tuple[str, int] | None = None
        while True:
            self._urlmode._check_open()
            row = await self._find(subject, provider, wanted_account)
            if row.state == "reconnect":
                raise AccountReconnectError(provider, row.account_id, row.reason)
            place = Place(subject, provider, row.account_id)
            tokens = open_tokens(self._keys, place, row.tokens)
            # Without a name it is the account that was connected last: that may be another one by now.
            if first is None or first[0] != row.account_id:
                first = row.account_id, row.version
            verdict, is_good = judge(
                row, tokens, valid_for_ms=asked_ms, refused=refused, has_changed=row.version != first[1]
            )
            if verdict == "use":
                return _to_access_token(row, tokens)
            if verdict in ("refused", "expired"):
                raise AccountReconnectError(provider, row.account_id, verdict)
            refreshable = Refreshable(place, row.version, tokens, row.scopes)
            if verdict == "use and refresh":
                self._background.start(self._refresh_ahead(refreshable))
                return _to_access_token(row, tokens)
            result = await self._refresher.refresh(refreshable)
            is_leased = result.outcome == "leased"
            is_over = result.outcome == "failed" or (is_leased and time.monotonic() > until)
            if is_good and (is_over or (is_leased and asked_ms is None)):
                return _to_access_token(row, tokens)
            if is_over:
                raise AccountUnavailableError(provider, "timeout" if is_leased else result.detail)
            if is_leased:
                await asyncio.sleep(min(result.wait_ms / 1000, jittered(ACCOUNT_LOOK_S)))

    async def _refresh_ahead(self, refreshable: Refreshable) -> None:
        """In the background, so that an error is an event."""
        try:
            await self._refresher.refresh(refreshable)
        except UrlModeClosedError:
            pass
        except Exception as error:
            self._report("failed", refreshable.place, detail=reason_of(error))

    async def list_accounts(self, *, subject: str, provider: str | None = None) -> list[ListedAccount]:
        """Without tokens, the one that was connected last first. Raises UrlModeClosedError.

        `subject`, `provider`: whose accounts.
        """
        self._urlmode._check_open()
        owner = account_owner(self._tenant, check_text("subject", subject, 1, SUBJECT_MAX))
        rows = await self._database.read(owner, None if provider is None else check_provider(provider), None)
        return [
            ListedAccount(
                provider=row.provider_name, account=row.account_id, state=row.state, reason=row.reason, scopes=row.scopes,
                requested_scopes=row.requested, connected_at=row.connected_at, refreshed_at=row.refreshed_at,
                expires_at=row.expires_at,
            )
            for row in rows
        ]  # fmt: skip

    async def disconnect(self, *, subject: str, provider: str, account: str | None = None) -> Disconnected:
        """Revokes the tokens at the provider, if it has an endpoint for it (RFC 7009), and deletes them in any case.

        It waits for a refresh that is under way. Cancelling the call does not cancel what has begun. Raises
        AccountNotConnectedError.

        `subject`, `provider`, `account`: which one.
        """
        self._urlmode._check_open()
        subject, provider = self._owner(subject, provider)
        row = await self._find(subject, provider, _check_account(account))
        return await shielded(self._background.start(self._disconnect(Place(subject, provider, row.account_id))))

    async def forget_subject(self, *, subject: str) -> None:
        """Deletes all that is stored of a user, but references and amounts of payments.

        It revokes nothing: disconnect the accounts first. Raises UnclaimedPaymentsError with the payments that must be
        claimed or refunded before; then nothing was deleted.

        `subject`: the user.
        """
        self._urlmode._check_open()
        unclaimed = await self._database.forget(check_text("subject", subject, 1, SUBJECT_MAX))
        if unclaimed:
            raise UnclaimedPaymentsError(unclaimed)

    async def keys_in_use(self) -> list[KeyInUse]:
        """The keys that the vault still needs. Another one can be removed from the keys file. Raises UrlModeClosedError."""
        self._urlmode._check_open()
        return [KeyInUse(kid, accounts) for kid, accounts in await self._database.keys()]

    async def reseal(self) -> Resealed:
        """Seals everything with the first key of the file, in batches, while all goes on.

        An account whose tokens do not open stays as it is, and is counted as `unopened`. Raises KeysFileError if the keys
        file cannot be read.
        """
        self._urlmode._check_open()
        sealed = unopened = 0
        kid = self._keys.minting.kid
        last = Place("", "", "")
        while rows := await self._database.list_sealed(kid, last):
            for row in rows:
                last = place = Place(row.subject, row.provider, row.account)
                if whose_account(place.subject)[0] != self._tenant:
                    continue
                try:
                    new = seal_tokens(self._keys, place, open_tokens(self._keys, place, row.tokens))
                except AccountSealError as error:
                    unopened += 1
                    self._report("unopened", place, reason=error.reason)
                    continue
                sealed += await self._database.reseal(place, row.tokens, new)
        return Resealed(sealed, unopened)

    async def _sealed(self, place: Place, connected: Connected) -> Stored:
        tokens = _with_variables(connected)
        kept = await read_kept(self._database, self._keys, place, connected)
        if kept is not None:
            tokens["refresh_token"] = kept.refresh_token
        sealed = seal_tokens(self._keys, place, tokens)
        return Stored(connected.scopes, sealed, lifetime_of(connected.tokens), kept and kept.version)

    async def _keep(self, connected: Connected, key: RowKey, subject: str, provider: str) -> str:
        """Stores what a call has exchanged the code of its elicitation for, and returns the account. Nobody can exchange
        it again: it is tried for some time, and what is not stored is revoked."""
        since = time.monotonic()
        subject, provider = self._owner(subject, provider)
        try:
            place = _place_of(connected, subject, provider)

            async def store() -> bool:
                stored = less_waited(await self._sealed(place, connected), since)
                return await self._database.store_exchanged(key, place.account, stored, connected.requested)

            if not await retried(store, COMMIT_S):
                raise ElicitationNotFoundError(key.id)
        except Exception as error:
            # Otherwise nobody knows whether they are stored.
            if is_refused(error) or isinstance(error, (ElicitationNotFoundError, ValueError)):
                unstored = Place(subject, provider, _account_of(connected))
                self._report(
                    "not_stored", unstored, detail=reason_of(error), revoked=await self._revoke_unstored(unstored, connected)
                )
            raise
        self._report("connected", place, scopes=connected.scopes)
        return place.account

    async def _revoke_unstored(self, place: Place, connected: Connected) -> bool:
        if await self._is_in_use(place.subject, place.provider, place.account):
            return False
        return await self._revoke(place.provider, _with_variables(connected)) is None

    async def _is_in_use(self, subject: str, provider: str, account: str | None = None) -> bool:
        """Whether the account has tokens, which some providers would revoke with others of the same account. Without
        `account`: whether any has. Also if nobody knows.

        `connected`: what the body of `connect_account` is given. `subject`, `provider`: whose account it is.
        """
        try:
            rows = await self._database.read(subject, provider, None)
        except (psycopg.Error, UrlModeError):
            return True  # The call has the error that says why they are not stored.
        return any(row.state == "connected" and account in (None, row.account_id) for row in rows)

    def _owner(self, subject: object, provider: object) -> tuple[str, str]:
        """Whose the account is (account_owner.py), and the provider."""
        return account_owner(self._tenant, check_text("subject", subject, 1, SUBJECT_MAX)), check_provider(provider)

    async def _find(self, subject: str, provider: str, account: str | None) -> AccountRow:
        rows = await self._database.read(subject, provider, account)
        if not rows:
            raise AccountNotConnectedError(provider)
        return rows[0]

    async def _disconnect(self, place: Place) -> Disconnected:
        detail: str | None = None
        has_begun = False
        first: int | None = None
        while True:
            start = await self._database.begin_disconnect(place, round(1000 * REFRESH_LEASE_S), first)
            first = start.first_version if first is None else first
            if start.outcome == "leased":
                if not has_begun:
                    self._urlmode._check_open()
                await asyncio.sleep(min(start.wait_ms / 1000, jittered(ACCOUNT_LOOK_S)))
                continue
            if start.outcome == "gone":
                if not has_begun:
                    raise AccountNotConnectedError(place.provider)
                break
            has_begun = True
            try:
                detail = await self._revoke(place.provider, open_tokens(self._keys, place, start.tokens)) or detail
            except AccountSealError as error:
                detail = error.code
            # Tokens that were stored meanwhile are revoked as well.
            version = start.version
            if await retried(lambda: self._database.delete(place, version), REFRESH_LEASE_S):
                break
        self._report("disconnected", place, revoked=detail is None)
        return Disconnected(detail is None, detail)

    async def _revoke(self, name: str, tokens: Mapping[str, Any]) -> str | None:
        """Why they could not be revoked."""
        try:
            provider = await AccountProvider.open(self._options_of(name, tokens))
        except ProviderUnavailableError as error:
            return error.code
        except (TypeError, ValueError):
            return "not_configured"  # `providers` is not what the account was connected with.
        return await provider.revoke_all(tokens)

    def _options_of(self, provider: str, tokens: Mapping[str, Any] | None = None) -> AccountOptions:
        """`tokens`: that were stored with the variables of their account."""
        options = self._providers.get(provider)
        if options is None:
            raise ValueError(f"providers has no {provider}")
        return replace(options, variables={**options.variables, **(tokens or {}).get(VARIABLES, {})})

    def _report(self, name: EventName, place: Place, **more: Any) -> None:
        """Later, so that an error of the function ends no call."""
        if self._on_event is not None:
            _, subject = whose_account(place.subject)
            event = AccountEvent(name=name, subject=subject, provider=place.provider, account=place.account, **more)
            asyncio.get_running_loop().call_soon(self._on_event, event)


def _check_providers(providers: object) -> dict[str, AccountOptions]:
    if not isinstance(providers, Mapping):
        raise TypeError("providers must be a mapping, with the name and a Provider of each")
    checked = {}
    for name, given in providers.items():
        if not isinstance(given, Provider):
            raise TypeError(f"providers[{name!r}] must be a Provider")
        if not isinstance(given.client, OAuthClient):
            raise TypeError(f"providers[{name!r}].client must be an OAuthClient")
        checked[check_provider(name)] = AccountOptions(
            provider=name, description=given.description, client=given.client,
            scopes=check_scopes("scopes", given.scopes),
            required_scopes=check_scopes("required_scopes", given.required_scopes),
            variables=dict(given.variables), parameters=dict(given.parameters), reuse_within=_check_reuse(name, given.reuse_within),
        )  # fmt: skip
    return checked


def _check_reuse(name: object, within: Any) -> Any:
    is_time = isinstance(within, (int, float)) and not isinstance(within, bool) and 0 < within <= REUSE_MAX_S
    if within not in (None, "never") and not is_time:
        raise ValueError(f"providers[{name!r}].reuse_within must be a number of seconds up to {REUSE_MAX_S:g}, or 'never'")
    return within


def _account_of(connected: Connected) -> str:
    return _ONLY_ACCOUNT if connected.account is None else connected.account.id


def _place_of(connected: Connected, subject: str, provider: str) -> Place:
    return Place(subject, provider, check_text("account", _account_of(connected), 1, ACCOUNT_MAX))


def _with_variables(connected: Connected) -> dict[str, Any]:
    return {**connected.tokens, **({VARIABLES: connected.variables} if connected.variables else {})}




def _check_account(account: object) -> str | None:
    return None if account is None else check_text("account", account, 1, ACCOUNT_MAX)


def _to_access_token(row: AccountRow, tokens: Mapping[str, Any]) -> AccessToken:
    return AccessToken(
        access_token=tokens["access_token"], token_type=tokens.get("token_type", "bearer"), account=row.account_id,
        scopes=row.scopes, requested_scopes=row.requested, expires_at=row.expires_at,
    )  # fmt: skip
