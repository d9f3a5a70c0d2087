"""What `with_elicitation` asks for, by kind. A call with what another kind needs does not type-check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .._core.create_calls import OAuthKind, PaymentKind, SignatureKind
from .call import CallOptions

if TYPE_CHECKING:
    from .._core.types import Expected, RecheckFunction
    from .._core.urlmode import UrlMode


class _Asked(TypedDict):
    urlmode: UrlMode
    subject: str
    provider: str
    message: str


class _Options(CallOptions, total=False):
    about: Mapping[str, Any] | None
    recheck: RecheckFunction | None


class AskOAuth(_Asked, OAuthKind, _Options, total=False):
    pkce: bool


class _Priced(TypedDict):
    expected: Expected | Literal["any"]


class AskPayment(_Asked, PaymentKind, _Priced, _Options):
    pass


class AskSignature(_Asked, SignatureKind, _Options):
    pass
