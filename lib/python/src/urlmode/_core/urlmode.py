"""The SDK: creates elicitations, and waits until the callback programs have completed them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from os import PathLike, fspath
from types import TracebackType
from typing import TYPE_CHECKING, Any

import psycopg

from . import contract_texts as texts
from . import arguments
from .ask_back import Rechecker
from .background import Background, start_quietly
from .callback_urls import AnyElicitation, UrlBuilder
from .claim_methods import ClaimMethods
from .claims import Claims
from .contract_calls import Abandoned, RowKey
from .contract_limits import (
    CLOSE_S,
    KEEP_RESULTS_S,
    KEEP_UNCLAIMED_S,
    KEYS_FILE_MAX,
    NAME_MAX,
    PATH_MAX,
    RETENTION_S,
    SUBJECT_MAX,
    TICKET_MAX_S,
    TICKET_S,
    TIMEOUT_S,
)
from .contract_money import RefundRow, UnclaimedRow
from .contract_seals import RESULT_INFO
from .contract_words import END_ACTIONS, PURGE_KINDS, AbandonOutcome, EndAction
from .create import Creator
from .create_methods import CreateMethods
from .create_options import Checked
from .database import Database
from .errors import UrlModeClosedError, UrlModeError
from .events import Events
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
from .token import binding_of, ticket_cookie
from .types import (
    Action,
    Answer,
    ClientFacts,
    Duration,
    EventFunction,
    Id,
    Outcome,
    ProgressFunction,
    PurgeKind,
    RecheckFunction,
    Ticket,
)
from .waits import Waits

if TYPE_CHECKING:
    from typing_extensions import Self


class UrlMode(CreateMethods, ClaimMethods, MoneyMethods):
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
        tenant: str = "",
        listen: bool = True,
        keep_results: Duration = KEEP_RESULTS_S,
        keep_unclaimed: Duration = timedelta(seconds=KEEP_UNCLAIMED_S),
        retention: Duration | None = timedelta(seconds=RETENTION_S),
        rechecks: Mapping[str, RecheckFunction] = {},
        clients: Sequence[ClientFacts] = (),
        descriptions: Mapping[str, str] | None = None,
        on_event: EventFunction | None = None,
    ) -> None:
        """Does not connect yet. README.md describes the options.

        `database_url`: of PostgreSQL, as role urlmode_server; or `pool`, an AsyncConnectionPool of your own. `keys_file`: its
        path; or `keys`, its content. `base_url`: of the callback programs. `name`: what messages call that site; by default
        its host. `listen`: False: waits poll, as behind a pooler. `keep_results`, `keep_unclaimed`, `retention`: how long
        results, those of unclaimed payments, and rows are kept. `rechecks`: by provider, what asks it where nobody waits.
        `clients`: facts about MCP clients. `descriptions`: which shipped description an entry with another name has. `on_event` is called
        with each Event. `tenant`: whose rows this instance alone sees; by default those of none.
        """
        self._base_url, host = arguments.check_base_url(base_url)
        self._name = arguments.check_text("name", host if name is None else name, 1, NAME_MAX)
        server = server_of(database_url, pool)
        self._keys = open_keys(keys_file, keys)
        self._clients = arguments.check_clients(clients)
        self._kept = check_kept(keep_results, keep_unclaimed, retention)
        self._background = Background()  # what adapters do beside their calls
        # `aclose` waits for them, for as long as it takes, while the database can be used.
        self._finishers: list[Callable[[], Awaitable[None]]] = []
        self._following = False
        """whether the events of money are told"""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Task[None] | None = None
        self._urls = UrlBuilder(self._keys, self._base_url)
        open_pool, open_listener = self._types()
        self._pool = open_pool(server.connect, pool, server.leadership)
        self._database = Database(self._pool, arguments.check_tenant(tenant))
        self._listener = open_listener(
            server.connect,
            listen=arguments.check_flag("listen", listen),
            several_hosts=server.has_several_hosts,
            notify=self._database.notify,
        )
        server.leadership.on_doubt.append(self._listener.leave)
        self._metrics = Metrics(self._listener)
        self._creator = Creator(
            self._database, self._keys, self._urls, self._name, arguments.check_descriptions(descriptions)
        )
        self._purger = Purger(self._database, self._kept)
        rechecker = Rechecker(self._database, self._keys, self._complete)
        self._rechecks = Rechecks(arguments.check_rechecks(rechecks), self._database.query, rechecker, tenant)
        self._claims = Claims(
            self._database.query, self._keys, self._kept.results, rechecker, self._rechecks, self._listener
        )
        self._waits = Waits(
            self._listener, self._database, self._keys, self._metrics, mark_read=self._purger.mark_read,
            complete=self._complete, rechecks=self._rechecks,
        )  # fmt: skip
        arguments.check_function("on_event", on_event)
        self._events = None if on_event is None else Events(on_event, self._background)
        self._ledger = Ledger(self._database.query, self._listener, tenant)
        self._late = PaymentReports[UnclaimedRow](
            self._listener, "late", self._database.late,
            lambda row: (row.provider_name, row.reference), lambda row: row.amount,
        )  # fmt: skip
        self._refunds = PaymentReports[RefundRow](
            self._listener, "refunded", self._database.refunds,
            lambda row: (row.provider_name, row.reference, row.elicitation), lambda row: (row.amount, row.reversed, row.payment),
        )  # fmt: skip

    @classmethod
    def _types(cls) -> tuple[type[Pool], type[Listener]]:
        return Pool, Listener

    async def __aenter__(self) -> Self:
        self._check_open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _create(self, checked: Checked) -> AnyElicitation:
        self._check_open()
        self._purger.start()
        elicitation = await self._creator.create(checked)
        if self._events is not None:
            self._events.created(elicitation, checked)
        return elicitation

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

        `elicitation_id`, `subject`, `session`: of the elicitation and its owner, as at `create`. `on_progress` is called with
        opened, processing and attempt_failed. `recheck` asks the provider about an event that proves nothing.
        """
        key = self._row_key(elicitation_id, subject, session)
        seconds = arguments.check_timeout(timeout)
        arguments.check_function("on_progress", on_progress)
        arguments.check_function("recheck", recheck)
        arguments.check_function("verify", verify)
        ending = partial(self._abandon, key) if arguments.check_flag("abandon", abandon) else None
        self._purger.start()
        events = None if self._events is None else self._events.of_wait(subject, session, on_progress)
        wait = self._waits.begin(
            key, seconds, on_progress=on_progress if events is None else events.progress, recheck=recheck, verify=verify, abandon=ending
        )
        if events is not None:
            events.entry = wait.entry
        async with wait as outcome:
            ended = await outcome
        if events is not None:
            events.completed(ended)
        return ended

    async def _report_completed(self, key: RowKey, subject: str, session: str) -> None:
        """An event that cannot be reported fails nothing else."""
        if self._events is not None:
            with contextlib.suppress(psycopg.Error, UrlModeError):
                self._events.completed(await self._database.read(key), subject, session)

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

        `elicitation_id`, `subject`, `session`: of the elicitation and its owner, as at `create`. `action`: how it ended.
        `reason`: a code, for other ends than an accept. `result`: what the next wait is given, as JSON.
        """
        key = self._row_key(elicitation_id, subject, session)
        outcome = await self._complete(key, Answer(
            action=action, reason=reason, result=result, amount=amount, currency=currency, reference=reference,
        ))  # fmt: skip
        if outcome == "completed":
            await self._report_completed(key, subject, session)
        return outcome != "already"

    async def cancel(
        self, elicitation_id: Id, *, subject: str, session: str = "", reason: str = "cancelled"
    ) -> bool:
        """`complete` with action cancel. It also ends an elicitation that a user has opened.

        Raises ElicitationNotFoundError.

        `elicitation_id`, `subject`, `session`: of the elicitation and its owner, as at `create`. `reason`: a code.
        """
        return await self.complete(elicitation_id, subject=subject, session=session, action="cancel", reason=reason)

    async def abandon(
        self,
        elicitation_id: Id,
        *,
        subject: str,
        session: str = "",
        action: EndAction = "cancel",
        reason: str = "abandoned",
    ) -> bool:
        """Completes an elicitation that nobody waits for any more, unless a user has opened it.

        Whether this call completed it. One of another owner, or none, is False as well. Raises UrlModeClosedError.

        `elicitation_id`, `subject`, `session`: of the elicitation and its owner, as at `create`. `action`: decline or cancel.
        `reason`: a code.
        """
        key = self._row_key(elicitation_id, subject, session)
        action = arguments.check_choice("action", action, END_ACTIONS)
        ended = await self._database.abandon(Abandoned(*key, action, arguments.check_reason(reason))) == "completed"
        if ended:
            await self._report_completed(key, subject, session)
        return ended

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

        `kind`: of these elicitations alone, or of what has expired.
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

        `subject`: the user. `ttl`: how long the cookie is valid.
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
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(
                "there is no running event loop of asyncio here: trio has none; urlmode.sync needs none"
            ) from None
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise RuntimeError("this UrlMode belongs to another event loop: make one for each")
        if self._closing is not None:
            raise UrlModeClosedError
        self._rechecks.start()
        if self._events is not None and not self._following:
            self._following = True
            self._events.follow(self.late_payments(), self.new_refunds())

    def _row_key(self, elicitation_id: object, subject: object, session: object) -> RowKey:
        """Each method that is about one elicitation begins with it."""
        self._check_open()
        id = arguments.check_id(elicitation_id)
        owner = arguments.check_owner(subject, session)
        return RowKey(id, self._binding_of(owner.subject, owner.session))

    def _binding_of(self, subject: str, session: str) -> bytes:
        return binding_of(subject, session, self._database.tenant)

    async def _complete(self, key: RowKey, answer: Answer) -> str:
        checked = arguments.check_answer(answer)
        result = None if checked.text is None else seal(self._keys, RESULT_INFO, *key, checked.text)
        return await self._database.settle(
            key, checked.action, checked.reason, result, checked.amount, checked.currency, checked.reference
        )


def open_keys(keys_file: object, keys: object) -> KeyRing:
    if keys is not None:
        if keys_file is not None:
            raise TypeError(texts.KEYS_OR_FILE)
        return parse_keys(arguments.check_text("keys", keys, 1, KEYS_FILE_MAX), "keys")
    arguments.refuse_awaitable("keys_file", keys_file)
    if not isinstance(keys_file, (str, PathLike)):
        raise TypeError("keys_file must be a str or a path")
    return KeysFile(arguments.check_text("keys_file", fspath(keys_file), 1, PATH_MAX))
