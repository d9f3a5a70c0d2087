"""The answer of a token endpoint, as RFC 6749 section 5 says it, and what may be said aloud of one that is none."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from .._core.contract_limits import ACCOUNT_CODE_MAX, ACCOUNT_NAMES_MAX, TOKEN_LIFETIME_MAX_S
from .description import find_in
from .request import Answer, RequestFailed, is_ok, seconds_of

# Whatever has a digit may be a code or a token.
CODE = re.compile(rf"[A-Za-z_-]{{1,{ACCOUNT_CODE_MAX}}}")
# No token has a control character (RFC 6749 appendix A.12), and what stands for bytes that are no UTF-8 was not in it: a line
# end could begin another header where the token is used.
_UNUSABLE = re.compile("[\x00-\x1f\x7f\ufffd]")
_SECONDS = re.compile(r" *[0-9]+(\.[0-9]+)? *")
_HALF = re.compile("[\ud800-\udfff]")
VARIABLES = "urlmode_variables"
"""The member of stored tokens that holds the variables of their description: only this package writes it."""


class NoTokens(RequestFailed):
    """The provider has answered without tokens. The message says what came instead, without a secret."""

    def __init__(self, detail: str, answer: Answer, code: str | None = None) -> None:
        super().__init__(detail, lost=answer.lost if code is None else None, retry_after_ms=answer.retry_after_ms)
        self.code = code
        """of RFC 6749 section 5.2, if it is a refusal"""


def unusable_of(tokens: Mapping[str, Any]) -> str | None:
    """The member with a token that cannot be used."""
    names = ("access_token", "refresh_token")
    return next((name for name in names if _UNUSABLE.search(str(tokens.get(name, "")))), None)


def is_code(value: object) -> bool:
    return isinstance(value, str) and CODE.fullmatch(value) is not None


def read_json(answer: Answer) -> Any:
    """None if it is no JSON. Bytes that are no UTF-8, and half of a surrogate pair, are replaced, as in other languages."""
    text = answer.body.decode(errors="replace").removeprefix("\ufeff")
    try:
        return _well_formed(json.loads(text, parse_float=_finite, parse_constant=_refuse))
    except (ValueError, RecursionError):
        return None


def _well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, list):
        return [_well_formed(each) for each in value]
    if isinstance(value, dict):
        return {_HALF.sub("\ufffd", name): _well_formed(each) for name, each in value.items()}
    return value


def _finite(text: str) -> float | None:
    """A number that JSON can have, and that can be written again."""
    return number if math.isfinite(number := float(text)) else None


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def to_tokens(
    answer: Answer, rules: Mapping[str, Any], *, keeps_id_token: bool, otherwise: str = "invalid_response"
) -> dict[str, Any]:
    """The tokens. Raises NoTokens, which says `otherwise` where the provider says no code."""
    is_form = answer.content_type.lower().startswith("application/x-www-form-urlencoded")
    content = dict(parse_qsl(answer.body.decode(errors="replace"))) if is_form else read_json(answer)
    detail = detail_of(answer, content, otherwise)
    if not isinstance(content, dict):
        raise NoTokens(detail, answer)
    inner = find_in(content, rules["member"]) if "member" in rules else None
    every = {**content}
    if isinstance(inner, dict):
        outer = {"outer": content} if content.get("access_token") is not None and "access_token" in inner else {}
        every = {**content, **inner, **outer}
    tokens = {name: value for name, value in every.items() if value is not None}
    if isinstance(tokens.get("scope"), list):
        tokens["scope"] = " ".join(scope for scope in tokens["scope"] if isinstance(scope, str))
    if "token_type" in rules:
        tokens["token_type"] = rules["token_type"]
    if not keeps_id_token:
        tokens.pop("id_token", None)
    tokens.pop(VARIABLES, None)
    error = tokens.get("error")
    is_refusal = 400 <= answer.status < 500 and answer.status != 408 or is_ok(answer.status) and "access_token" not in tokens
    if isinstance(error, str) and error and is_refusal:
        raise NoTokens(detail, answer, "invalid_grant" if error in rules.get("invalid_grant", ()) else error)
    kind = tokens.get("token_type")
    texts = [tokens.get("access_token"), tokens.get("refresh_token", "none")]
    if not is_ok(answer.status) or not all(isinstance(text, str) and text for text in texts) or unusable_of(tokens) is not None:
        raise NoTokens(detail, answer)
    if not isinstance(kind, str) or kind.lower() != "bearer" or not isinstance(tokens.get("scope", ""), str):
        raise NoTokens(detail, answer)
    seconds = _expires_in(tokens, answer.date)
    return {**tokens, "token_type": "bearer", **({} if seconds is None else {"expires_in": seconds})}


def _expires_in(tokens: dict[str, Any], date: str) -> float | None:
    """In seconds. Some write the number as text, and Square says when the token expires. `date`: that of the answer."""
    said = tokens.pop("expires_in", None)
    try:
        if said is None:
            expires = datetime.fromisoformat(str(tokens["expires_at"]).replace("Z", "+00:00"))
            left = int(expires.timestamp() - seconds_of(date))
            return left if left > 0 and is_lifetime(left) else None
        if isinstance(said, str) and not _SECONDS.fullmatch(said):
            return None
        seconds = float(said)
    except (KeyError, ValueError, TypeError, OverflowError):
        return None
    if isinstance(said, bool) or not is_lifetime(seconds):
        return None
    return int(seconds) if seconds.is_integer() else seconds


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
