"""The types of the vault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from .._accounts.client_authentication import OAuthClient
from .._core.types import Names


@dataclass(frozen=True, kw_only=True)
class Provider:
    """What accounts of a provider are connected with, as in `connect_account`."""

    client: OAuthClient
    """this server, as it is registered there"""
    description: str | None = None
    """which description; by default the one with the name of the provider"""
    scopes: Names = ()
    """what the user is asked for"""
    required_scopes: Names = ()
    """without which an account is not connected"""
    variables: Mapping[str, str] = field(default_factory=dict)
    """those of the description, such as a shop"""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """more of the authorization request"""
    reuse_within: float | Literal["never"] | None = None
    """For how many seconds after its use the provider takes a refresh token again, over what the description says.
    `never`: a second use ends all that was granted"""


@dataclass(frozen=True, kw_only=True)
class AccessToken:
    """A token that is valid, for this server only: never send it to the MCP client."""

    access_token: str = field(repr=False)
    token_type: str
    account: str
    scopes: list[str]
    """that were granted, as the provider says it"""
    requested_scopes: list[str]
    """that the user was asked for"""
    expires_at: datetime | None
    """None if the provider does not say it"""


@dataclass(frozen=True, kw_only=True)
class ListedAccount:
    provider: str
    account: str
    state: Literal["connected", "reconnect"]
    reason: str
    """why it must be connected again; empty while it is connected"""
    scopes: list[str]
    requested_scopes: list[str]
    connected_at: datetime
    refreshed_at: datetime
    expires_at: datetime | None
    """of the access token"""


@dataclass(frozen=True)
class KeyInUse:
    """A key that the vault still needs, and for how many accounts."""

    kid: int
    accounts: int


@dataclass(frozen=True)
class Disconnected:
    """The tokens are deleted in any case."""

    revoked: bool
    detail: str | None = None
    """why they could not be revoked"""


@dataclass(frozen=True)
class Resealed:
    """How many accounts were sealed with the first key, and how many could not be opened."""

    sealed: int
    unopened: int


EventName = Literal["connected", "refreshed", "failed", "reconnect", "disconnected", "unopened", "not_stored"]


@dataclass(frozen=True, kw_only=True)
class AccountEvent:
    """What happened to an account, for a log. It contains no token."""

    name: EventName
    """`failed`: a refresh has failed, and is tried again. `disconnected`: also of tokens that came for it afterwards.
    `unopened`: its tokens cannot be sealed anew. `not_stored`: tokens that came cannot be stored"""
    subject: str
    provider: str
    account: str
    scopes: list[str] | None = None
    """with `connected`"""
    detail: str | None = None
    """with `failed` and `not_stored`"""
    reason: str | None = None
    """with `reconnect` and `unopened`"""
    revoked: bool | None = None
    """with `disconnected` and `not_stored`"""
