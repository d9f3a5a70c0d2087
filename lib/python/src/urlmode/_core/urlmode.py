"""The waiting side: creates elicitations, and waits until the callback programs have completed them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Literal

from . import arguments
from .callback_urls import AnyElicitation, UrlBuilder
from .ask_back import Rechecker
from .claims import Claim, Claims
from .contract_calls import Abandoned, RowKey
from .contract_limits import (
    CLAIM_LEASE_MAX_S,
    CLAIM_LEASE_MIN_S,
    CLAIM_LEASE_S,
    CLOSE_S,
    KEEP_RESULTS_S,
    KEEP_UNCLAIMED_S,
    KEYS_FILE_MAX,
    NAME_MAX,
    RECHECK_AFTER_S,
    RETENTION_S,
    SUBJECT_MAX,
    TICKET_MAX_S,
    TICKET_S,
    TIMEOUT_S,
    TTL_MAX_S,
)
from .contract_money import RefundRow, UnclaimedRow
from .contract_seals import RESULT_INFO
from .contract_words import ACTIONS, PURGE_KINDS
from .create import Creator
from .create_methods import CreateMethods
from .create_options import Checked
from .database import AbandonOutcome, Database
from .errors import UrlModeClosedError
from .form_types import VerifyFunction
from .keys import KeyRing, KeysFile, parse_keys
from .ledger import Ledger
from .listener import Listener
from .metrics import Metrics
from .money import MoneyMethods
from .payments import PaymentReports
from .pool import Pool, PoolLike, server_of
from .purge import Purger, check_kept, check_retention
from .rechecks import Rechecks
from .seal import seal
from .tasks import Tasks, start_quietly
from .token import binding_of, ticket_cookie
from .types import (
    Action,
    Answer,
    ClientFacts,
    Duration,
    Id,
    Outcome,
    ProgressFunction,
    PurgeKind,
    RecheckFunction,
    Ticket,
)
from .waits import Waits



class UrlMode(CreateMethods, MoneyMethods):
    """One in each process is enough. It belongs to the event loop in which it is used first."""

    def __init__(
        self,
        *,
        database_url: str | None = None,
        pool: PoolLike | None = None,
        keys_file: str | PathLike[str] | None = None,
        keys: str | None = None,
        base_url: str,
        name: str | None = None,
        listen: bool = True,
        keep_results: Duration = KEEP_RESULTS_S,
        keep_unclaimed: Duration = KEEP_UNCLAIMED_S,
        retention: Duration | None = RETENTION_S,
        rechecks: Mapping[str, RecheckFunction] = {},
        clients: Sequence[ClientFacts] = (),
        descriptions: Mapping[str, str] | None = None,
    ) -> None:
        """Does not connect yet. README.md describes the options."""
        self._base_url, host = arguments.check_base_url(base_url)
        self._name = arguments.check_text("name", host if name is None else name, 1, NAME_MAX)
        server = server_of(database_url, pool)
        self._keys = open_keys(keys_file, keys)
        self._clients = arguments.check_clients(clients)
        self._kept = check_kept(keep_results, keep_unclaimed, retention)
        self._background = Tasks()  # what adapters do beside their calls
        # `aclose` waits for them, for as long as it takes, while the database can be used.
        self._finishers: list[Callable[[], Awaitable[None]]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Task[None] | None = None
        self._urls = UrlBuilder(self._keys, self._base_url)
        self._pool = Pool(server.connect, pool)
        self._database = Database(self._pool)
        self._listener = Listener(
            server.connect,
            listen=arguments.check_flag("listen", listen),
            several_hosts=server.has_several_hosts,
            notify=self._database.notify,
        )
        self._metrics = Metrics(self._listener)
        self._creator = Creator(
            self._database, self._keys, self._urls, self._name, arguments.check_descriptions(descriptions)
        )
        self._purger = Purger(self._database, self._kept)
        rechecker = Rechecker(self._database, self._keys, self._complete)
        self._rechecks = Rechecks(arguments.check_rechecks(rechecks), self._database.query, rechecker)
        self._claims = Claims(
            self._database.query, self._keys, self._kept.results, rechecker, self._rechecks, self._listener
        )
        self._waits = Waits(
            self._listener, self._database, self._keys, self._metrics, mark_read=self._purger.mark_read,
            complete=self._complete, rechecks=self._rechecks,
        )  # fmt: skip
        self._ledger = Ledger(self._database.query, self._listener)
        self._late = PaymentReports[UnclaimedRow](
            self._listener, "late", self._database.unclaimed, lambda row: (row.provider_name, row.reference, row.amount)
        )
        self._refunds = PaymentReports[RefundRow](
            self._listener, "refunded", self._database.refunds,
            lambda row: (row.provider_name, row.reference, row.amount, row.reversed, row.payment),
        )  # fmt: skip

    async def __aenter__(self) -> UrlMode:
        self._check_open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _create(self, checked: Checked) -> AnyElicitation:
        self._check_open()
        self._purger.start()
        return await self._creator.create(checked)

    async def wait_for_completion(
        self,
        elicitation_id: Id,
        *,
        subject: str,
        session: str = "",
        timeout: Duration | None = TIMEOUT_S,
        on_progress: ProgressFunction | None = None,
        recheck: RecheckFunction | None = None,
        verify: VerifyFunction | None = None,
        abandon: bool = False,
    ) -> Outcome:
        """Waits until the elicitation is completed, by any process and on any instance.

        `verify` is called with what the user has typed, and returns None or a Problem. The task is cancelled after the
        `verify_timeout` of `create_input`.
        `timeout`: 0 checks once, None waits until it is completed. Cancelling the task ends the wait. Neither changes
        the elicitation, except with `abandon`, if nobody has opened it. Raises ElicitationTimeoutError,
        ElicitationNotFoundError and ElicitationSealError.
        """
        self._check_open()
        key = _row_key(elicitation_id, subject, session)
        seconds = arguments.check_timeout(timeout)
        arguments.check_function("on_progress", on_progress)
        arguments.check_function("recheck", recheck)
        arguments.check_function("verify", verify)
        ending = partial(self._abandon, key) if arguments.check_flag("abandon", abandon) else None
        self._purger.start()
        wait = self._waits.begin(
            key, seconds, on_progress=on_progress, recheck=recheck, verify=verify, abandon=ending
        )
        async with wait as outcome:
            return await outcome

    def _abandon(self, key: RowKey, reason: str) -> Awaitable[AbandonOutcome]:
        return self._database.abandon(Abandoned(*key, "cancel", reason))

    async def complete(
        self,
        elicitation_id: Id,
        *,
        subject: str,
        session: str = "",
        action: Action,
        reason: str = "",
        result: Mapping[str, Any] | None = None,
        amount: int | None = None,
        currency: str | None = None,
        reference: str | None = None,
    ) -> bool:
        """Completes an elicitation from outside a wait, for a server that learned the outcome in another way.

        Whether this call completed it, or recorded the payment of an elicitation that had ended otherwise. To accept a
        payment, `amount`, `currency` and `reference` are required and compared. Raises ElicitationNotFoundError,
        ElicitationMismatchError and ElicitationReferenceError.
        """
        self._check_open()
        key = _row_key(elicitation_id, subject, session)
        outcome = await self._complete(key, Answer(
            action=action, reason=reason, result=result, amount=amount, currency=currency, reference=reference,
        ))  # fmt: skip
        return outcome != "already"

    async def cancel(
        self, elicitation_id: Id, *, subject: str, session: str = "", reason: str = "cancelled"
    ) -> bool:
        """`complete` with action cancel. It also ends an elicitation that a user has opened.

        Raises ElicitationNotFoundError.
        """
        return await self.complete(elicitation_id, subject=subject, session=session, action="cancel", reason=reason)

    async def abandon(
        self,
        elicitation_id: Id,
        *,
        subject: str,
        session: str = "",
        action: Literal["decline", "cancel"] = "cancel",
        reason: str = "abandoned",
    ) -> bool:
        """Completes an elicitation that nobody waits for any more, unless a user has opened it.

        Whether this call completed it. One of another owner, or none, is False as well. Raises UrlModeClosedError.
        """
        self._check_open()
        key = _row_key(elicitation_id, subject, session)
        action = arguments.check_choice("action", action, ("decline", "cancel"))
        return await self._database.abandon(Abandoned(*key, action, arguments.check_reason(reason))) == "completed"

    async def claim(
        self,
        elicitation_id: Id,
        *,
        subject: str,
        session: str = "",
        action: Action = "accept",
        reference: str | None = None,
        held: bool = False,
        recheck: RecheckFunction | None = None,
        recheck_after: Duration = RECHECK_AFTER_S,
    ) -> bool:
        """Claims the outcome of a completed elicitation. Only the first call gets True, and delivers.

        `reference`: the payment to claim, also one that does not match; by default the oldest one that matches. `recheck`,
        `recheck_after`: as those of `begin_claim`. Raises ElicitationOpenError.
        """
        self._check_open()
        key = _row_key(elicitation_id, subject, session)
        action = arguments.check_choice("action", action, ACTIONS)
        reference = arguments.check_reference(reference)
        asking = arguments.check_recheck(recheck, recheck_after)
        return await self._claims.claim_at_once(key, action, reference, arguments.check_flag("held", held), *asking)

    async def begin_claim(
        self,
        elicitation_id: Id,
        *,
        subject: str,
        session: str = "",
        reference: str | None = None,
        lease: Duration = CLAIM_LEASE_S,
        timeout: Duration = 0,
        claim_id: Id | None = None,
        any_payment: bool = False,
        recheck: RecheckFunction | None = None,
        recheck_after: Duration = RECHECK_AFTER_S,
    ) -> Claim:
        """Claims an accept under a lease, for a call whose answer may be lost.

        The work is done once, and its result is given to the next call until an answer was written. `timeout`: how
        long to wait while another call holds the lease. `claim_id`: a UUID that names this claim. Who begins again with the
        same one has the same claim. `any_payment`: also a payment that does not match or is held, by its `reference`, to
        deliver or refund what `unclaimed` or `undelivered` lists. `recheck` asks the provider before the claim begins, if
        an event has ever asked for that, and its last answer is older than `recheck_after`; what it raises is raised, and
        the claim does not begin. Raises ElicitationOpenError, ElicitationNotFoundError and ElicitationSealError.
        """
        self._check_open()
        key = _row_key(elicitation_id, subject, session)
        lease_ms = arguments.check_duration("lease", lease, CLAIM_LEASE_MIN_S, CLAIM_LEASE_MAX_S)
        seconds = arguments.check_duration("timeout", timeout, 0, TTL_MAX_S) / 1000
        name = None if claim_id is None else arguments.check_id(claim_id, "claim_id")
        arguments.check_flag("any_payment", any_payment)
        asking = arguments.check_recheck(recheck, recheck_after)
        return await self._claims.begin(
            key, arguments.check_reference(reference), lease_ms, seconds, name, any_payment, *asking
        )

    async def recheck_due(self) -> int:
        """Asks providers, by the functions of `rechecks`, about all events that nobody has asked about, also where nobody
        waits. Each instance does so once a minute by itself.

        About how many elicitations. Raises the first error as the cause of a RuntimeError; it is asked about again later.
        """
        self._check_open()
        return await self._rechecks.ask_all()

    async def purge(self, *, older_than: Duration | None = None, kind: PurgeKind | None = None) -> int:
        """Deletes purgeable data in batches: elicitations to which nothing can happen any more, and expired data.

        `older_than`: for how long it must have been purgeable, by default `retention`. How much was deleted. Raises
        UrlModeClosedError.
        """
        self._check_open()
        keep = RETENTION_S * 1000 if self._kept.rows is None else self._kept.rows
        if older_than is not None:
            keep = check_retention("older_than", older_than)
        return await self._purger.purge(keep, None if kind is None else arguments.check_choice("kind", kind, PURGE_KINDS))

    def ticket(self, *, subject: str, ttl: Duration = TICKET_S) -> Ticket:
        """A cookie that tells callback programs with `"user_check": "session-ticket"` who the user is.

        Send it only to a browser whose web session identifies the user. Raises KeysFileError if the keys file cannot be
        read.
        """
        subject = arguments.check_text("subject", subject, 1, SUBJECT_MAX)
        return ticket_cookie(self._keys.minting, subject, arguments.check_duration("ttl", ttl, 0.001, TICKET_MAX_S))

    @property
    def open_waits(self) -> int:
        """How many waits are open in this process, for the metrics of a server."""
        return self._waits.size

    def metrics(self) -> str:
        """Text in Prometheus' format 0.0.4, which your server adds to its own metrics. Raises no error."""
        return self._metrics.text()

    async def aclose(self) -> None:
        """Ends open waits with UrlModeClosedError, waits for other calls, and closes all connections.

        Calls to which PostgreSQL has not answered after two seconds are ended as well. A vault stores first what a
        provider has given to a refresh that is under way. No task is left.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            self._pool.drop()
            self._listener.drop()
            raise RuntimeError("this UrlMode belongs to another event loop: its connections were dropped")
        self._loop = loop
        if self._closing is None:
            self._closing = loop.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        waits = start_quietly(self._waits.close())
        for finish in self._finishers:
            await finish()
        overdue = asyncio.get_running_loop().call_later(CLOSE_S, self._pool.break_off)
        try:
            await self._late.close()
            await self._refunds.close()
            await self._ledger.close()
            await self._background.cancel()
            await self._claims.close()
            await self._rechecks.close()
            await waits
            await self._purger.close()
            await self._listener.close()
            await self._pool.close()
        finally:
            overdue.cancel()

    def _check_open(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise RuntimeError("this UrlMode belongs to another event loop: make one for each")
        if self._closing is not None:
            raise UrlModeClosedError
        self._rechecks.start()

    async def _complete(self, key: RowKey, answer: Answer) -> str:
        checked = arguments.check_answer(answer)
        result = None if checked.text is None else seal(self._keys, RESULT_INFO, *key, checked.text)
        return await self._database.settle(
            key, checked.action, checked.reason, result, checked.amount, checked.currency, checked.reference
        )


def _row_key(elicitation_id: object, subject: object, session: object) -> RowKey:
    id = arguments.check_id(elicitation_id)
    owner = arguments.check_owner(subject, session)
    return RowKey(id, binding_of(owner.subject, owner.session))


def open_keys(keys_file: object, keys: object) -> KeyRing:
    if keys is not None:
        if keys_file is not None:
            raise TypeError("keys and keys_file cannot be used together")
        return parse_keys(arguments.check_text("keys", keys, 1, KEYS_FILE_MAX), "keys")
    arguments.refuse_awaitable("keys_file", keys_file)
    if not isinstance(keys_file, (str, PathLike)):
        raise TypeError("keys_file must be a str or a path")
    return KeysFile(arguments.check_text("keys_file", fspath(keys_file), 1, 4096))
