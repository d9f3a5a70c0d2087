"""What `use_account` of the adapters does: it uses an account of the vault with its token, or by the elicitation that
connects it, connects it again, or asks for what is missing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._accounts.provider import check_scopes
from .._core.background import jittered, shielded
from .._core.callback_urls import AnyElicitation
from .._core.claims import BegunClaim
from .._core.contract_calls import RowKey
from .._core.contract_limits import ACCOUNT_LOOK_S, CLAIM_ATTEMPTS, EXCHANGE_S
from .._core.errors import AccountNotConnectedError, AccountReconnectError, TokenRefusedError
from .._core.types import CallbackUrls, Duration, Outcome
from .._vault.types import AccessToken, ListedAccount
from .._vault.vault import Vault
from .adapter import GIVEN_BACK, run
from .call import Call, ToolRequest
from .connect_account import Connecting, connecting
from .messages import ToolResult, failure_result

# In place of the result of a call whose account is connected, by itself or by another call: it has yet to be used.
_CONNECTED: ToolResult = {}
_CONNECTED_BY_ANOTHER: ToolResult = {}
_EXCHANGING = "exchanging"


class _ConnectedMeanwhile(Exception):
    """Another call has connected the account since this one looked for it, so that the user need not be asked."""

    def __init__(self, token: AccessToken) -> None:
        super().__init__()
        self.token = token


async def use_account(
    vault: Vault, call: Call, request_for: Callable[[Connecting], ToolRequest], body: Callable[[AccessToken], Awaitable[ToolResult]],
    *, subject: str, session: str, provider: str, account: str | None, valid_for: Duration | None, scopes: Sequence[str] | None,
    required_scopes: Sequence[str] | None, variables: Mapping[str, str] | None, parameters: Mapping[str, str] | None,
) -> ToolResult:  # fmt: skip
    """`request_for`: what the user is asked, where the account must be connected."""
    options = vault._options_of(provider)
    wanted = options.scopes if scopes is None else check_scopes("scopes", scopes)
    required = options.required_scopes if required_scopes is None else check_scopes("required_scopes", required_scopes)
    at: dict[str, Any] = {"subject": subject, "provider": provider}
    use = _Using(vault, at, account, valid_for, body)
    token, known = await use.find()
    if token is not None and not _lacks(token, wanted, required):
        end = await use.try_body(token)
        if end is not None:
            return end

    elicitation = list(dict.fromkeys([*known, *wanted, *required]))
    begun = await connecting(
        provider=provider, client=options.client, description=options.description, scopes=elicitation, required_scopes=required,
        variables={**options.variables, **(variables or {})}, parameters={**options.parameters, **(parameters or {})},
        about=None if account is None else {"account": account},
    )  # fmt: skip
    address = begun.target_url

    async def target_url(urls: CallbackUrls) -> Any:
        # There is nothing to resume: another call may have connected the account since this one looked for it.
        now, _ = await use.find()
        if now is not None and not _lacks(now, wanted, required):
            raise _ConnectedMeanwhile(now)
        return address(urls)

    about = {**begun.about, "scopes": elicitation}  # an empty list as well, as in the other languages
    begun = replace(begun, about=about, target_url=target_url)
    connected = account

    async def keep(outcome: Outcome, elicitation: AnyElicitation, claim: BegunClaim) -> str:
        key = RowKey(outcome.elicitation_id, vault._urlmode._binding_of(subject, session))
        given = await begun.connect(outcome, elicitation, claim, lambda: vault._is_in_use(*vault._owner(**at)))
        return await vault._keep(given, key, **at)

    async def act(outcome: Outcome, elicitation: AnyElicitation, claim: BegunClaim) -> ToolResult:
        nonlocal connected
        # A code is good once, so that `aclose` waits until what it has given is stored.
        connected = await shielded(vault._background.start(keep(outcome, elicitation, claim)))
        return _CONNECTED

    given_back = 0

    async def claimed(elicitation_id: str) -> ToolResult | None:
        nonlocal given_back
        why = await _wait_for_exchange(vault, elicitation_id, subject, session)
        if why is None:
            given_back += 1
            return GIVEN_BACK if given_back < CLAIM_ATTEMPTS else None
        return _CONNECTED_BY_ANOTHER if why == "" else None if why == _EXCHANGING else failure_result("cancel", why)

    try:
        end = await run(request_for(begun), call, act, claimed)
    except _ConnectedMeanwhile as meanwhile:
        return await use.body(meanwhile.token)
    if end is _CONNECTED:
        if account is not None and connected != account:
            return failure_result("cancel", "other_account")
        return await use.body(await use.token(connected))
    if end is not _CONNECTED_BY_ANOTHER:
        return end
    # It may be another account than this call needs, or less than it requires.
    token, _ = await use.find()
    if token is not None and not _lacks(token, wanted, required):
        return await use.body(token)
    last = next((one.account for one in await vault.list_accounts(**at)), None)
    if account is not None and (token is None or last != account):
        return failure_result("cancel", "other_account")
    if token is None:
        return failure_result("cancel", "claimed")  # It was disconnected since.
    missing = [scope for scope in required if scope not in token.scopes]
    return failure_result("cancel", "scope_missing", " ".join(missing))


class _Using:
    """The account, as one call uses it."""

    def __init__(
        self, vault: Vault, at: dict[str, Any], account: str | None, valid_for: Duration | None,
        body: Callable[[AccessToken], Awaitable[ToolResult]],
    ) -> None:  # fmt: skip
        self._vault = vault
        self._at = at
        self._account = account
        self._valid_for = valid_for
        self._body = body
        self._refused: str | None = None

    async def token(self, account: str | None) -> AccessToken:
        return await self._vault.access_token(
            **self._at, account=account, valid_for=self._valid_for, refused=self._refused
        )

    async def find(self) -> tuple[AccessToken | None, list[str]]:
        """A token, and the scopes that the account was asked for before."""
        try:
            token = await self.token(self._account)
            return token, _known(token)
        except AccountNotConnectedError:
            return None, []
        except AccountReconnectError as error:
            accounts = await self._vault.list_accounts(**self._at)
            return None, [scope for one in accounts if one.account == error.account for scope in _known(one)]

    async def try_body(self, token: AccessToken) -> ToolResult | None:
        """Runs the body; once more, with a refreshed token, if it says that the provider's API has refused the first
        one. None: the token cannot be replaced without the user."""
        try:
            return await self._body(token)
        except TokenRefusedError:
            self._refused = token.access_token
        try:
            fresh = await self.token(token.account)
        except AccountReconnectError:
            return None
        try:
            return await self._body(fresh)
        except TokenRefusedError:
            self._refused = fresh.access_token
            return None

    async def body(self, token: AccessToken) -> ToolResult:
        """With a token that came since the user was asked."""
        end = await self.try_body(token)
        if end is None:
            raise AccountReconnectError(self._at["provider"], token.account, "refused")
        return end


def _known(account: AccessToken | ListedAccount) -> list[str]:
    return account.requested_scopes or account.scopes


def _lacks(token: AccessToken, scopes: Sequence[str], required: Sequence[str]) -> bool:
    """A scope that was asked for is not asked for again, unless it is required: some providers do not say what they have
    granted, or in other words."""
    there = {*token.scopes, *token.requested_scopes}
    return not (there.issuperset(scopes) and set(token.scopes).issuperset(required))


async def _wait_for_exchange(vault: Vault, elicitation_id: str, subject: str, session: str) -> str | None:
    """Another call has claimed the outcome, and exchanges its code. Empty: it is connected; otherwise why it is not;
    None: nobody exchanges it any more; _EXCHANGING: that call does not say it in time."""
    claims = vault._urlmode._claims
    key = RowKey(elicitation_id, vault._urlmode._binding_of(subject, session))
    until = time.monotonic() + EXCHANGE_S
    while True:
        why = await claims.read_exchange(key)
        if why != _EXCHANGING or time.monotonic() > until:
            return why
        await asyncio.sleep(jittered(ACCOUNT_LOOK_S))
