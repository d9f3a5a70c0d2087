"""The public types of elicitations; those of money are in money_types."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Union

from .contract_words import (
    Action as Action,
    EventType as EventType,
    Kind as Kind,
    OpenStatus as OpenStatus,
    Progress as Progress,
    PurgeKind as PurgeKind,
    TargetKind as TargetKind,
)
from .form_types import Values
from .money_types import Entries, Expected, Payment, Refund

Duration = Union[float, timedelta]
"""Seconds, or a timedelta."""
Id = Union[str, uuid.UUID]
Names = Union[list[str], tuple[str, ...]]
"""Not a text by itself, although that is a sequence of texts."""


@dataclass(frozen=True, kw_only=True)
class CallbackUrls:
    """The URLs that a target URL may contain."""

    elicitation_id: str
    return_url: str
    """where the provider sends the browser: the redirect URI or the success URL"""
    cancel_url: str | None = None
    """where the provider sends the browser of a user who does not pay; None for kind oauth"""
    webhook_url: str | None = None
    """where a provider that signs nothing sends its events; None for kind oauth"""


@dataclass(frozen=True, kw_only=True)
class TargetArguments(CallbackUrls):
    amount: int | str | None = None
    """The price as the provider writes it: a whole number in its own units, or decimal text. None if it is `any`, or
    if no description of the provider's name is shipped"""


@dataclass(frozen=True)
class Target:
    """The address at which the user pays, and the provider's id of the checkout: only a payment of this one counts."""

    url: str
    """where the user pays"""
    checkout: str
    """the provider's id of the checkout"""


WebUrl = Union[str, Callable[[TargetArguments], Union[str, Awaitable[str]]]]
"""A page of the provider, or what makes its address."""
TargetUrl = Union[str, Target, Callable[[TargetArguments], Union[str, Target, Awaitable[Union[str, Target]]]]]


@dataclass(frozen=True, kw_only=True)
class Elicitation(CallbackUrls):
    url: str
    """the URL to elicit"""
    expires_at: datetime
    resumed: bool = False
    """whether it existed before, see `resume_key`"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    elicitation_id: str
    action: Action
    reason: str = ""
    """empty after a plain accept"""
    result: dict[str, Any] | None = field(default=None, repr=False)
    late: bool = False
    """The elicitation had ended otherwise when the payment was proved."""
    interrupted: OpenStatus | None = None
    """After `cancel` of an elicitation that a user had opened: the status that it has interrupted."""
    reference: str | None = None
    """After a payment: the provider's reference, with which `claim` takes this payment."""
    amount: int | None = None
    """How much was paid, in minor units. Of what was paid there are `reference`, `amount` and `currency`."""
    currency: str | None = None
    tax: int | None = None
    """How much of it is tax, if the provider's event has said it."""
    expected: Expected | Literal["any"] | None = None
    """Of a payment: the price that was asked."""
    refunded: bool = False
    """The payment has gone back; no call can claim it any more."""
    refunded_amount: int = 0
    """How much of the payment went back, in minor units."""
    code_verifier: str | None = field(default=None, repr=False)
    """After an accept, if `pkce` was true."""
    nonce: str | None = field(default=None, repr=False)
    """After an accept, if `pkce` added one."""
    values: Values | None = field(default=None, repr=False)
    """After the accept of an input: what the user has typed, by the names of the fields."""
    approver: str | None = None
    """Who has decided about an approval."""
    comment: str | None = None
    """What the approver has written, if something."""
    decided_at: datetime | None = None
    signed_in_at: datetime | None = None
    """With `step_up`: when the approver has signed in for it."""
    signed_in_by: str | None = None
    """How, in the words of the OpenID provider: its `amr`, separated by spaces, or its `acr`."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """How an elicitation has ended, as this server has learned it in another way than from the callback programs."""

    action: Action
    """accept: it came through; decline: the user does not want it; cancel: it ended without a decision"""
    reason: str = ""
    """a code of at most 64 characters of a-z, 0-9 and _"""
    result: Mapping[str, Any] | None = None
    """at most 65,506 bytes as JSON"""
    amount: int | None = None
    """the amount that was paid, in minor units; required to accept a payment, as are the two others"""
    currency: str | None = None
    """ISO 4217"""
    reference: str | None = None
    """the provider's reference of the payment"""


@dataclass(frozen=True, kw_only=True)
class Recheck:
    """An event that proves nothing. Its sender chose the references."""

    elicitation_id: str
    provider: str
    type: str | None
    reference: str | None
    """the last of the references"""
    references: list[str]
    expected: Expected | Literal["any"] | None
    checkout: str | None = None
    """the provider's id of the checkout that `target_url` has returned"""


RecheckAnswer = Union[Entries, Answer, None]
"""An Answer is one outcome, and of a payment one that is exactly paid."""
RecheckFunction = Callable[[Recheck], Union[RecheckAnswer, Awaitable[RecheckAnswer]]]
ProgressFunction = Callable[[Progress], Any]


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that has happened, for an audit log: without a URL, a token, a result or a verifier."""

    type: EventType
    """`late`: a payment was proved after the end of its elicitation. `refunded`: money went back, or came again"""
    elicitation_id: str
    provider: str
    subject: str | None
    """None: the user was forgotten"""
    session: str | None
    kind: Kind | None = None
    expires_at: datetime | None = None
    """of `created`"""
    action: Action | None = None
    """of `completed`, as is reason"""
    reason: str = ""
    payment: Payment | None = None
    """of `late`"""
    refund: Refund | None = None
    """of `refunded`"""


EventFunction = Callable[[Event], Any]


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """A cookie that says who the user of the browser is."""

    name: str
    value: str = field(repr=False)
    header: str = field(repr=False)
    """the value of a Set-Cookie header"""


@dataclass(frozen=True, kw_only=True)
class ClientFacts:
    """Facts about an MCP client that it does not declare."""

    name: str
    """of the client, as it says in `clientInfo`"""
    from_version: str | None = None
    """the first version of which this is known; all by default"""
    before_version: str | None = None
    """the first version of which it is not true any more"""
    url: bool | None = None
    """whether it can send its user to a URL, where it declares something else"""
    round: float | None = None
    """seconds that a call of it may wait, instead of 45"""
    rounds: int | None = None
    """how often it takes an answer with a state and no request, and calls again (protocol revision 2026-07-28)"""
    ask: Literal["request", "error", "text"] | None = None
    """the way that works with it, before the option `ask` of a call: a request, or a result that requires input; the error
    -32042 alone, which protocol revision 2026-07-28 has not; or the link as text, whatever it declares"""
