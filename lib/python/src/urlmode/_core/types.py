"""The public types."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, Union

from .contract_words import (
    Action as Action,
    EntitlementStatus as EntitlementStatus,
    EntryStatus as EntryStatus,
    Kind as Kind,
    LedgerType as LedgerType,
    Match as Match,
    OpenStatus as OpenStatus,
    Progress as Progress,
    PurgeKind as PurgeKind,
    TargetKind as TargetKind,
)
from .form_types import Values

Duration = Union[float, timedelta]
"""Seconds, or a timedelta."""
Id = Union[str, uuid.UUID]
Names = Union[list[str], tuple[str, ...]]
"""Not a text by itself, although that is a sequence of texts."""


@dataclass(frozen=True)
class Expected:
    """What must be paid."""

    amount: int | None = None
    """in the minor units of ISO 4217, for every provider. Only `checkout` needs none"""
    currency: str | None = None
    """ISO 4217"""
    match: Match = "exact"
    """`exact`; `at-least`: a tax or a tip may come on top; `checkout`: whatever the checkout totals that `target_url` has named"""

    def members(self) -> dict[str, Any]:
        """As the database has it."""
        price = {} if self.amount is None else {"amount": self.amount, "currency": self.currency}
        return price if self.match == "exact" else {**price, "match": self.match}


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


@dataclass(frozen=True, kw_only=True)
class PaymentEntry:
    """A payment in the provider's own record, which must name the elicitation or its checkout: otherwise it is not
    recorded."""

    reference: str
    """the provider's reference of the payment"""
    amount: int
    """in minor units"""
    currency: str
    """ISO 4217"""
    status: EntryStatus
    """paid, processing, failed or cancelled"""
    elicitation_id: str | None = None
    """that it is for, if the record says so"""
    checkout: str | None = None
    """the provider's id of the checkout"""


@dataclass(frozen=True, kw_only=True)
class RefundEntry:
    """A refund or a dispute. `status` is paid: it went back; processing: it is going back, which counts as much; failed or
    cancelled: it has come again."""

    reference: str
    """the provider's reference of the refund"""
    payment: str
    """that of its payment"""
    amount: int
    """in minor units"""
    status: EntryStatus
    currency: str | None = None
    """that of the payment by default"""
    elicitation_id: str | None = None
    """that it is for, if the record says so"""
    checkout: str | None = None
    """the provider's id of the checkout"""


@dataclass(frozen=True, kw_only=True)
class Entries:
    """What the provider has of an elicitation: `payments` and `refunds`, at most 100 of each."""

    payments: Sequence[PaymentEntry] = ()
    refunds: Sequence[RefundEntry] = ()


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What a provider has and what is here are not the same."""

    kind: Literal["payment", "refund"]
    reference: str
    """of the payment or of the refund"""
    payment: str
    """the reference of the payment"""
    elicitation_id: str
    here: Expected | None
    """what is here, in minor units"""
    there: Expected | None
    """what the provider has"""


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    missing_here: list[Difference]
    """the provider has it, for an elicitation of this database"""
    missing_there: list[Difference]
    """it is here, and not in the list"""
    differs: list[Difference]
    """amount, currency, or the elicitation that it is for"""


RecheckAnswer = Union[Entries, Answer, None]
"""An Answer is one outcome, and of a payment one that is exactly paid."""
RecheckFunction = Callable[[Recheck], Union[RecheckAnswer, Awaitable[RecheckAnswer]]]
ProgressFunction = Callable[[Progress], Any]


@dataclass(frozen=True, kw_only=True)
class Payment:
    """A payment that a provider has proved."""

    elicitation_id: str
    provider: str
    subject: str
    session: str
    reference: str
    amount: int
    """in minor units"""
    currency: str
    matches: bool
    """whether that was expected. If not, no call is offered it: refund it"""


@dataclass(frozen=True, kw_only=True)
class UnclaimedPayment(Payment):
    item: str | None
    """what it is for; None: the server did not say it"""
    resume_key: str | None
    late: bool
    proven_at: datetime
    refunded: int
    """how much of it went back, in minor units"""
    held: bool
    """whether no call is offered it until the operator decides"""
    result: dict[str, Any] | None = field(default=None, repr=False)
    """None if there is none, if it was purged, or if no key opens it"""


@dataclass(frozen=True, kw_only=True)
class UndeliveredClaim:
    """A claim that was fulfilled and never confirmed."""

    elicitation_id: str
    provider: str
    kind: Kind
    subject: str
    session: str
    item: str | None
    """what it is for. None: the server did not say it"""
    resume_key: str | None
    reference: str | None
    """of the payment. None where it is none"""
    amount: int | None
    """in minor units"""
    currency: str | None
    fulfilled_at: datetime
    given_at: datetime | None
    """when another call was last given the result"""
    has_result: bool
    """whether the next call is given the result. Otherwise it does the work again"""
    refunded: int
    """how much of it went back, in minor units"""
    held: bool


@dataclass(frozen=True)
class UnclaimedReference:
    """What of an unclaimed payment the books keep."""

    elicitation_id: str
    provider: str
    reference: str
    amount: int
    """in minor units"""
    currency: str


@dataclass(frozen=True, kw_only=True)
class RefundedPayment:
    reference: str
    amount: int
    refunded: int
    """how much of it has gone back, in all"""
    held: bool
    claimed: bool


@dataclass(frozen=True, kw_only=True)
class Refund:
    """A refund, a dispute or a cancelled authorisation."""

    elicitation_id: str
    provider: str
    subject: str | None
    """None where the elicitation was purged; so are session and resume_key"""
    session: str | None
    item: str | None
    """what it was for; None: the server did not say it"""
    resume_key: str | None
    reference: str
    """the provider's, of the refund; that of the payment where the provider tells the total that went back"""
    amount: int | None
    """in minor units; None: all of a payment that is not known"""
    currency: str | None
    reversed: int | None
    """how much of it came again: the refund failed, or the dispute was won"""
    received_at: datetime
    changed_at: datetime
    payment: RefundedPayment | None
    """None: the provider did not say of which payment. Then those of the elicitation are held"""


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """Something that became of money."""

    number: int
    """its place in the order. After a failover that has lost commits, numbers are given again"""
    type: LedgerType
    """what happened"""
    entered_at: datetime
    kind: Literal["payment", "refund", "dispute", "cancellation"]
    """what `reference` names"""
    provider: str
    elicitation_id: str | None
    """None: it may be of several"""
    subject: str | None
    """None: the user was forgotten"""
    item: str | None
    """None: the elicitation has none"""
    reference: str | None
    """the provider's, of the refund or dispute; otherwise that of the payment"""
    payment: str | None
    """the provider's reference of the payment; None: it is not known"""
    checkout: str | None
    """the provider's id of the checkout; a payment that was proved by that alone had it as its reference"""
    amount: int | None
    """in minor units: of the payment; of a refund or dispute what it took, or what came again of it, in total"""
    currency: str | None
    refunded: int | None
    """how much of the payment has gone back by then, of all refunds together; None: it is not known"""
    status: str | None
    """what the provider calls the state of the refund or dispute"""
    occurred_at: datetime | None
    """when it happened, as the provider says"""
    evidence_due_at: datetime | None
    """until when the provider takes evidence in a dispute"""


@dataclass(frozen=True, kw_only=True)
class Entitlement:
    """What a user may use because of a subscription."""

    item: str
    status: EntitlementStatus
    """The first three may be used. cancelled: it is not renewed. past_due: a renewal was not paid. ended: it is over, or
    paused, or what was paid last has gone back"""
    entitled: bool
    """whether it may be used"""
    paused: bool
    """whether it has ended until it is resumed"""
    until: datetime | None
    """the end of what was paid; None: the provider has not said it yet"""
    provider: str
    account: str | None
    """the provider's, that the subscription is at"""
    subscription: str | None
    """the provider's id of it; None: no event has named it yet"""
    elicitation_id: str
    """with which it was opened"""
    opened_at: datetime


EventType = Literal["created", "opened", "processing", "completed", "late", "refunded"]


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


class _Subscription(Protocol):
    @property
    def status(self) -> str: ...
    @property
    def entitled(self) -> bool: ...
    @property
    def paused(self) -> bool: ...


def is_over(best: _Subscription) -> bool:
    """Whether the user may be asked for a new subscription: the best one has ended, and cannot be resumed."""
    return not best.entitled and not best.paused and best.status != "past_due"


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
