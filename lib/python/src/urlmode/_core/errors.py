"""The exceptions of this package.

Mistakes in a call are TypeErrors and ValueErrors that name the argument. Errors of PostgreSQL
pass through as psycopg raises them, without the details that quote a row. No error contains a key,
a token, a result or a password.
"""

from __future__ import annotations

import psycopg

from . import contract_texts as texts
from .contract_errors import *  # noqa: F403
from .error import UrlModeError as UrlModeError
from .money_types import UnclaimedReference


class ElicitationTimeoutError(UrlModeError, TimeoutError):
    """`timeout` passed before the elicitation was completed. It stays open: wait again, or cancel it."""

    code = "ELICITATION_TIMEOUT"

    def __init__(self, elicitation_id: str, timeout: float, status: str) -> None:
        super().__init__(
            texts.open_still(elicitation_id) if timeout == 0 else texts.timed_out(elicitation_id, f"within {timeout:g} s")
        )
        self.status = status
        """The last status that the wait has seen: pending, opened or processing."""


class UrlModeUnavailableError(UrlModeError, psycopg.OperationalError):
    """PostgreSQL did not answer in time. The message says whether the call may have been carried out."""

    code = "URLMODE_UNAVAILABLE"

    def __init__(self, why: str) -> None:
        super().__init__(texts.unavailable(why))


class UnclaimedPaymentsError(UrlModeError):
    """A user cannot be forgotten while payments are unclaimed. Nothing was deleted."""

    code = "UNCLAIMED_PAYMENTS"

    def __init__(self, payments: list[UnclaimedReference]) -> None:
        super().__init__(texts.unclaimed_payments(len(payments)))
        self.payments = payments


class TokenRefusedError(UrlModeError):
    """The provider's API has refused the access token, as with status 401. The body of `use_account` raises it."""

    code = "TOKEN_REFUSED"

    def __init__(self) -> None:
        super().__init__(texts.TOKEN_REFUSED)


class RequestStateError(UrlModeError):
    """The request state of a call was changed, has expired, or belongs to another user or request."""

    code = "REQUEST_STATE"

    def __init__(self, reason: str) -> None:
        super().__init__(
            texts.request_state(
                texts.REQUEST_STATE_EXPIRED if reason == "expired_request_state" else texts.REQUEST_STATE_FOREIGN
            )
        )
        self.reason = reason
        """`invalid_request_state` or `expired_request_state`."""


class StateTokenError(UrlModeError):
    """A state token is not valid, or has expired."""

    code = "STATE_INVALID"

    def __init__(self, *, expired: bool = False) -> None:
        super().__init__(texts.STATE_EXPIRED if expired else texts.STATE_NOT_VALID)
        self.expired = expired
