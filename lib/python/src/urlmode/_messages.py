"""The results that a user, or the model that talks to the user, reads. A test compares them with those of
lib/node/src/adapters/messages.js."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any, Literal

from ._callback_urls import Asked
from ._form_types import ApprovalElicitation, Approver
from ._price import format_price
from ._types import Expected, Kind, OpenStatus, Outcome

ToolResult = dict[str, Any]
"""The result of a tool call as it is sent to the client."""

REASON_TEXTS = {
    "refused": "the user refused",
    "access_denied": "the user refused",
    "cancelled": "the user cancelled",
    "dismissed": "the user dismissed the request",
    "expired": "nobody completed it in time",
    "superseded": "a newer request replaced it",
    "claimed": "another call has already used the outcome",
    "refunded": "the payment was refunded",
    "held": "it was paid, and a part of it may have gone back. The user need not pay again: the operator of this service "
    "decides about it, and then this tool can be called again with the same arguments",
    "refused_input": "what the user typed was not accepted five times",
    "not_checked": "what the user typed could not be verified ten times",
    "payment_failed": "the payment failed",
    "amount_mismatch": "the amount paid differs from the price",
    "provider_error": "the provider reported an error",
    "issuer_missing": "the response did not say which provider it is from",
    "issuer_mismatch": "the response is from another provider",
    "exchange_refused": "the provider did not grant access",
    "exchange_failed": "the provider could not be asked for access",
    "scope_missing": "not everything was granted that is needed",
    "other_account": "another account was connected than the one that is needed. It is kept as well. The user can connect the "
    "right one: call this tool again with the same arguments",
}

_PROGRESS_MESSAGES = {
    "pending": "Waiting for the user to open the page.",
    "opened": "The page is open in the browser.",
    "attempt_failed": "An attempt to pay has failed. The user can try again.",
    "processing": "The provider is working on it.",
}

_INPUT_MESSAGES = {
    "attempt_failed": "What the user typed was not accepted. The user can try again.",
    "processing": "What the user typed is being verified.",
}

_TASKS = {
    "oauth": "connect the account",
    "payment": "pay",
    "signature": "sign",
    "input": "fill in the form",
    "approval": "decide",
}
_OPEN_TEXTS = {
    "pending": "The link is no longer valid, and nobody has opened it.",
    "opened": "It is not finished yet: the user has opened the page and can still finish there.",
    "processing": "The provider is still working on it.",
    "claimed": "Another call of this tool is working on it.",
}
_AGAIN = "call this tool again with the same arguments"


def progress_message(kind: Kind, status: str) -> str:
    """Sent as progress while a call waits."""
    return (kind == "input" and _INPUT_MESSAGES.get(status)) or _PROGRESS_MESSAGES[status]


def text_result(text: str, *, is_error: bool = False) -> ToolResult:
    return {"content": [{"type": "text", "text": text}], **({"isError": True} if is_error else {})}


def link_result(
    message: str, kind: Kind, expected: Expected | Literal["any"] | None, name: str, asked: Asked, status: OpenStatus
) -> ToolResult:
    """Ends a call whose elicitation is open. The link stands alone on its line, so that a model passes it on as it is."""
    price = f" {format_price(expected)}" if isinstance(expected, Expected) else ""
    opened = f" {_OPEN_TEXTS[status]}" if status == "opened" else ""
    text = (
        f"{message}\n\n"
        f"To {_TASKS[kind]}{price}, the user opens this link in a browser, which is a page of {name}:\n\n{asked.url}\n\n"
        f"The link works for {_duration(asked.expires_at.timestamp() - time.time())}.{opened}\n\n"
        "Show the user the link exactly as it is, alone on its line. When the user says that it is done, "
        f"{_AGAIN}: that continues this request, and asks for nothing that is done."
    )
    elicitation: dict[str, Any] = {
        "elicitationId": asked.elicitation_id, "status": status, "kind": kind, "message": message, "url": asked.url,
        "expiresAt": _iso(asked.expires_at),
    }  # fmt: skip
    if isinstance(expected, Expected):
        elicitation["expected"] = {"amount": expected.amount, "currency": expected.currency}
    return {**text_result(text), "structuredContent": {"elicitation": elicitation}}


def approvers_result(
    message: str, approver: Approver, is_sent: bool, name: str, asked: Asked, status: OpenStatus
) -> ToolResult:
    """Ends a call that waits for a decision of somebody else. The link is for them."""
    assert isinstance(asked, ApprovalElicitation)
    who = f"somebody else who can sign in at {name}" if approver == "others" else " or ".join(approver)
    sent = ", who has been sent this link" if is_sent else ". Show the user this link to pass on"
    text = (
        f"{message}\n\nThe decision is for {who}{sent}, which is a page of {name}:\n\n{asked.approval_url}\n\n"
        f"The link works for {_duration(asked.expires_at.timestamp() - time.time())}. "
        f"{'It was opened, and nobody' if status == 'opened' else 'Nobody'} has decided yet. "
        f"To learn the decision, {_AGAIN} later: that continues this request, and asks nobody again."
    )
    elicitation = {
        "elicitationId": asked.elicitation_id, "status": status, "kind": "approval", "message": message,
        "approver": approver if isinstance(approver, str) else list(approver), "approvalUrl": asked.approval_url,
        "expiresAt": _iso(asked.expires_at),
    }  # fmt: skip
    return {**text_result(text), "structuredContent": {"elicitation": elicitation}}


def open_result(message: str, kind: Kind, elicitation_id: str, status: str) -> ToolResult:
    """Says that the call has ended, and that what the user has begun has not."""
    verifying = kind == "input" and status == "processing"
    text = (
        f"{message}\n\n{_INPUT_MESSAGES[status] if verifying else _OPEN_TEXTS[status]} It goes on without this call. To learn how it ends, {_AGAIN} later: "
        "that continues the same request and does not start another one."
    )
    elicitation = {"elicitationId": elicitation_id, "status": status, "kind": kind, "message": message}
    return {**text_result(text), "structuredContent": {"elicitation": elicitation}}


def declined_result(outcome: Outcome) -> ToolResult:
    """Of an approval that was refused."""
    comment = f": “{outcome.comment}”" if outcome.comment else ""
    return text_result(f"Not done: {outcome.approver} declined{comment}.", is_error=True)


def failure_result(action: str, reason: str, detail: str | None = None) -> ToolResult:
    """`detail` is without a secret."""
    text = REASON_TEXTS.get(reason, reason) or ("the user refused" if action == "decline" else "it was cancelled")
    return text_result(f"Not done: {text}{f' ({detail})' if detail else ''}.", is_error=True)


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _duration(seconds: float) -> str:
    minutes = max(1, int(seconds / 60 + 0.5))
    for unit, length in (("day", 1440), ("hour", 60)):
        if minutes >= 2 * length:
            return f"{minutes // length} {unit}s"
    return "one minute" if minutes == 1 else f"{minutes} minutes"
