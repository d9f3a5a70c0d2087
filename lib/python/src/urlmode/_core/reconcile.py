"""What a provider has, as a function of the caller lists it, beside what is here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timezone
from typing import Union

from . import arguments
from . import contract_rechecks as sql
from .background import call
from .contract_calls import Query
from .contract_limits import LISTED_MAX
from .entries import check_entries
from .money_types import Difference, Entries, Expected, Reconciliation

ListFunction = Callable[[str], Union[Entries, Awaitable[Entries]]]


async def reconcile(
    query: Query, tenant: str, provider: object, since: object, until: object, list_payments: ListFunction
) -> Reconciliation:
    name = arguments.check_provider(provider)
    begin = arguments.check_since(since)
    if begin is None:
        raise TypeError("since must be a datetime with a time zone")
    end = arguments.check_since(until) or datetime.now(timezone.utc)
    arguments.check_function("list_payments", list_payments)
    listed = await call("list_payments", list_payments, name)
    if not isinstance(listed, Entries):
        raise TypeError("list_payments must return Entries")
    payments, refunds = check_entries(listed, LISTED_MAX)
    rows = await sql.reconcile(
        query, tenant=tenant, provider=name, since=begin, until=end, payments=payments, refunds=refunds
    )

    def of(what: str) -> list[Difference]:
        return [_to_difference(row) for row in rows if row.what == what]

    return Reconciliation(
        missing_here=of("missing_here"), missing_there=of("missing_there"), differs=of("differs")
    )


def _to_difference(row: sql.ReconciledRow) -> Difference:
    return Difference(
        kind=row.kind,
        reference=row.reference,
        payment=row.payment,
        elicitation_id=row.elicitation,
        here=_price(row.amount, row.currency),
        there=_price(row.their_amount, row.their_currency),
    )


def _price(amount: int | None, currency: str | None) -> Expected | None:
    return None if amount is None or currency is None else Expected(amount, currency)
