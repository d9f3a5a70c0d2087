"""A body that asks the client for something itself, in rounds of protocol revision 2026-07-28: a gateway passes on what a
server behind it asks for. The claim goes on from one round to the next, on any instance.
"""

from __future__ import annotations

import hashlib
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from .._core.contract_limits import BODY_STATE_MAX
from .._core.contract_seals import ROUND_INFO
from .._core.errors import ElicitationSealError, StateTokenError
from .._core.keys import KeyRing, decode_base64, encode_base64url
from .._core.seal import seal, to_json, unseal
from .messages import ToolResult

INPUT_KEY = "urlmode"
"""The key of our request in a result's inputRequests."""


@dataclass(frozen=True)
class Round:
    """How the next call goes on."""

    reference: str | None
    fence: int
    state: str | None
    """the request state of the body itself"""
    passed: bool = False
    """The body has a result, and something after it in the same call has asked."""

    def seal(self, keys: KeyRing, id: str, binding: bytes, handle: str) -> str:
        if not self.passed and len((self.state or "").encode()) > BODY_STATE_MAX:
            raise ValueError(f"the request state of the body has more than {BODY_STATE_MAX} bytes")
        members = {
            "reference": self.reference or "", "fence": self.fence, "state": self.state or "", "passed": self.passed, "of": _of(handle),
        }  # fmt: skip
        return encode_base64url(seal(keys, ROUND_INFO, id, binding, to_json(members)))


def _of(handle: str) -> str:
    """Binds a round to the handle beside it, and so to the request: that of another request for the same row does not open it."""
    return encode_base64url(hashlib.sha256(handle.encode()).digest()[:16])


def open_round(keys: KeyRing, id: str, binding: bytes, handle: str, text: str) -> Round:
    sealed = decode_base64(text)
    if sealed is None or encode_base64url(sealed) != text:
        raise StateTokenError
    try:
        members = unseal(keys, ROUND_INFO, id, binding, sealed)
    except ElicitationSealError:
        raise StateTokenError from None
    if members.get("of") != _of(handle):
        raise StateTokenError
    return Round(
        members.get("reference") or None, members.get("fence", 0), members.get("state") or None, bool(members.get("passed"))
    )


def requires_input(made: ToolResult | None) -> bool:
    return made is not None and made.get("resultType") == "input_required"


def is_open(made: ToolResult | None) -> bool:
    """Whether it is the end of a call without an outcome, with a link for example: a body that returns it has not done its work."""
    about = ((made or {}).get("structuredContent") or {}).get("elicitation")
    return isinstance(about, dict) and "elicitationId" in about and "message" in about


@dataclass(frozen=True)
class OwnRequest:
    """What the client has sent of what a body, or what comes after it, has asked for itself."""

    request_state: str | None
    input_responses: dict[str, Any]


@dataclass(frozen=True)
class _Handed:
    call: object
    state: str | None
    is_foreign: bool


_handed: ContextVar[_Handed | None] = ContextVar("urlmode_handed", default=None)


def hand(call: object, state: str | None, *, is_foreign: bool) -> None:
    """Leaves the rest of a request state to what runs from here on in this call. `is_foreign`: so are the answers."""
    _handed.set(_Handed(call, state, is_foreign))


def own_request(ctx: Any) -> OwnRequest:
    """In a body that asks the client for something itself, by an `InputRequiredResult`: the request state of that, and what the
    client has answered to it; nothing of ours. `ctx` is the framework's Context."""
    responses = dict(getattr(ctx, "input_responses", None) or {})
    handed = _handed.get()
    if handed is None or handed.call is not ctx.request_context:
        return OwnRequest(getattr(ctx, "request_state", None), responses)
    if not handed.is_foreign:
        responses.pop(INPUT_KEY, None)
    return OwnRequest(handed.state, responses)
