"""What a provider has, as a function of the caller says it, for a recheck or for `reconcile`: payments, and what went
back of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .arguments import check_amount, check_choice, check_currency, check_text, refuse_awaitable
from .contract_limits import ENTRIES_MAX, REFERENCE_MAX
from .contract_words import ENTRY_STATUSES
from .money_types import Entries, PaymentEntry, RefundEntry

T = TypeVar("T", PaymentEntry, RefundEntry)


Row = dict[str, Any]


def check_entries(entries: Entries, most: int = ENTRIES_MAX) -> tuple[list[Row], list[Row]]:
    """Payments and refunds as the database takes them."""
    return (
        _check_each("payments", entries.payments, PaymentEntry, most, _payment),
        _check_each("refunds", entries.refunds, RefundEntry, most, _refund),
    )


def _check_each(name: str, values: Sequence[T], kind: type[T], most: int, check: Callable[[str, T], Row]) -> list[Row]:
    refuse_awaitable(name, values)
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or len(values) > most:
        raise TypeError(f"{name} must be a sequence of at most {most} entries")
    rows: list[Row] = []
    for n, entry in enumerate(values):
        if not isinstance(entry, kind):
            raise TypeError(f"{name}[{n}] must be a {kind.__name__}")
        row = check(f"{name}[{n}].", entry)
        for member in ("elicitation_id", "checkout"):
            value = getattr(entry, member)
            if value is not None:
                row[member] = check_text(f"{name}[{n}].{member}", value, 1, REFERENCE_MAX)
        row["reference"] = check_text(f"{name}[{n}].reference", entry.reference, 1, REFERENCE_MAX)
        row["amount"] = check_amount(f"{name}[{n}].amount", entry.amount)
        row["status"] = check_choice(f"{name}[{n}].status", entry.status, ENTRY_STATUSES)
        rows.append(row)
    return rows


def _payment(place: str, entry: PaymentEntry) -> Row:
    return {"currency": check_currency(f"{place}currency", entry.currency)}


def _refund(place: str, entry: RefundEntry) -> Row:
    row: Row = {"payment": check_text(f"{place}payment", entry.payment, 1, REFERENCE_MAX)}
    if entry.currency is not None:
        row["currency"] = check_currency(f"{place}currency", entry.currency)
    return row
