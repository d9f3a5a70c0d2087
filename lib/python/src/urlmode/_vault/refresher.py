"""Refreshes the tokens of an account: one instance at a time, and in an instance one call at a time (lib/PROTOCOL.md,
"The vault")."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import psycopg

from .._accounts.provider import AccountOptions, AccountProvider
from .._accounts.request import RequestFailed
from .._accounts.token_response import NoTokens, is_lifetime
from .._core.background import Background, jittered, shielded
from .._core.contract_limits import (
    ACCOUNT_LOOK_S,
    COMMIT_RETRY_MAX_S,
    COMMIT_RETRY_MIN_S,
    COMMIT_S,
    HOLD_WAIT_S,
    REFRESH_LATE_S,
    REFRESH_LEASE_S,
    REFRESH_SENT_S,
)
from .._core.errors import ProviderUnavailableError, UrlModeError
from .._core.keys import KeyRing
from .._core.listener import Listener
from .contract_calls import BegunRefresh
from .database import Stored, VaultDatabase
from .retried import is_refused, reason_of, retried
from .sealed_tokens import Place, seal_tokens
from .types import EventName


class Report(Protocol):
    def __call__(self, name: EventName, place: Place, **more: Any) -> None: ...


@dataclass(frozen=True)
class Refreshable:
    place: Place
    version: int
    """of the tokens"""
    tokens: dict[str, Any] = field(repr=False)
    """with a refresh token"""
    scopes: list[str]


@dataclass(frozen=True)
class Result:
    outcome: Literal["changed", "leased", "failed"]
    """`changed`: the row says more; `leased`: another instance is at it"""
    wait_ms: int = 0
    """with `leased`"""
    detail: str = ""
    """with `failed`"""


_CHANGED = Result("changed")


class Refresher:
    def __init__(
        self, listener: Listener, database: VaultDatabase, keys: KeyRing, background: Background,
        options_of: Callable[[str, dict[str, Any]], AccountOptions], report: Report, check_open: Callable[[], None],
    ) -> None:  # fmt: skip
        """`background`: a refresh runs in it, so that nobody cancels it, and `aclose` waits for it."""
        self._listener = listener
        self._database = database
        self._keys = keys
        self._background = background
        self._options_of = options_of
        self._report = report
        self._check_open = check_open
        self._running: dict[Place, asyncio.Task[Result]] = {}

    async def refresh(self, refreshable: Refreshable) -> Result:
        """Cancelling this call does not cancel the refresh: what the provider gives is stored."""
        place = refreshable.place
        running = self._running.get(place)
        if running is None:
            # Nothing is sent after `aclose` has begun.
            self._check_open()
            user = object()
            self._listener.acquire(user)
            running = self._running[place] = self._background.start(self._refresh(refreshable))

            def end(_: object) -> None:
                self._running.pop(place)
                self._listener.release(user)

            running.add_done_callback(end)
        return await shielded(running)

    async def _refresh(self, given: Refreshable) -> Result:
        place = given.place
        options = self._options_of(place.provider, given.tokens)
        until = time.monotonic() + REFRESH_LEASE_S
        failed = None
        while True:
            begun = await self._begin(given, late=False)
            if begun.outcome == "leased":
                return Result("leased", wait_ms=begun.wait_ms)
            if begun.outcome == "paused":
                return failed or Result("failed", detail="paused")
            if begun.outcome == "lost":
                self._report("reconnect", place, reason="refresh_lost")
            if begun.outcome != "begun":
                return _CHANGED
            try:
                provider = await AccountProvider.open(options)
            except Exception as error:
                # A provider that fails is not asked for its metadata each time either.
                failed = await self._fail(given, begun.lease, reason_of(error))
                if isinstance(error, ProviderUnavailableError):
                    return failed
                raise
            if not await self._mark_sent(place, begun.lease, provider):
                return _CHANGED
            sent = time.monotonic()
            try:
                answer = await provider.refresh(given.tokens["refresh_token"], is_first=failed is None)
            except RequestFailed as error:
                failed = await self._fail_with(given, begun.lease, error, _refusal(error))
                # Whether it may be sent again, and at once, the row says.
                is_lost = error.lost is not None and not provider.stays_refreshable
                if failed.outcome != "failed" or not is_lost or time.monotonic() > until:
                    return failed
                await asyncio.sleep(jittered(COMMIT_RETRY_MIN_S))
                continue
            return await self._store(given, begun.lease, provider, answer, sent)

    async def _begin(self, given: Refreshable, *, late: bool) -> BegunRefresh:
        holder = await self._listener.holder(HOLD_WAIT_S)
        return await self._database.begin_refresh(given.place, given.version, round(1000 * REFRESH_LEASE_S), holder, late)

    async def _store(
        self, given: Refreshable, lease: int, provider: AccountProvider, answer: dict[str, Any], sent: float
    ) -> Result:
        """`lease`: under which the refresh token was sent. `sent`: by time.monotonic()."""
        place = given.place
        old = given.tokens["refresh_token"]
        is_replaced = answer.get("refresh_token", old) != old and not provider.stays_refreshable
        try:
            stored = self._seal(given, answer)
            end = await retried(
                lambda: self._database.commit_refresh(
                    place, given.version, lease, less_waited(stored, sent), is_replaced
                ),
                COMMIT_S,
            )
        except Exception as error:
            if not is_refused(error):
                raise
            return await self._not_stored(given, lease, provider, answer, reason_of(error))
        if end == "late":
            return await self._try_late(given, provider, answer)
        if end == "stored":
            self._report("refreshed", place)
        if end == "gone":
            # It was disconnected while this refresh was under way, and its lease lost.
            self._report("disconnected", place, revoked=await provider.revoke_all(answer) is None)
        return _CHANGED

    async def _try_late(self, given: Refreshable, provider: AccountProvider, came: dict[str, Any]) -> Result:
        """Another instance has sent the old refresh token since this one was sent: the provider may have ended the family.
        The new refresh token is tried once, under a new lease, and what comes of that is stored. Behind newer tokens it
        is dropped."""
        # An answer without a refresh token leaves the old one as it was.
        late = replace(given, tokens={**given.tokens, **came})
        until, pause = time.monotonic() + COMMIT_S, ACCOUNT_LOOK_S
        while time.monotonic() < until:
            begun = await retried(lambda: self._begin(given, late=True), COMMIT_S)
            if begun.outcome == "begun":
                if await self._mark_sent(given.place, begun.lease, provider):
                    sent = time.monotonic()
                    try:
                        answer = await provider.refresh(late.tokens["refresh_token"])
                    except RequestFailed as error:
                        # What is dead must not be connected. Nobody knows what has become of a token whose answer is lost.
                        reason = _refusal(error) or ("refresh_lost" if error.lost == "answer" else None)
                        failed = await self._fail_with(given, begun.lease, error, reason)
                        if reason is not None:
                            return failed
                        pause = min(2 * pause, COMMIT_RETRY_MAX_S)
                    else:
                        return await self._store(late, begun.lease, provider, answer, sent)
            elif begun.outcome != "leased":
                break
            await asyncio.sleep(jittered(pause))
        return _CHANGED

    async def _mark_sent(self, place: Place, lease: int, provider: AccountProvider) -> bool:
        """False: the lease is lost. If the answer is lost, nobody else sends the token before the lease ends: it can be
        asked again. If it comes late, it is asked again, because what is left of the lease must be enough for the request.
        """
        asked = 0.0
        is_reusable = provider.stays_refreshable
        lease_ms = round(1000 * (REFRESH_LEASE_S if is_reusable else REFRESH_SENT_S))

        async def mark() -> bool:
            nonlocal asked
            asked = time.monotonic()
            return await self._database.mark_sent(place, lease, lease_ms, is_reusable, provider.reuse_ms)

        while True:
            is_marked = await retried(mark, REFRESH_LEASE_S)
            if not is_marked or time.monotonic() - asked < REFRESH_LATE_S:
                return is_marked

    async def _not_stored(
        self, given: Refreshable, lease: int, provider: AccountProvider, answer: dict[str, Any], detail: str
    ) -> Result:
        """New tokens that cannot be stored, whenever that is tried."""
        old = given.tokens["refresh_token"]
        if answer.get("refresh_token", old) == old:
            return await self._fail(given, lease, detail)
        # The old refresh token is not good any more. Sent again, it could end all that the user has granted.
        try:
            return await self._fail(given, lease, detail, "not_stored")
        finally:
            revoked = await self._revoke(given, provider, answer)
            self._report("not_stored", given.place, detail=detail, revoked=revoked)

    async def _revoke(self, given: Refreshable, provider: AccountProvider, answer: dict[str, Any]) -> bool:
        """If they are the last that the account has got: with them some providers would revoke newer ones."""
        try:
            rows = await self._database.read(*given.place)
        except (psycopg.Error, UrlModeError):
            return False
        is_last = not rows or rows[0].version == given.version
        return is_last and await provider.revoke_all(answer) is None

    async def _fail_with(self, given: Refreshable, lease: int, error: RequestFailed, reason: str | None) -> Result:
        return await self._fail(given, lease, str(error), reason, error)

    async def _fail(
        self, given: Refreshable, lease: int, detail: str, reason: str | None = None, error: RequestFailed | None = None
    ) -> Result:
        """`reason`: why the account must be connected again; None: it can be tried again. `error`: of the request."""
        place, version = given.place, given.version
        lost = error.lost if error else None
        retry_after_ms = error.retry_after_ms if error else None
        # For as long as new tokens are kept: after that the lease has ended, and nobody knows that there was an answer.
        await retried(
            lambda: self._database.fail_refresh(place, version, lease, reason, lost, retry_after_ms), COMMIT_S
        )
        if reason is not None:
            self._report("reconnect", place, reason=reason)
            return _CHANGED
        self._report("failed", place, detail=detail)
        return Result("failed", detail=detail)

    def _seal(self, given: Refreshable, answer: dict[str, Any]) -> Stored:
        """What the answer leaves out stays as it was (RFC 6749 sections 5.1 and 6). Raises AccountSizeError."""
        merged = {**given.tokens, **answer}
        if "expires_in" not in answer:
            merged.pop("expires_in", None)
        scopes = given.scopes if "scope" not in answer else scopes_of(answer)
        return Stored(scopes, seal_tokens(self._keys, given.place, merged), lifetime_of(answer))


def _refusal(error: RequestFailed) -> str | None:
    """Why the account must be connected again."""
    return error.code if isinstance(error, NoTokens) and error.code == "invalid_grant" else None


def scopes_of(tokens: dict[str, Any]) -> list[str]:
    # PostgreSQL takes no half of a surrogate pair.
    return re.findall(r"[^\s,]+", tokens.get("scope", "").encode(errors="replace").decode())


def lifetime_of(tokens: dict[str, Any]) -> int | None:
    """In milliseconds; None: not known."""
    seconds = tokens.get("expires_in")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not is_lifetime(seconds):
        return None
    return int(seconds * 1000)


def less_waited(stored: Stored, since: float) -> Stored:
    """The time for which tokens are valid began when they were asked for, and not when they could be stored. `since`: by
    time.monotonic()."""
    if stored.lifetime_ms is None:
        return stored
    return stored._replace(lifetime_ms=stored.lifetime_ms - int((time.monotonic() - since) * 1000))
