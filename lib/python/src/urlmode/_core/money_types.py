"""The public types of money: prices, payments and refunds, entries and their reconciliation, the ledger, entitlements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from .contract_words import (
    EntitlementStatus as EntitlementStatus,
    EntryStatus as EntryStatus,
    Kind,
    LedgerType as LedgerType,
    Match as Match,
)


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
