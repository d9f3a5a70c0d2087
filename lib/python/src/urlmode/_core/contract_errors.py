"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

from .error import UrlModeError


class ElicitationClientGoneError(UrlModeError):
    """The MCP client has closed its session or connection. The elicitation stays open, and the next call goes on
    with it.
    """

    code = "ELICITATION_CLIENT_GONE"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(f"the MCP client of elicitation {elicitation_id} has closed its session or connection")


class ElicitationNotFoundError(UrlModeError):
    """The elicitation does not exist, or belongs to another subject or session."""

    code = "ELICITATION_NOT_FOUND"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(f"elicitation {elicitation_id} does not exist for this subject and session")


class ElicitationOpenError(UrlModeError):
    """The elicitation that was to be claimed is not completed. If it was before, a failover of PostgreSQL has lost
    that: wait for it again.
    """

    code = "ELICITATION_OPEN"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(
            f"elicitation {elicitation_id} is open, perhaps again after a failover: wait for it before you "
            "claim it"
        )


class ClaimLostError(UrlModeError):
    """The lease of this claim has ended, and another call may have begun to claim the same outcome."""

    code = "CLAIM_LOST"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(f"the lease of this claim of elicitation {elicitation_id} has ended: another call may have begun")


class ClaimRefundedError(UrlModeError):
    """All that was paid went back, or is disputed, while a call was doing the work that it had paid for. The call
    can stop, or go on.
    """

    code = "CLAIM_REFUNDED"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(f"all that was paid for elicitation {elicitation_id} went back while a call was working for it")


class ElicitationLimitError(UrlModeError):
    """This owner has as many open elicitations as one may have, and has opened all of them."""

    code = "ELICITATION_LIMIT"

    def __init__(self) -> None:
        super().__init__("this subject has too many open elicitations: it must finish or leave some of them first")


class ElicitationSubscribedError(UrlModeError):
    """The first payment of a subscription was to be asked for, and the user has one for this item that is not
    over: also one that is past due or paused, which can be settled.
    """

    code = "ELICITATION_SUBSCRIBED"

    def __init__(self, item: str) -> None:
        super().__init__(f"this subject has a subscription for {item} that is not over: its entitlement says how it stands")


class ElicitationExistsError(UrlModeError):
    """An elicitation was to be created with an id that is in use."""

    code = "ELICITATION_EXISTS"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(f"elicitation {elicitation_id} already exists: choose another id")


class ElicitationMismatchError(UrlModeError):
    """The payment that the server reports is not what the elicitation expects. Nothing was changed."""

    code = "ELICITATION_MISMATCH"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(f"the amount or the currency of the payment is not what elicitation {elicitation_id} expects")


class ElicitationReferenceError(UrlModeError):
    """The payment that the server reports has paid for another elicitation. Nothing was changed."""

    code = "ELICITATION_REFERENCE"

    def __init__(self, elicitation_id: str) -> None:
        super().__init__(f"the payment of this reference has paid for another elicitation than {elicitation_id}")


class ElicitationSealError(UrlModeError):
    """A sealed value cannot be opened: its key is not in the keys file, or it was changed."""

    code = "ELICITATION_SEAL"

    def __init__(self, elicitation_id: str, reason: str) -> None:
        super().__init__(f"the sealed data of elicitation {elicitation_id} cannot be opened: {reason}")


class UrlModeBusyError(UrlModeError):
    """PostgreSQL is too slow for the number of calls. This call has changed nothing: it can be made again later."""

    code = "URLMODE_BUSY"

    def __init__(self, why: str) -> None:
        super().__init__(f"PostgreSQL answers too slowly: {why}. Nothing was changed")


class UrlModeClosedError(UrlModeError):
    """The instance was closed."""

    code = "URLMODE_CLOSED"

    def __init__(self) -> None:
        super().__init__("this UrlMode is closed")


class KeysFileError(UrlModeError):
    """The keys file is not acceptable. The message contains its name and the reason."""

    code = "URLMODE_KEYS_FILE"

    def __init__(self, message: str) -> None:
        super().__init__(message)


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
        """The provider's code, or one of four. `expired`: there is no refresh token. `refused`: the provider's API
        has refused a token that is new, or that cannot be refreshed. `refresh_lost`: two answers did not
        arrive. `not_stored`: the provider has replaced the refresh token, and what it gave is too large or has
        a value that PostgreSQL does not take.
        """


class AccountUnavailableError(UrlModeError):
    """The access token has expired or was refused, and the provider cannot refresh it just now."""

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
