"""Checks the arguments of callers.

Each function returns the value, or raises a TypeError or a ValueError that names the argument and says what it must
be. The limits are those of the table.
"""

from __future__ import annotations

import inspect
import math
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from . import contract_texts as texts
from .contract_kinds import DESCRIBED_KINDS
from .contract_limits import (
    CALL_MAX_S,
    CONSUMER_MAX,
    NAME_MAX,
    PROVIDER_MAX,
    REASON_MAX,
    RECHECK_AFTER_MAX_S,
    REFERENCE_MAX,
    SAFE_INTEGER,
    SESSION_MAX,
    SUBJECT_MAX,
    TENANT_MAX,
    TARGET_URL_MAX,
)
from .contract_words import ACTIONS, MATCHES
from .money_types import Expected, Match
from .price import is_currency
from .seal import RESULT_JSON_MAX, to_json
from .types import Action, Answer, ClientFacts, Duration, Kind, RecheckFunction, Target

T = TypeVar("T", bound=str)

_PROVIDER = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{PROVIDER_MAX - 1}}}")
_TENANT = re.compile(rf"[a-z0-9_-]{{0,{TENANT_MAX}}}")
_CONSUMER = re.compile(rf"[a-z0-9_-]{{1,{CONSUMER_MAX}}}")
_REASON = re.compile(rf"[a-z0-9_]{{0,{REASON_MAX}}}")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def refuse_awaitable(name: str, value: object) -> None:
    """A coroutine in the place of a value is a frequent mistake. It is closed, so that Python warns of nothing else."""
    if inspect.iscoroutine(value):
        value.close()
        raise TypeError(f"{name} must be a value, not a coroutine: await it first, or pass the function itself")
    if inspect.isawaitable(value):
        raise TypeError(f"{name} must be a value, not something to await: await it first")


def check_choice(name: str, value: object, choices: Sequence[T]) -> T:
    refuse_awaitable(name, value)
    for choice in choices:
        if value == choice:
            return choice
    raise ValueError(f"{name} {texts.must_be_one_of(', '.join(choices))}")


_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
"""W3C Trace Context section 3.2, version 00"""


def check_traceparent(value: object) -> str:
    refuse_awaitable("traceparent", value)
    if not isinstance(value, str):
        raise TypeError("traceparent must be a str")
    if not _TRACEPARENT.fullmatch(value):
        raise ValueError(texts.TRACEPARENT_FORM)
    return value


def traceparent_of(value: object) -> str | None:
    """That which a client sends with its call. What is no traceparent says nothing."""
    return value if isinstance(value, str) and _TRACEPARENT.fullmatch(value) else None


def check_text(name: str, value: object, least: int, most: int) -> str:
    refuse_awaitable(name, value)
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        size = -1
    # PostgreSQL accepts neither.
    if size < 0 or "\0" in value:
        raise ValueError(f"{name} {texts.MUST_BE_TEXT}")
    if not least <= size <= most:
        raise ValueError(f"{name} {texts.must_have_bytes(least, most)}")
    return value


def check_id(value: object, name: str = "elicitation_id") -> str:
    refuse_awaitable(name, value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str or a uuid.UUID")
    lower = value.lower()
    if not re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", lower):
        raise ValueError(f"{name} must be a UUID")
    return value if value == lower else lower  # That of the caller, so that a wait has one text, not two.


def check_provider(value: object) -> str:
    refuse_awaitable("provider", value)
    if not isinstance(value, str) or not _PROVIDER.fullmatch(value):
        raise ValueError(texts.PROVIDER_NAME)
    return value


@dataclass(frozen=True)
class Owner:
    subject: str
    session: str


def check_owner(subject: object, session: object) -> Owner:
    return Owner(check_text("subject", subject, 1, SUBJECT_MAX), check_text("session", session, 0, SESSION_MAX))


def seconds_of(name: str, value: object) -> float:
    refuse_awaitable(name, value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        raise TypeError(f"{name} must be a number of seconds or a timedelta")
    if CALL_MAX_S < value < math.inf:
        raise ValueError(f"{name} must be a timedelta if it is longer than a day: a number is seconds, and {value:g} may be milliseconds")
    return float(value)


def check_duration(name: str, value: object, least: float, most: float) -> int:
    """A time in seconds or as a timedelta. Returns whole milliseconds, as the functions of the schema take them."""
    seconds = seconds_of(name, value)
    if not least <= seconds <= most:
        raise ValueError(f"{name} must be from {least:g} to {most:g} seconds")
    return round(seconds * 1000)


def check_timeout(value: object) -> float | None:
    if value is None:
        return None
    seconds = seconds_of("timeout", value)
    if seconds < 0:
        raise ValueError("timeout must be at least 0 seconds: 0 checks once, None waits until it is completed")
    return None if math.isinf(seconds) else seconds


def check_expected(value: object, kind: Kind) -> Expected | Literal["any"] | None:
    refuse_awaitable("expected", value)
    if kind != "payment":
        if value is not None:
            raise TypeError(texts.EXPECTED_NOT_ALLOWED)
        return None
    if isinstance(value, str) and value == "any":
        return "any"
    if not isinstance(value, Expected):
        raise TypeError(
            "expected is required for kind payment: Expected(amount, currency) in minor units, or 'any' if any amount "
            "is accepted"
        )
    match: Match = check_choice("expected.match", value.match, MATCHES)
    if match == "checkout" and value.amount is None and value.currency is None:
        return Expected(match=match)
    return Expected(
        check_amount("expected.amount", value.amount), check_currency("expected.currency", value.currency), match
    )  # fmt: skip


def check_amount(name: str, value: object) -> int:
    refuse_awaitable(name, value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= SAFE_INTEGER:
        raise ValueError(f"{name} {texts.MUST_BE_MINOR_UNITS}")
    return value


def check_currency(name: str, value: object) -> str:
    refuse_awaitable(name, value)
    code = value.upper() if isinstance(value, str) else ""
    if not is_currency(code):
        raise ValueError(f"{name} {texts.MUST_BE_CURRENCY}")
    return code


def check_reference(value: object) -> str | None:
    return None if value is None else check_text("reference", value, 1, REFERENCE_MAX)


def check_reason(value: object) -> str:
    refuse_awaitable("reason", value)
    if not isinstance(value, str) or not _REASON.fullmatch(value):
        raise ValueError(texts.REASON_CODE)
    return value


def check_since(value: object) -> datetime | None:
    refuse_awaitable("since", value)
    if value is not None and (not isinstance(value, datetime) or value.tzinfo is None):
        raise TypeError("since must be a datetime with a time zone")
    return value


def check_tenant(value: object) -> str:
    refuse_awaitable("tenant", value)
    if not isinstance(value, str) or not _TENANT.fullmatch(value):
        raise ValueError(texts.TENANT_NAME)
    return value


def check_consumer(value: object) -> str:
    refuse_awaitable("consumer", value)
    if not isinstance(value, str) or not _CONSUMER.fullmatch(value):
        raise ValueError(texts.CONSUMER_NAME)
    return value


def check_function(name: str, value: object) -> None:
    refuse_awaitable(name, value)
    if value is not None and not callable(value):
        raise TypeError(f"{name} {texts.MUST_BE_FUNCTION}")


def check_flag(name: str, value: object) -> bool:
    refuse_awaitable(name, value)
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False")
    return value


def check_about(value: object) -> Mapping[str, Any] | None:
    refuse_awaitable("about", value)
    if value is not None and not isinstance(value, Mapping):
        raise TypeError("about must be a mapping")
    return value


def check_clients(value: object) -> tuple[ClientFacts, ...]:
    refuse_awaitable("clients", value)
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise TypeError("clients must be a sequence of ClientFacts")
    for facts in value:
        if not isinstance(facts, ClientFacts):
            raise TypeError("clients must be a sequence of ClientFacts")
        check_text(texts.CLIENT_NAME, facts.name, 1, NAME_MAX)
        if facts.round is not None:
            check_duration("the round of a client", facts.round, 0.001, 24 * 60 * 60)
        if facts.ask is not None:
            check_choice("the ask of a client", facts.ask, ("request", "error", "text"))
    return tuple(value)


def check_recheck(recheck: RecheckFunction | None, recheck_after: Duration) -> tuple[RecheckFunction | None, int]:
    """Of a claim."""
    check_function("recheck", recheck)
    return recheck, check_duration("recheck_after", recheck_after, 0, RECHECK_AFTER_MAX_S)


def check_rechecks(value: object) -> dict[str, RecheckFunction]:
    refuse_awaitable("rechecks", value)
    if not isinstance(value, Mapping):
        raise TypeError("rechecks must be a mapping with functions")
    for provider, recheck in value.items():
        if recheck is None:
            raise TypeError(f"rechecks[{provider!r}] {texts.MUST_BE_FUNCTION}")
        check_function(f"rechecks[{check_provider(provider)!r}]", recheck)
    return dict(value)


def check_descriptions(value: object) -> dict[str, str]:
    """Which shipped description an entry of the configuration has whose name is another one."""
    refuse_awaitable("descriptions", value)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError("descriptions must be a mapping: {entry: description}")
    for entry, description in value.items():
        check_provider(entry)
        if description not in DESCRIBED_KINDS:
            raise ValueError(f"descriptions[{entry!r}] {texts.DESCRIPTION_NAME}")
    return dict(value)


@dataclass(frozen=True)
class CheckedAnswer:
    action: Action
    reason: str
    text: bytes | None
    """the result as JSON"""
    amount: int | None
    currency: str | None
    reference: str | None


def check_answer(answer: Answer) -> CheckedAnswer:
    if not isinstance(answer, Answer):
        refuse_awaitable("the answer of recheck", answer)
        raise TypeError("the answer of recheck must be an Answer or None")
    return CheckedAnswer(
        action=check_choice("action", answer.action, ACTIONS),
        reason=check_reason(answer.reason),
        text=_result_json(answer.result),
        amount=None if answer.amount is None else check_amount("amount", answer.amount),
        currency=None if answer.currency is None else check_currency("currency", answer.currency),
        reference=check_reference(answer.reference),
    )


def _result_json(result: object) -> bytes | None:
    refuse_awaitable("result", result)
    if result is None:
        return None
    try:
        text = to_json(dict(result)) if isinstance(result, Mapping) else None
    except (TypeError, ValueError):
        text = None
    except RecursionError:
        raise ValueError("result is nested too deeply") from None
    if text is None:
        raise TypeError("result must be a mapping that can be written as JSON")
    if len(text) > RESULT_JSON_MAX:
        raise ValueError(texts.result_too_large(RESULT_JSON_MAX))
    return text


def _check_web_url(name: str, value: object) -> str:
    refuse_awaitable(name, value)
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str")
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(f"{name} {texts.MUST_BE_ABSOLUTE}") from None
    if not parts.scheme or not host or port == 0 or re.search(r"[\s\x00-\x1f\x7f\\<>\"{}|^`]", value):
        raise ValueError(f"{name} {texts.MUST_BE_ENCODED}")
    if parts.scheme != "https" and not (parts.scheme == "http" and host in _LOOPBACK):
        raise ValueError(f"{name} {texts.MUST_BE_HTTPS}")
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"{name} {texts.HAS_USER_NAME}")
    return value


def check_base_url(value: object) -> tuple[str, str]:
    """The origin, and its host and port."""
    url = _check_web_url("base_url", value)
    parts = urlsplit(url)
    if parts.path not in ("", "/") or "?" in url or "#" in url:
        raise ValueError(texts.BASE_URL_PARTS)
    host = parts.netloc.lower().removesuffix(":443" if parts.scheme == "https" else ":80")
    return f"{parts.scheme}://{host}", host


def check_target(value: object, kind: Kind) -> tuple[str, str | None]:
    """The target URL and the checkout of what `target_url` is, or has returned."""
    checkout = None
    if isinstance(value, Target):
        if kind != "payment":
            raise TypeError(texts.CHECKOUT_NOT_ALLOWED)
        checkout = check_text("checkout", value.checkout, 1, REFERENCE_MAX)
        value = value.url
    url = _check_web_url("target_url", value)
    if "#" in url:
        raise ValueError(texts.TARGET_URL_FRAGMENT)
    if kind == "oauth" and "state" in query_of(url):
        raise ValueError(texts.TARGET_URL_STATE)
    return _check_ascii(url), checkout


def query_of(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))


def add_parameters(url: str, parameters: Mapping[str, str]) -> str:
    """Adds to the query without changing the encoding of what it contains."""
    separator = "&" if urlsplit(url).query else "" if url.endswith("?") else "?"
    return _check_ascii(f"{url}{separator}{urlencode(parameters)}")


def _check_ascii(url: str) -> str:
    if not url.isascii():
        raise ValueError(texts.TARGET_URL_ASCII)
    if len(url) > TARGET_URL_MAX:
        raise ValueError(texts.TARGET_URL_TOO_LONG)
    return url
