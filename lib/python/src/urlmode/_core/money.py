"""The methods of UrlMode about money: they list, compare and follow what was paid, and what went back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime

from . import arguments
from .contract_limits import ITEM_MAX, SUBJECT_MAX
from .contract_money import RefundRow, UnclaimedRow
from .database import Database
from .keys import KeyRing
from .ledger import Ledger
from .money_types import Entitlement, LedgerEntry, Payment, Reconciliation, Refund, UnclaimedPayment, UndeliveredClaim
from .outcome import to_entitlement, to_refund, to_unclaimed, to_undelivered
from .payments import PaymentReports
from .reconcile import ListFunction, reconcile


class MoneyMethods:
    _database: Database
    _keys: KeyRing
    _ledger: Ledger
    _late: PaymentReports[UnclaimedRow]
    _refunds: PaymentReports[RefundRow]

    def _check_open(self) -> None:
        raise NotImplementedError

    async def unclaimed(
        self, *, provider: str | None = None, since: datetime | None = None
    ) -> list[UnclaimedPayment]:
        """The payments that were proved, not refunded, and claimed by no call, of all users, the oldest first.

        One whose result cannot be opened is there without it. Raises UrlModeClosedError.

        `provider`, `since`: only of this one, and what was proved then or later.
        """
        self._check_open()
        rows = await self._database.unclaimed(provider=_provider(provider), since=arguments.check_since(since))
        return [to_unclaimed(self._keys, row) for row in rows]

    async def undelivered(
        self, *, provider: str | None = None, since: datetime | None = None
    ) -> list[UndeliveredClaim]:
        """The claims that were fulfilled and never confirmed, of all users, the oldest first.

        Nobody knows that their answers were written; some may be on their way. Raises UrlModeClosedError.

        `provider`, `since`: only of this one, and what was fulfilled then or later.
        """
        self._check_open()
        rows = await self._database.undelivered(provider=_provider(provider), since=arguments.check_since(since))
        return [to_undelivered(row) for row in rows]

    async def refunds(self, *, provider: str | None = None, since: datetime | None = None) -> list[Refund]:
        """The refunds of payments, and how much came again, of all users, the last change last.

        Transactions commit in another order than they begin: ask again for the last minute. Raises UrlModeClosedError.

        `provider`, `since`: only of this one, and what changed then or later.
        """
        self._check_open()
        rows = await self._database.refunds(provider=_provider(provider), since=arguments.check_since(since))
        return [to_refund(row) for row in rows]

    async def reconcile(
        self, *, provider: str, since: datetime, until: datetime | None = None, list_payments: ListFunction
    ) -> Reconciliation:
        """Compares what a provider lists with what is here: payments, and what went back of them.

        It only reads, and records nothing. `list_payments` gets the name of the provider and returns Entries, at most
        100,000 of each, perhaps of a longer time. What names no elicitation and no checkout of this database is somebody
        else's. Raises UrlModeClosedError.

        `provider`: whose payments. `since`, `until`: when they were proved here.
        """
        self._check_open()
        return await reconcile(self._database.query, self._database.tenant, provider, since, until, list_payments)

    async def entitlements(self, *, subject: str, item: str | None = None) -> list[Entitlement]:
        """What a user has subscribed to: for each item, or for this one, the best subscription. Raises UrlModeClosedError.

        `subject`: the user. `item`: what the subscription is for.
        """
        self._check_open()
        rows = await self._database.entitlements(
            arguments.check_text("subject", subject, 1, SUBJECT_MAX),
            None if item is None else arguments.check_text("item", item, 1, ITEM_MAX),
        )
        return [to_entitlement(row) for row in rows]

    async def late_payments(self) -> AsyncIterator[Payment]:
        """Each payment that is proved after the end of its elicitation, from now on and until `aclose`.

        Nothing is repeated after a lost connection: `unclaimed()` lists all of them. Raises UrlModeClosedError.
        """
        self._check_open()
        async for row in self._late.reports():
            yield Payment(
                elicitation_id=row.elicitation, provider=row.provider_name, subject=row.subject, session=row.session,
                reference=row.reference, amount=row.amount, currency=row.currency, matches=row.matches,
            )  # fmt: skip

    async def new_refunds(self) -> AsyncIterator[Refund]:
        """Each change of `refunds()`, from now on and until `aclose`. Raises UrlModeClosedError."""
        self._check_open()
        async for row in self._refunds.reports():
            yield to_refund(row)

    async def ledger(self, *, consumer: str) -> AsyncIterator[LedgerEntry]:
        """Everything about money, in order: each entry at least once, and acknowledged when the next one is asked for.

        A loop that raises or breaks leaves its entry unacknowledged. It waits for entries until `aclose`, and for its turn
        while another instance reads for this consumer. Raises UrlModeClosedError.

        `consumer`: whose place in the order is kept.
        """
        self._check_open()
        async with aclosing(self._ledger.follow(arguments.check_consumer(consumer))) as entries:
            async for entry in entries:
                yield entry

    async def paid(self, *, subject: str, item: str, since: datetime | None = None, delivered: bool = False) -> bool:
        """Whether this user has paid for this item: a payment that was as expected, and did not go back as a whole.

        One that is held counts once a call has claimed it. `since`: only what was proved then or later. `delivered`: only
        what a call has claimed and delivered. Raises UrlModeClosedError.

        `subject`: the user. `item`: what the payment is for.
        """
        self._check_open()
        return await self._database.paid(
            subject=arguments.check_text("subject", subject, 1, SUBJECT_MAX),
            item=arguments.check_text("item", item, 1, ITEM_MAX), since=arguments.check_since(since), delivered=delivered,
        )  # fmt: skip


def _provider(provider: object) -> str | None:
    return None if provider is None else arguments.check_provider(provider)
