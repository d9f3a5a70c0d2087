"""What each kind of elicitation is created with. A call with what another kind needs does not type-check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from .money_types import Expected
    from .types import Duration, Id, TargetUrl, WebUrl


class CreateOptions(TypedDict, total=False):
    """Of every kind."""

    session: str
    """of the user in the application, if only that may go on with it"""
    ttl: Duration
    """how long the link lives; 300 seconds by default"""
    id: Id | None
    """a UUID of your own"""
    exclusive: bool
    """whether the owner's other open elicitations end, of all providers"""
    resume_key: str | None
    """An open elicitation of this owner, with this key and the same request, is gone on with"""
    about: Mapping[str, Any] | None
    """more of the request, by which it is compared"""
    client_id: str | None
    """the MCP client, for the operator"""
    same_client: bool
    """whether only calls of that client go on with it"""
    can_recheck: bool
    """whether this server can ask the provider"""
    traceparent: str | None
    """the trace of the call (W3C Trace Context), for the operator"""


class _Asked(TypedDict):
    provider: str
    """an entry in the configuration of the callback programs"""
    subject: str
    """the user, according to your own authorization"""


class OAuthKind(TypedDict):
    kind: Literal["oauth"]
    """an account at a provider"""
    target_url: WebUrl
    """the page of the provider, or a function that makes its address of the URLs that it must contain"""


class PaymentKind(TypedDict):
    kind: Literal["payment"]
    """a price is paid"""
    target_url: TargetUrl
    """the page of the provider, or a function that makes its address, or a `Target`, of the URLs that it must contain"""
    item: str
    """what the payment is for, in the words of the server"""


class SignatureKind(TypedDict):
    kind: Literal["signature"]
    """a document is signed"""
    target_url: WebUrl
    """the page of the provider, or a function that makes its address of the URLs that it must contain"""
    item: str
    """what is signed, in the words of the server"""


class CreateOAuth(_Asked, OAuthKind, CreateOptions, total=False):
    pkce: bool
    """adds PKCE to the authorization request, and a nonce to one of OpenID"""


class _Priced(TypedDict):
    expected: Expected
    """what must be paid"""


class CreatePayment(_Asked, PaymentKind, _Priced, CreateOptions, total=False):
    subscription: bool
    """whether it must be the first payment of a subscription, which opens an entitlement for the `item`"""


class _AnyPrice(TypedDict):
    expected: Literal["any"]
    """every amount is accepted"""


class CreatePaymentOfAnyAmount(_Asked, PaymentKind, _AnyPrice, CreateOptions):
    pass


class CreateSignature(_Asked, SignatureKind, CreateOptions):
    pass
