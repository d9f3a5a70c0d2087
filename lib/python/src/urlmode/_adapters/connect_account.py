"""What `connect_account` of the adapters asks for, and what it does with the outcome."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from .._accounts.client_authentication import OAuthClient
from .._accounts.provider import AccountOptions, AccountProvider, Connected, IsInUse, check_scopes
from .._core.callback_urls import AnyElicitation
from .._core.claims import BegunClaim
from .._core.types import CallbackUrls, Elicitation, Outcome


@dataclass(frozen=True)
class Connecting:
    about: dict[str, Any]
    uses_pkce: bool
    target_url: Callable[[CallbackUrls], Union[str, Awaitable[str]]]
    _provider: AccountProvider

    async def connect(
        self, outcome: Outcome, elicitation: AnyElicitation, claim: BegunClaim, is_in_use: IsInUse | None = None
    ) -> Connected:
        """The outcome is claimed, so of all calls for the same thing one exchanges the code."""
        assert isinstance(elicitation, Elicitation)
        return await self._provider.connect(
            outcome.elicitation_id, elicitation.return_url, outcome.result or {}, outcome.code_verifier, outcome.nonce, is_in_use
        )


async def connecting(
    *, provider: str, client: OAuthClient, description: str | None, scopes: Sequence[str],
    required_scopes: Sequence[str], variables: Mapping[str, str] | None, parameters: Mapping[str, str] | None,
    about: Mapping[str, Any] | None,
) -> Connecting:  # fmt: skip
    options = AccountOptions(
        provider=provider, description=description, client=client, scopes=check_scopes("scopes", scopes),
        required_scopes=check_scopes("required_scopes", required_scopes), variables=dict(variables or {}),
        parameters=dict(parameters or {}),
    )  # fmt: skip
    opened = await AccountProvider.open(options)
    # A call that asks for other scopes, or as another client, is about something else.
    elicitation: dict[str, Any] = {
        "client": client.id, "description": description, "variables": variables and dict(variables),
        "scopes": list(scopes) or None, "parameters": parameters and dict(parameters),
    }  # fmt: skip
    return Connecting(
        about={name: value for name, value in {**(about or {}), **elicitation}.items() if name not in elicitation or value is not None},
        uses_pkce=opened.uses_pkce,
        target_url=lambda urls: opened.authorization_url(urls.return_url), _provider=opened,
    )  # fmt: skip
