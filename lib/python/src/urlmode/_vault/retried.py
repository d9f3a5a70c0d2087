"""What a provider has given is kept in memory while PostgreSQL is away, and written later."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import psycopg

from .._core.background import jittered
from .._core.contract_limits import COMMIT_RETRY_MAX_S, COMMIT_RETRY_MIN_S
from .._core.contract_words import LASTING_CLASSES
from .._core.errors import AccountSizeError, UrlModeBusyError

T = TypeVar("T")


def is_refused(error: BaseException) -> bool:
    """Whether it is certain that nothing is stored, and will not be: the tokens are too large, or PostgreSQL, or psycopg,
    refuses them for what they are. Everything else can pass, such as a password that is being changed, or a database that
    is being restored."""
    if isinstance(error, (AccountSizeError, psycopg.DataError)):
        return True
    return isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith(LASTING_CLASSES)


def is_no_conflict(error: BaseException) -> bool:
    """Whether it does not say that the account has changed since it was read."""
    return not isinstance(error, psycopg.errors.SerializationFailure)


async def retried(
    change: Callable[[], Awaitable[T]], seconds: float, is_final: Callable[[BaseException], bool] = is_refused
) -> T:
    """Repeats a change of a row while PostgreSQL is away. It may be made twice, if the answer to the first was lost. The last
    attempt begins after the time is over: the process may have stood still in the one before.

    `is_final`: after which errors it is not repeated.
    """
    until = time.monotonic() + seconds
    delay = COMMIT_RETRY_MIN_S
    while True:
        is_last = time.monotonic() > until
        try:
            return await change()
        except (psycopg.Error, OSError, UrlModeBusyError) as error:
            if is_final(error) or is_last:
                raise
        await asyncio.sleep(jittered(delay))
        delay = min(2 * delay, COMMIT_RETRY_MAX_S)


def reason_of(error: BaseException) -> str:
    """A code, without anything of what was refused."""
    code = getattr(error, "sqlstate", None) or getattr(error, "code", None)
    return code if isinstance(code, str) else type(error).__name__
