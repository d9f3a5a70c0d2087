"""What a call asks for, as one digest (lib/PROTOCOL.md, "What a call asks for").

A later call goes on with an earlier elicitation only if both ask for the same.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

from . import contract_texts as texts
from .contract_limits import SAFE_INTEGER
from .contract_seals import CLIENT_LABEL, DIGEST_BYTES, REQUEST_LABEL
from .keys import encode_base64url
from .money_types import Expected



def canonical_json(value: Any) -> str:
    """JSON in the canonical form of RFC 8785. None is null, and is kept."""
    if isinstance(value, Mapping):
        members = sorted(value.items(), key=lambda item: _name(item[0]).encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_text(name)}:{canonical_json(member)}" for name, member in members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return _number(value)
    raise TypeError(f"about must be plain JSON, without a {type(value).__name__}")


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("the names of the members of about must be strings")
    return value


def _text(value: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(texts.ABOUT_SURROGATE)
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """As ECMAScript writes a number (RFC 8785 section 3.2.2.3)."""
    try:
        is_exact = not isinstance(value, int) or abs(value) <= SAFE_INTEGER or int(float(value)) == value
    except OverflowError:
        is_exact = False
    if not is_exact or not math.isfinite(value):
        raise ValueError("a number of about must be finite, and one that a float holds exactly")
    if value == 0:
        return "0"
    sign, numbers, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    digits = "".join(map(str, numbers))
    point = len(digits) + int(exponent)
    if point > 21 or point <= -6:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{rest}e{point - 1:+d}"
    elif point <= 0:
        text = f"0.{'0' * -point}{digits}"
    elif point < len(digits):
        text = f"{digits[:point]}.{digits[point:]}"
    else:
        text = digits.ljust(point, "0")
    return f"-{text}" if sign else text


def digest_of_client(name: str | None, version: str | None) -> bytes:
    """Of what an MCP client says of itself, which may be no valid Unicode."""
    text = f"{CLIENT_LABEL}\0{name or ''}\0{version or ''}".encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES]


def default_resume_key(provider: str, kind: str, message: str, expected: Expected | Literal["any"] | None) -> str:
    """The resume key by which a call that gives none goes on with what an earlier one has started.

    What else it asks for is compared beside it. A payment or signature is found by its item, and by this key, which is
    made of its message and price, where an older package has created it.
    """
    if kind not in ("payment", "signature"):
        return f"{provider} {kind}"
    price: list[Any] = [None, None]
    if isinstance(expected, Expected):
        price = [expected.amount, expected.currency]
    elif expected == "any":
        price = ["any"]
    digest = hashlib.sha256(canonical_json([message, *price]).encode()).digest()
    return f"{provider} {kind} {encode_base64url(digest)}"


def digest_of_request(
    *, provider: str, kind: str, expected: Expected | Literal["any"] | None, about: Mapping[str, Any] | None,
    mcp_client: str | None = None, item: str | None = None,
) -> bytes:
    """16 bytes. `mcp_client` is the id of the MCP client, where it is compared. `item` takes the place of the price."""
    price = expected.members() if isinstance(expected, Expected) else expected
    what = {"expected": price} if item is None else {"item": item}
    members = {"provider": provider, "kind": kind, **what, "about": about, "mcp_client": mcp_client}
    asked = {name: member for name, member in members.items() if member is not None}
    try:
        text = canonical_json(asked)
    except RecursionError:
        raise ValueError(texts.ABOUT_TOO_DEEP) from None
    return hashlib.sha256(f"{REQUEST_LABEL}\0{text}".encode()).digest()[:DIGEST_BYTES]
