"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

from typing import Literal

Kind = Literal["oauth", "payment", "signature", "input", "approval"]
"""What the user does in the browser. `input` and `approval` are on pages of the callback programs."""

TargetKind = Literal["oauth", "payment", "signature"]
"""A kind with a page of the provider."""

TARGET_KINDS: tuple[TargetKind, ...] = ("oauth", "payment", "signature")

FormKind = Literal["input", "approval"]
"""A kind with a page of the callback programs."""

FORM_KINDS: tuple[FormKind, ...] = ("input", "approval")

Action = Literal["accept", "decline", "cancel"]
"""One of the three actions of the protocol."""

ACTIONS: tuple[Action, ...] = ("accept", "decline", "cancel")

EndAction = Literal["decline", "cancel"]
"""An action without an outcome."""

END_ACTIONS: tuple[EndAction, ...] = ("decline", "cancel")

AbandonOutcome = Literal["completed", "already", "opened", "processing"]
"""What `abandon` has done, or the status in which the elicitation stays."""

OpenStatus = Literal["pending", "opened", "processing"]
"""The status of an elicitation that is not completed. They are in their order."""

OPEN_STATUSES: tuple[OpenStatus, ...] = ("pending", "opened", "processing")

Progress = Literal["opened", "processing", "attempt_failed"]
"""What a wait hears of. `attempt_failed`: an attempt to pay has failed, or what was typed was not accepted, and
the user can try again."""

EventType = Literal["created", "opened", "processing", "completed", "late", "refunded"]
"""What has happened, in the words of the audit log. `late`: a payment was proved after the end of its elicitation.
`refunded`: money went back, or came again."""

WAIT_ENDS: tuple[str, ...] = ("accept", "decline", "cancel", "timeout", "aborted", "closed", "error")
"""Each is how a wait has ended, for the metrics."""

PurgeKind = Literal["oauth", "payment", "signature", "input", "approval", "result", "stored"]
"""What a purge deletes. `result`: the results that are due. `stored`: expired values that adapters have stored."""

PURGE_KINDS: tuple[PurgeKind, ...] = ("oauth", "payment", "signature", "input", "approval", "result", "stored")

EntryStatus = Literal["paid", "processing", "failed", "cancelled"]
"""The status of a payment or refund at its provider."""

ENTRY_STATUSES: tuple[EntryStatus, ...] = ("paid", "processing", "failed", "cancelled")

EntitlementStatus = Literal["trialing", "active", "cancelled", "past_due", "ended"]
"""What a subscription is. The first three may be used. One that is cancelled is not renewed."""

LedgerType = Literal[
    "paid",
    "mismatched",
    "late",
    "refunded",
    "refund_reversed",
    "disputed",
    "dispute_won",
    "dispute_lost",
    "held",
    "released",
    "voided",
    "claimed",
    "delivered",
]
"""What became of money."""

ClaimEnd = Literal["delivered", "refunded"]
"""How the claim of a payment ends that `unclaimed` lists."""

CLAIM_ENDS: tuple[ClaimEnd, ...] = ("delivered", "refunded")

Match = Literal["exact", "at-least", "checkout"]
"""How the amount that is paid must match. `exact`, which is the default; `at-least`, with a tax on top or a tip;
`checkout`: whatever the checkout totals that the target has named, also 0."""

MATCHES: tuple[Match, ...] = ("exact", "at-least", "checkout")

REFUSAL_CLASSES: tuple[str, ...] = ("42", "3F", "54")
"""Each is a class of SQLSTATEs with which the server refuses what it would refuse again: a privilege or a
migration is missing, or a limit is reached."""

ELEMENT_CLASSES: tuple[str, ...] = ("22", "23", "P0", "40", "55P03", "57014")
"""Each is how a SQLSTATE begins with which the server refuses a statement for the sake of one of its elements, or
of another transaction: data, constraints, RAISE, deadlocks, locks that take too long. Nothing of the statement
has happened then."""

UNLISTENABLE_CLASSES: tuple[str, ...] = ("0A", "42")
"""Each is a class of SQLSTATEs with which a server answers LISTEN that does not support it."""

UNSTORABLE_CLASSES: tuple[str, ...] = ("22", "23", "54")
"""Each is a class of SQLSTATEs of a value that is larger than a row takes."""

LASTING_CLASSES: tuple[str, ...] = ("22", "23", "42", "3F")
"""Each is a class of SQLSTATEs that speak of the statement or of its data, and would be said again: data,
constraints, syntax and rights, a missing schema."""

TAKEN_PARAMETERS: tuple[str, ...] = (
    "client_id",
    "client_secret",
    "code_challenge",
    "code_challenge_method",
    "nonce",
    "redirect_uri",
    "response_mode",
    "response_type",
    "scope",
    "state",
)
"""Each is a parameter of the authorization request that comes from elsewhere."""
