"""What `with_elicitation` asks for, by kind. A call with what another kind needs does not type-check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .._core.create_calls import OAuthKind, PaymentKind, SignatureKind
from .call import CallOptions

if TYPE_CHECKING:
    from .._core.money_types import Expected
    from .._core.types import RecheckFunction
    from .._core.urlmode import UrlMode


class _Asked(TypedDict):
    urlmode: UrlMode
    """of this process"""
    subject: str
    """the user, according to your own authorization"""
    provider: str
    """an entry in the configuration of the callback programs"""
    message: str
    """what the client shows to the user"""


class _Options(CallOptions, total=False):
    about: Mapping[str, Any] | None
    """more of the request, by which calls are compared"""
    recheck: RecheckFunction | None
    """asks the provider, while the call waits"""


class AskOAuth(_Asked, OAuthKind, _Options, total=False):
    pkce: bool
    """adds PKCE to the authorization request, and a nonce to one of OpenID"""


class _Priced(TypedDict):
    expected: Expected | Literal["any"]
    """what must be paid, or any amount"""


class AskPayment(_Asked, PaymentKind, _Priced, _Options):
    pass


class AskSignature(_Asked, SignatureKind, _Options):
    pass
