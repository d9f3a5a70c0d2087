"""How a call says that an account is not connected, and why."""

from __future__ import annotations

import re

from .._core import contract_texts as texts
from .._core.log import warn
from .._core.types import Outcome
from .token_response import CODE


class NotConnected(Exception):
    """The code was not exchanged: no error of the call, but its result. `detail` has no secret."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


def authorization_detail(outcome: Outcome) -> str | None:
    """What the provider has said instead of a code (RFC 6749 section 4.1.2.1). Its words come by the browser, so that
    only codes are repeated."""
    members = outcome.result or {}
    error, description = members.get("error"), members.get("error_description")
    if outcome.reason != "provider_error" or not isinstance(error, str) or not CODE.fullmatch(error):
        return None
    demands_pkce = isinstance(description, str) and re.search("code.?challenge|pkce", description, re.IGNORECASE)
    return f"{error}, about PKCE" if demands_pkce else error


def warn_not_connected(provider: str, elicitation_id: str, reason: str, detail: str) -> None:
    """For the operator: the result of the call says less."""
    warn("URLMODE_ACCOUNT", texts.no_account(provider, reason, detail, elicitation_id))
