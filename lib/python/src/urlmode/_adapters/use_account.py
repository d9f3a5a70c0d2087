"""What `use_account` of the adapters does: it uses an account of the vault with its token, or by the elicitation that
connects it, connects it again, or asks for what is missing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._accounts.provider import check_scopes
from .._core.callback_urls import AnyElicitation
from .._core.claims import BegunClaim
from .._core.contract_calls import RowKey
from .._core.contract_limits import ACCOUNT_LOOK_S, EXCHANGE_S
from .._core.errors import AccountNotConnectedError, AccountReconnectError
from .._core.tasks import jittered, shielded
from .._core.token import binding_of
from .._core.types import CallbackUrls, Duration, Outcome
from .._vault.types import AccessToken, ListedAccount
from .._vault.vault import Vault
from .adapter import run
from .call import Call, ToolRequest
from .connect_account import Connecting, connecting
from .messages import ToolResult, failure_result

# In place of the result of a call whose account is connected, by itself or by another call: it has yet to be used.
_CONNECTED: ToolResult = {}
_CONNECTED_BY_ANOTHER: ToolResult = {}


class _ConnectedMeanwhile(Exception):
    """Another call has connected the account since this one looked for it, so that the user need not be asked."""

    def __init__(self, token: AccessToken) -> None:
        super().__init__()
        self.token = token


async def use_account(
    vault: Vault, call: Call, request_for: Callable[[Connecting], ToolRequest], body: Callable[[AccessToken], Awaitable[ToolResult]],
    *, subject: str, session: str, provider: str, account: str | None, valid_for: Duration, scopes: Sequence[str] | None,
    required_scopes: Sequence[str] | None, variables: Mapping[str, str] | None, parameters: Mapping[str, str] | None,
) -> ToolResult:  # fmt: skip
    """`request_for`: what the user is asked, where the account must be connected."""
    options = vault._options_of(provider)
    wanted = options.scopes if scopes is None else check_scopes("scopes", scopes)
    required = options.required_scopes if required_scopes is None else check_scopes("required_scopes", required_scopes)
    at: dict[str, Any] = {"subject": subject, "provider": provider}
    token, known = await _find(vault, at, account, valid_for)
    if token is not None and not _lacks(token, wanted, required):
        return await body(token)

    elicitation = list(dict.fromkeys([*known, *wanted, *required]))
    begun = await connecting(
        provider=provider, client=options.client, description=options.description, scopes=elicitation, required_scopes=required,
        variables={**options.variables, **(variables or {})}, parameters={**options.parameters, **(parameters or {})},
        about=None if account is None else {"account": account},
    )  # fmt: skip
    address = begun.target_url

    async def target_url(urls: CallbackUrls) -> Any:
        # There is nothing to resume: another call may have connected the account since this one looked for it.
        now, _ = await _find(vault, at, account, valid_for)
        if now is not None and not _lacks(now, wanted, required):
            raise _ConnectedMeanwhile(now)
        return address(urls)

    about = {**begun.about, "scopes": elicitation}  # an empty list as well, as in the other languages
    begun = replace(begun, about=about, target_url=target_url)
    connected = account

    async def keep(outcome: Outcome, elicitation: AnyElicitation, claim: BegunClaim) -> str:
        key = RowKey(outcome.elicitation_id, binding_of(subject, session))
        given = await begun.connect(outcome, elicitation, claim, lambda: vault._is_in_use(**at))
        return await vault._keep(given, key, **at)

    async def act(outcome: Outcome, elicitation: AnyElicitation, claim: BegunClaim) -> ToolResult:
        nonlocal connected
        # A code is good once, so that `aclose` waits until what it has given is stored.
        connected = await shielded(vault._tasks.start(keep(outcome, elicitation, claim)))
        return _CONNECTED

    async def claimed(elicitation_id: str) -> ToolResult | None:
        why = await _wait_for_exchange(vault, elicitation_id, subject, session)
        return _CONNECTED_BY_ANOTHER if why == "" else None if why is None else failure_result("cancel", why)

    try:
        end = await run(request_for(begun), call, act, claimed)
    except _ConnectedMeanwhile as meanwhile:
        return await body(meanwhile.token)
    if end is _CONNECTED:
        if account is not None and connected != account:
            return failure_result("cancel", "other_account")
        return await body(await vault.access_token(**at, account=connected, valid_for=valid_for))
    if end is not _CONNECTED_BY_ANOTHER:
        return end
    # It may be another account than this call needs, or less than it requires.
    token, _ = await _find(vault, at, account, valid_for)
    if token is not None and not _lacks(token, wanted, required):
        return await body(token)
    last = next((one.account for one in await vault.list_accounts(**at)), None)
    if account is not None and (token is None or last != account):
        return failure_result("cancel", "other_account")
    if token is None:
        return failure_result("cancel", "claimed")  # It was disconnected since.
    missing = [scope for scope in required if scope not in token.scopes]
    return failure_result("cancel", "scope_missing", " ".join(missing))


async def _find(
    vault: Vault, at: dict[str, Any], account: str | None, valid_for: Duration
) -> tuple[AccessToken | None, list[str]]:
    """A token, and the scopes that the account was asked for before."""
    try:
        token = await vault.access_token(**at, account=account, valid_for=valid_for)
        return token, _known(token)
    except AccountNotConnectedError:
        return None, []
    except AccountReconnectError as error:
        accounts = await vault.list_accounts(**at)
        return None, [scope for one in accounts if one.account == error.account for scope in _known(one)]


def _known(account: AccessToken | ListedAccount) -> list[str]:
    return account.requested_scopes or account.scopes


def _lacks(token: AccessToken, scopes: Sequence[str], required: Sequence[str]) -> bool:
    """A scope that was asked for is not asked for again, unless it is required: some providers do not say what they have
    granted, or in other words."""
    there = {*token.scopes, *token.requested_scopes}
    return not (there.issuperset(scopes) and set(token.scopes).issuperset(required))


async def _wait_for_exchange(vault: Vault, elicitation_id: str, subject: str, session: str) -> str | None:
    """Another call has claimed the outcome, and exchanges its code. Empty: it is connected; otherwise why it is not;
    None: that call does not say it."""
    claims = vault._urlmode._claims
    key = RowKey(elicitation_id, binding_of(subject, session))
    until = time.monotonic() + EXCHANGE_S
    while True:
        why = await claims.read_exchange(key)
        if why is not None or time.monotonic() > until:
            return why
        await asyncio.sleep(jittered(ACCOUNT_LOOK_S))
