"""The handle of ours that a client of protocol revision 2026-07-28 sends back, on any instance.

It is bound to one owner, one item or resume key, and all that the call asks for. A handle for a cheap item cannot complete an
expensive one.
"""

from __future__ import annotations

import hashlib
import math
import re
from datetime import datetime, timezone
from urllib.parse import parse_qs, urlsplit

from .._core.callback_urls import AnyElicitation
from .._core.contract_limits import GRACE_MAX_S
from .._core.errors import StateTokenError
from .._core.form_types import ApprovalElicitation
from .._core.keys import decode_base64
from .._core.token import State, mint_state, open_state
from .call import ToolRequest

_HANDLE = re.compile(r"([A-Za-z0-9_-]{115})\.([1-9])")


def _purposes(tool_request: ToolRequest) -> list[bytes]:
    """That of new handles, then that of packages that send no items."""
    request, key = tool_request.request, tool_request.key.encode()
    bound = [request.digest + key]
    if request.earlier_digest is not None:
        bound = [request.digest, request.earlier_digest + key]
    return [hashlib.sha256(each).digest()[:16] for each in bound]


def mint_handle(tool_request: ToolRequest, id: str, rounds: int, kid: int, expires_at: datetime) -> str:
    keys = tool_request.urlmode._keys
    expires = math.ceil(expires_at.timestamp()) + GRACE_MAX_S
    state = State(id, expires, tool_request.urlmode._binding_of(tool_request.subject, tool_request.session), _purposes(tool_request)[0])
    return f"{mint_state(keys.find(kid) or keys.minting, 'retry', '', state)}.{rounds}"


def open_handle(tool_request: ToolRequest, text: str) -> tuple[str, int, int, datetime]:
    """The id of the elicitation, the rounds, the id of the key, and when the link expires. Raises StateTokenError."""
    match = _HANDLE.fullmatch(text)
    if match is None:
        raise StateTokenError
    state = open_state(tool_request.urlmode._keys, "retry", "", match[1])
    if state.binding != tool_request.urlmode._binding_of(tool_request.subject, tool_request.session) or state.browser not in _purposes(tool_request):
        raise StateTokenError
    return state.id, int(match[2]), state.kid, datetime.fromtimestamp(state.expires - GRACE_MAX_S, timezone.utc)


def kid_of(elicitation: AnyElicitation) -> int:
    """Of the key that has sealed its link."""
    url = elicitation.approval_url if isinstance(elicitation, ApprovalElicitation) else None
    link = decode_base64(parse_qs(urlsplit(url or elicitation.url or "").query)["state"][0])
    assert link is not None
    return link[1]
