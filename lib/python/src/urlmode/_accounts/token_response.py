"""The answer of a token endpoint, as RFC 6749 section 5 says it, and what may be said aloud of one that is none."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl

from .._core.contract_limits import ACCOUNT_NAMES_MAX, TOKEN_LIFETIME_MAX_S
from .description import find_in
from .request import Answer, RequestFailed

# Whatever has a digit may be a code or a token.
_CODE = re.compile("[A-Za-z_-]{1,64}")
VARIABLES = "urlmode_variables"
"""The member of stored tokens that holds the variables of their description: only this package writes it."""


class NoTokens(RequestFailed):
    """The provider has answered without tokens. The message says what came instead, without a secret."""

    def __init__(
        self, detail: str, code: str | None = None, *, is_answer_lost: bool = False, status: int | None = None
    ) -> None:
        super().__init__(detail, is_answer_lost=is_answer_lost, status=status)
        self.code = code
        """of RFC 6749 section 5.2, if it is a refusal"""


def is_code(value: object) -> bool:
    return isinstance(value, str) and _CODE.fullmatch(value) is not None


def read_json(answer: Answer) -> Any:
    """None if it is no JSON."""
    try:
        return json.loads(answer.body, parse_float=_finite, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _finite(text: str) -> float | None:
    """A number that JSON can have, and that can be written again."""
    return number if math.isfinite(number := float(text)) else None


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def to_tokens(
    answer: Answer, rules: Mapping[str, Any], *, keeps_id_token: bool, otherwise: str = "invalid_response"
) -> dict[str, Any]:
    """The tokens. Raises NoTokens, which says `otherwise` where the provider says no code."""
    is_form = answer.content_type.startswith("application/x-www-form-urlencoded")
    content = dict(parse_qsl(answer.body.decode(errors="replace"))) if is_form else read_json(answer)
    detail = detail_of(answer, content, otherwise)
    is_ok = 200 <= answer.status < 300
    if not isinstance(content, dict):
        raise NoTokens(detail, is_answer_lost=is_ok, status=answer.status)
    inner = find_in(content, rules["member"]) if "member" in rules else None
    every = {**content}
    if isinstance(inner, dict):
        outer = {"outer": content} if content.get("access_token") is not None and "access_token" in inner else {}
        every = {**content, **inner, **outer}
    tokens = {name: value for name, value in every.items() if value is not None}
    if isinstance(tokens.get("scope"), list):
        tokens["scope"] = " ".join(map(str, tokens["scope"]))
    if "token_type" in rules:
        tokens["token_type"] = rules["token_type"]
    if not keeps_id_token:
        tokens.pop("id_token", None)
    tokens.pop(VARIABLES, None)
    error = tokens.get("error")
    is_refusal = 400 <= answer.status < 500 or is_ok and "access_token" not in tokens
    if isinstance(error, str) and is_refusal:
        raise NoTokens(detail, "invalid_grant" if error in rules.get("invalid_grant", ()) else error)
    kind = tokens.get("token_type")
    texts = [tokens.get("access_token"), tokens.get("refresh_token", "none")]
    if not is_ok or not all(isinstance(text, str) and text for text in texts):
        raise NoTokens(detail, is_answer_lost=is_ok, status=answer.status)
    if not isinstance(kind, str) or kind.lower() != "bearer" or not isinstance(tokens.get("scope", ""), str):
        raise NoTokens(detail, is_answer_lost=True)
    seconds = _expires_in(tokens, answer.date)
    return {**tokens, "token_type": "bearer", **({} if seconds is None else {"expires_in": seconds})}


def _expires_in(tokens: dict[str, Any], date: str) -> float | None:
    """In seconds. Some write the number as text, and Square says when the token expires. `date`: that of the answer."""
    said = tokens.pop("expires_in", None)
    try:
        if said is None:
            expires = datetime.fromisoformat(str(tokens["expires_at"]).replace("Z", "+00:00"))
            left = int(expires.timestamp() - _seconds_of(date))
            return left if left > 0 and is_lifetime(left) else None
        seconds = float(said)
    except (KeyError, ValueError, TypeError, OverflowError):
        return None
    if isinstance(said, bool) or not is_lifetime(seconds):
        return None
    return int(seconds) if seconds.is_integer() else seconds


def _seconds_of(date: str) -> float:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return time.time()


def is_lifetime(seconds: float) -> bool:
    """Whether a token may be valid for so long."""
    return 0 <= seconds <= TOKEN_LIFETIME_MAX_S


def detail_of(answer: Answer, content: Any, otherwise: str = "invalid_response") -> str:
    """The provider's code of an error, or what came instead of one."""
    error = content.get("error") if isinstance(content, dict) else None
    if is_code(error):
        return f"{error}, status {answer.status}"
    found = re.match("[a-z]+/[a-z.+-]{1,60}", answer.content_type)
    shape = found[0] if found else "no known type"
    names = [name for name in content if is_code(name)][:ACCOUNT_NAMES_MAX] if isinstance(content, dict) else []
    members = f" with {', '.join(names)}" if names else ""
    return f"{otherwise}, status {answer.status}, {shape}{members}"
