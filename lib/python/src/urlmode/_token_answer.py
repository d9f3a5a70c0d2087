"""The answer of a token endpoint, as RFC 6749 section 5 says it, and what may be said aloud of one that is none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from ._http import Answer
from ._not_connected import NotConnected
from ._oauth_description import find_in

_NAMES_MAX = 8
# Whatever has a digit may be a code or a token.
_CODE = re.compile("[A-Za-z_-]{1,64}")


def is_code(value: object) -> bool:
    return isinstance(value, str) and _CODE.fullmatch(value) is not None


def read_json(answer: Answer) -> Any:
    """None if it is no JSON."""
    try:
        return json.loads(answer.body)
    except ValueError:
        return None


def to_tokens(answer: Answer, rules: Mapping[str, Any], *, keeps_id_token: bool) -> dict[str, Any]:
    """The tokens. Raises NotConnected."""
    is_form = answer.content_type.startswith("application/x-www-form-urlencoded")
    content = dict(parse_qsl(answer.body.decode(errors="replace"))) if is_form else read_json(answer)
    detail = _detail_of(answer, content)
    if not isinstance(content, dict):
        raise NotConnected("exchange_failed", detail)
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
    tokens.pop("urlmode_variables", None)
    is_ok = 200 <= answer.status < 300
    if isinstance(tokens.get("error"), str) and (not is_ok or "access_token" not in tokens):
        raise NotConnected("exchange_failed" if answer.status >= 500 else "exchange_refused", detail)
    kind = tokens.get("token_type")
    if not is_ok or not isinstance(tokens.get("access_token"), str) or not tokens["access_token"]:
        raise NotConnected("exchange_failed", detail)
    if not isinstance(kind, str) or kind.lower() != "bearer" or not isinstance(tokens.get("scope", ""), str):
        raise NotConnected("exchange_failed", detail)
    return {**tokens, "token_type": "bearer"}


def _detail_of(answer: Answer, content: Any) -> str:
    """The provider's code of an error, or what came instead of one."""
    error = content.get("error") if isinstance(content, dict) else None
    if is_code(error):
        return f"{error}, status {answer.status}"
    found = re.match("[a-z]+/[a-z.+-]{1,60}", answer.content_type)
    shape = found[0] if found else "no known type"
    names = [name for name in content if is_code(name)][:_NAMES_MAX] if isinstance(content, dict) else []
    members = f" with {', '.join(names)}" if names else ""
    return f"invalid_response, status {answer.status}, {shape}{members}"
