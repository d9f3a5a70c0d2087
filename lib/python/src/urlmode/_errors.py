"""The exceptions of this package.

Mistakes in a call are TypeErrors and ValueErrors that name the argument. Errors of PostgreSQL
pass through as psycopg raises them, without the details that quote a row. No error contains a key,
a token, a result or a password.
"""

from __future__ import annotations

from typing import ClassVar

from ._types import UnclaimedReference


class UrlModeError(Exception):
    """The base of the other classes."""

    code: ClassVar[str] = "URLMODE"
    """Does not change between versions. The message may."""


class ElicitationTimeoutError(UrlModeError, TimeoutError):
    """`timeout` passed before the elicitation was completed. It stays open: wait again, or cancel it."""

    code = "ELICITATION_TIMEOUT"

    def __init__(self, elicitation_id: str, timeout: float, status: str) -> None:
        when = "is not completed yet" if timeout == 0 else f"was not completed within {timeout:g} s"
        super().__init__(f"elicitation {elicitation_id} {when}")
        self.status = status
        """The last status that the wait has seen: pending, opened or processing."""


class ElicitationNotFoundError(UrlModeError):
    """The elicitation does not exist, or belongs to another subject or session."""

    code = "ELICITATION_NOT_FOUND"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(f"elicitation {elicitation_id} does not exist for this subject and session")


class ElicitationExistsError(UrlModeError):
    """`create` was called with an id that is in use."""

    code = "ELICITATION_EXISTS"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(f"elicitation {elicitation_id} already exists: choose another id")


class ElicitationLimitError(UrlModeError):
    """This owner has as many open elicitations as one may have, and has opened all of them."""

    code = "ELICITATION_LIMIT"

    def __init__(self) -> None:
        super().__init__("this subject has too many open elicitations: it must finish or leave some of them first")


class ElicitationOpenError(UrlModeError):
    """The elicitation that was to be claimed is not completed, perhaps again after a failover: wait for it."""

    code = "ELICITATION_OPEN"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(
            f"elicitation {elicitation_id} is open, perhaps again after a failover: wait for it before you claim it"
        )


class ElicitationMismatchError(UrlModeError):
    """The payment that `complete` or `recheck` reports is not what the elicitation expects. Nothing was changed."""

    code = "ELICITATION_MISMATCH"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(
            f"the amount or the currency of the payment is not what elicitation {elicitation_id} expects"
        )


class ElicitationReferenceError(UrlModeError):
    """The payment that `complete` or `recheck` reports has paid for another elicitation. Nothing was changed."""

    code = "ELICITATION_REFERENCE"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(f"the payment of this reference has paid for another elicitation than {elicitation_id}")


class ElicitationSealError(UrlModeError):
    """A sealed value cannot be opened: its key is not in the keys file, or it was changed."""

    code = "ELICITATION_SEAL"

    def __init__(self, elicitation_id: str, reason: str) -> None:
        super().__init__(f"the sealed data of elicitation {elicitation_id} cannot be opened: {reason}")


class ElicitationClientGoneError(UrlModeError):
    """The MCP client of an adapter's call has closed its session or connection."""

    code = "ELICITATION_CLIENT_GONE"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(f"the MCP client of elicitation {elicitation_id} has closed its session or connection")


class ClaimLostError(UrlModeError):
    """Another call may have begun to claim the same outcome, because the lease of this one has ended."""

    code = "CLAIM_LOST"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(
            f"the lease of this claim of elicitation {elicitation_id} has ended: another call may have begun"
        )


class ProviderUnavailableError(UrlModeError):
    """The metadata of a provider, which are needed to connect an account, cannot be read."""

    code = "PROVIDER_UNAVAILABLE"

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"the metadata of {provider} cannot be read: {reason}")


class AccountNotConnectedError(UrlModeError):
    """The user has connected no account at this provider, or not this one."""

    code = "ACCOUNT_NOT_CONNECTED"

    def __init__(self, provider: str) -> None:
        super().__init__(f"no account is connected at {provider}")


class AccountReconnectError(UrlModeError):
    """The account must be connected again by its user."""

    code = "ACCOUNT_RECONNECT"

    def __init__(self, provider: str, account: str, reason: str) -> None:
        super().__init__(f"the account at {provider} must be connected again: {reason}")
        self.account = account
        self.reason = reason
        """`invalid_grant`, `expired` (there is no refresh token), `refresh_lost` (two answers did not arrive) or
        `not_stored` (the provider has replaced the refresh token, and what it gave cannot be stored)."""


class AccountUnavailableError(UrlModeError):
    """The access token has expired, and the provider cannot refresh it just now."""

    code = "ACCOUNT_UNAVAILABLE"

    def __init__(self, provider: str, detail: str) -> None:
        super().__init__(f"the token at {provider} cannot be refreshed just now: {detail}")
        self.detail = detail


class AccountSealError(UrlModeError):
    """The tokens of an account cannot be opened."""

    code = "ACCOUNT_SEAL"

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"the tokens of an account at {provider} cannot be opened: {reason}")
        self.reason = reason


class AccountSizeError(UrlModeError):
    """The provider has answered with more than can be kept of an account."""

    code = "ACCOUNT_SIZE"

    def __init__(self, provider: str) -> None:
        super().__init__(f"what {provider} has answered is too large to be kept")


class UnclaimedPaymentsError(UrlModeError):
    """A user cannot be forgotten while payments are unclaimed. Nothing was deleted."""

    code = "UNCLAIMED_PAYMENTS"

    def __init__(self, payments: list[UnclaimedReference]) -> None:
        super().__init__(f"{len(payments)} payments of this user are unclaimed: claim or refund them first")
        self.payments = payments


class RequestStateError(UrlModeError):
    """The request state of a call was changed, has expired, or belongs to another user or request."""

    code = "REQUEST_STATE"

    def __init__(self, reason: str) -> None:
        what = "has expired" if reason == "expired_request_state" else "does not belong to this call"
        super().__init__(
            f"The requestState {what}. Call the tool again without requestState and inputResponses: "
            "that goes on with what the user has begun, or asks again."
        )
        self.reason = reason
        """`invalid_request_state` or `expired_request_state`."""


class UrlModeBusyError(UrlModeError):
    """PostgreSQL is too slow for the number of calls. This call has changed nothing: it can be made again later."""

    code = "URLMODE_BUSY"

    def __init__(self, why: str) -> None:
        super().__init__(f"PostgreSQL answers too slowly: {why}. Nothing was changed")


class UrlModeClosedError(UrlModeError):
    """`aclose` was called."""

    code = "URLMODE_CLOSED"

    def __init__(self) -> None:
        super().__init__("this UrlMode is closed")


class KeysFileError(UrlModeError):
    """The keys file is not acceptable. The message contains its name and the reason."""

    code = "URLMODE_KEYS_FILE"


class StateTokenError(UrlModeError):
    """A state token is not valid, or has expired."""

    code = "STATE_INVALID"

    def __init__(self, *, expired: bool = False) -> None:
        super().__init__("the state token has expired" if expired else "the state token is not valid")
        self.expired = expired
