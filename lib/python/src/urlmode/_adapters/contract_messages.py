"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

REASONS = {
    "refused": "the user refused",
    "access_denied": "the user refused",
    "cancelled": "the user cancelled",
    "expired": "nobody completed it in time",
    "superseded": "a newer request replaced it",
    "claimed": "another call has already used the outcome",
    "refunded": "the payment was refunded",
    "held": (
        "it was paid, but another amount than was asked for, or a part of it may have gone back. The user "
        "need not pay again: the operator of this service decides about it, and then this tool can be "
        "called again with the same arguments"
    ),
    "refused_input": "what the user typed was not accepted five times",
    "not_checked": "what the user typed could not be verified ten times",
    "payment_failed": "the payment failed",
    "past_due": "the last payment of the subscription has failed or is missing",
    "paused": "the subscription is paused",
    "amount_mismatch": "the amount paid differs from the price",
    "provider_error": "the provider reported an error",
    "issuer_missing": "the response did not say which provider it is from",
    "issuer_mismatch": "the response is from another provider",
    "exchange_refused": "the provider did not grant access",
    "exchange_failed": "the provider could not be asked for access",
    "scope_missing": "not everything was granted that is needed",
    "other_account": (
        "another account was connected than the one that is needed. It is kept as well. The user can "
        "connect the right one: call this tool again with the same arguments"
    ),
}

PROGRESS = {
    "pending": "Waiting for the user to open the page.",
    "opened": "The page is open in the browser.",
    "attempt_failed": "An attempt to pay has failed. The user can try again.",
    "processing": "The provider is working on it.",
}

INPUT_PROGRESS = {
    "attempt_failed": "What the user typed was not accepted. The user can try again.",
    "processing": "What the user typed is being verified.",
}

TASKS = {
    "oauth": "connect the account",
    "payment": "pay",
    "signature": "sign",
    "input": "fill in the form",
    "approval": "decide",
}

NOT_OPENED = {
    "client_declined": "it declined",
    "client_dismissed": "it dismissed the request",
    "client_failed": "it failed, or has not answered yet",
}

OPEN = {
    "pending": "The link is no longer valid, and nobody has opened it.",
    "opened": "It is not finished yet: the user has opened the page and can still finish there.",
    "processing": "The provider is still working on it.",
    "claimed": "Another call of this tool is working on it.",
}


def other_approver_text(name: str) -> str:
    return f"somebody else who can sign in at {name}"

REFUSED = "the user refused"

CANCELLED = "it was cancelled"

NOBODY_YET = "Nobody"

OPENED_BY_NOBODY = "It was opened, and nobody"

LINK_SENT = ", who has been sent this link"

LINK_TO_PASS_ON = ". Show the user this link to pass on"


def link_text(message: str, task: str, price: str, name: str, url: str, time: str, opened: str) -> str:
    return (
        f"{message}\n\n"
        f"To {task}{price}, the user opens this link in a browser, which is a page of {name}:\n\n"
        f"{url}\n\n"
        f"The link works for {time}.{opened}\n\n"
        "Show the user the link exactly as it is, alone on its line. When the user says that it is done, "
        "call this tool again with the same arguments: that continues this request, and asks for nothing "
        "that is done."
    )


def not_opened_text(message: str, why: str) -> str:
    return (
        f"{message}\n\n"
        f"The client did not open it: {why}. If the user refused, stop, and do not call this tool again "
        "for it. Otherwise show the user the link."
    )


def manage_text(message: str, why: str, url: str) -> str:
    return (
        f"{message}\n\n"
        f"The user has a subscription for this, but {why}. The user opens this link in a browser to settle "
        "it:\n\n"
        f"{url}\n\n"
        "Show the user the link exactly as it is, alone on its line. The user need not subscribe again. "
        "When the user says that it is done, call this tool again with the same arguments."
    )


def approvers_text(message: str, who: str, sent: str, name: str, url: str, time: str, nobody: str) -> str:
    return (
        f"{message}\n\n"
        f"The decision is for {who}{sent}, which is a page of {name}:\n\n"
        f"{url}\n\n"
        f"The link works for {time}. {nobody} has decided yet. To learn the decision, call this tool again "
        "with the same arguments later: that continues this request, and asks nobody again."
    )


def open_text(message: str, state: str) -> str:
    return (
        f"{message}\n\n"
        f"{state} It goes on without this call. To learn how it ends, call this tool again with the same "
        "arguments later: that continues the same request and does not start another one."
    )


def comment_text(comment: str) -> str:
    return f": “{comment}”"


def declined_text(approver: str, comment: str) -> str:
    return f"Not done: {approver} declined{comment}."


def detail_text(detail: str) -> str:
    return f" ({detail})"


def failure_text(why: str, detail: str) -> str:
    return f"Not done: {why}{detail}."
