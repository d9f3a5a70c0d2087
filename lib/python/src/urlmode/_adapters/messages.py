"""The results that a user, or the model that talks to the user, reads."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any, Literal

from .._core.callback_urls import AnyElicitation
from .._core.form_types import ApprovalElicitation, Approver
from .._core.money_types import Expected
from .._core.price import format_price
from .._core.types import Kind, OpenStatus, Outcome
from .contract_messages import (
    CANCELLED,
    INPUT_PROGRESS,
    LINK_SENT,
    LINK_TO_PASS_ON,
    NOBODY_YET,
    NOT_OPENED,
    OPEN,
    OPENED_BY_NOBODY,
    PROGRESS,
    REASONS,
    REFUSED,
    TASKS,
    approvers_text,
    comment_text,
    declined_text,
    detail_text,
    failure_text,
    link_text,
    manage_text,
    not_opened_text,
    open_text,
    other_approver_text,
)

ToolResult = dict[str, Any]
"""The result of a tool call as it is sent to the client."""


def progress_message(kind: Kind, status: str) -> str:
    """Sent as progress while a call waits."""
    return (kind == "input" and INPUT_PROGRESS.get(status)) or PROGRESS[status]


def text_result(text: str, *, is_error: bool = False) -> ToolResult:
    return {"content": [{"type": "text", "text": text}], **({"isError": True} if is_error else {})}


def link_result(
    message: str, kind: Kind, expected: Expected | Literal["any"] | None, name: str, elicitation: AnyElicitation, status: OpenStatus,
    reason: str | None = None,
) -> ToolResult:  # fmt: skip
    """Ends a call whose elicitation is open. `reason`: why the client did not open it, if it was asked. The link stands alone on its line, so that a model passes it on as it is."""
    price = f" {format_price(expected)}" if isinstance(expected, Expected) and expected.amount is not None else ""
    opened = f" {OPEN[status]}" if status == "opened" else ""
    left = _duration(elicitation.expires_at.timestamp() - time.time())
    said = not_opened_text(message, NOT_OPENED[reason]) if reason else message
    text = link_text(said, TASKS[kind], price, name, elicitation.url or "", left, opened)
    described: dict[str, Any] = {
        "elicitationId": elicitation.elicitation_id, "status": status, "kind": kind, "message": message, "url": elicitation.url,
        "expiresAt": _iso(elicitation.expires_at),
    }  # fmt: skip
    if reason:
        described["reason"] = reason
    if isinstance(expected, Expected):
        described["expected"] = expected.members()
    return {**text_result(text), "structuredContent": {"elicitation": described}}


def approvers_result(
    message: str, approver: Approver, is_sent: bool, name: str, elicitation: AnyElicitation, status: OpenStatus
) -> ToolResult:
    """Ends a call that waits for a decision of somebody else. The link is for them."""
    assert isinstance(elicitation, ApprovalElicitation)
    who = other_approver_text(name) if approver == "others" else " or ".join(approver)
    text = approvers_text(
        message, who, LINK_SENT if is_sent else LINK_TO_PASS_ON, name, elicitation.approval_url or "",
        _duration(elicitation.expires_at.timestamp() - time.time()), OPENED_BY_NOBODY if status == "opened" else NOBODY_YET,
    )  # fmt: skip
    described = {
        "elicitationId": elicitation.elicitation_id, "status": status, "kind": "approval", "message": message,
        "approver": approver if isinstance(approver, str) else list(approver), "approvalUrl": elicitation.approval_url,
        "expiresAt": _iso(elicitation.expires_at),
    }  # fmt: skip
    return {**text_result(text), "structuredContent": {"elicitation": described}}


def open_result(message: str, kind: Kind, elicitation_id: str, status: str) -> ToolResult:
    """Says that the call has ended, and that what the user has begun has not."""
    verifying = kind == "input" and status == "processing"
    text = open_text(message, INPUT_PROGRESS[status] if verifying else OPEN[status])
    described = {"elicitationId": elicitation_id, "status": status, "kind": kind, "message": message}
    return {**text_result(text), "structuredContent": {"elicitation": described}}


def declined_result(outcome: Outcome) -> ToolResult:
    """Of an approval that was refused."""
    comment = comment_text(outcome.comment) if outcome.comment else ""
    return text_result(declined_text(str(outcome.approver), comment), is_error=True)


def failure_result(action: str, reason: str, detail: str | None = None) -> ToolResult:
    """`detail` is without a secret."""
    why = REASONS.get(reason, reason) or (REFUSED if action == "decline" else CANCELLED)
    return text_result(failure_text(why, detail_text(detail) if detail else ""), is_error=True)


def manage_result(message: str, reason: str, url: str) -> ToolResult:
    """Ends a call of a user whose subscription has a problem. The link stands alone on its line."""
    return text_result(manage_text(message, REASONS[reason], url), is_error=True)


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _duration(seconds: float) -> str:
    minutes = max(1, int(seconds / 60 + 0.5))
    for unit, length in (("day", 1440), ("hour", 60)):
        if minutes >= 2 * length:
            return f"{minutes // length} {unit}s"
    return "one minute" if minutes == 1 else f"{minutes} minutes"
