"""What each kind of elicitation is created with. A call with what another kind needs does not type-check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from .types import Duration, Expected, Id, TargetUrl, WebUrl


class CreateOptions(TypedDict, total=False):
    """Of every kind."""

    session: str
    ttl: Duration
    id: Id | None
    exclusive: bool
    resume_key: str | None
    about: Mapping[str, Any] | None
    client_id: str | None
    same_client: bool
    can_recheck: bool
    traceparent: str | None


class _Asked(TypedDict):
    provider: str
    subject: str


class OAuthKind(TypedDict):
    kind: Literal["oauth"]
    target_url: WebUrl


class PaymentKind(TypedDict):
    kind: Literal["payment"]
    target_url: TargetUrl
    item: str
    """what the payment is for, in the words of the server"""


class SignatureKind(TypedDict):
    kind: Literal["signature"]
    target_url: WebUrl
    item: str
    """what is signed, in the words of the server"""


class CreateOAuth(_Asked, OAuthKind, CreateOptions, total=False):
    pkce: bool


class _Priced(TypedDict):
    expected: Expected


class CreatePayment(_Asked, PaymentKind, _Priced, CreateOptions, total=False):
    subscription: bool


class _AnyPrice(TypedDict):
    expected: Literal["any"]


class CreatePaymentOfAnyAmount(_Asked, PaymentKind, _AnyPrice, CreateOptions):
    pass


class CreateSignature(_Asked, SignatureKind, CreateOptions):
    pass
