"""The forms of texts that have a name. lib/PROTOCOL.md says what each one is, and the callback programs take the same."""

from __future__ import annotations

import math
import re

from . import contract_texts as texts
from .contract_limits import DIGITS_MAX, FIELD_NAME_MAX, LINK_MAX
from .schema import Formats

FORMATS = {
    "digits": re.compile("[0-9]*"),
    "letters": re.compile("[A-Za-z]*"),
    "alphanumeric": re.compile("[0-9A-Za-z]*"),
    "hex": re.compile("[0-9A-Fa-f]*"),
    "token": re.compile("[!-~]*"),
}
"""The only characters that a text of one line has, if its field says so."""

_CONTROLS = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029]")
# They change the order in which other characters are shown.
_BIDI_CONTROLS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{FIELD_NAME_MAX - 1}}}")
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
# As HTML defines a valid e-mail address.
_EMAIL = re.compile(rf"[a-z0-9_.!#$%&'*+/=?^`{{|}}~-]+@{_LABEL}(?:\.{_LABEL})*", re.IGNORECASE | re.ASCII)
_URL = re.compile("https?://[^/?#:@ ][^ ]*", re.IGNORECASE | re.ASCII)
_LINK = re.compile(r"https://(\[[0-9A-Fa-f:.]*\]|[A-Za-z0-9_.~!$&'()*+,;=-]+)(?::([0-9]{0,5}))?(?:[/?#][!-~]*)?")
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}")
_GROUP = re.compile("[0-9A-Fa-f]{1,4}")
_NUMBERED = re.compile(r"(?:.*\.)?[0-9]+")


def is_link(text: str) -> bool:
    """The link of a field."""
    parts = _LINK.fullmatch(text) if len(text) <= LINK_MAX else None
    if parts is None or (parts[2] and not 1 <= int(parts[2]) <= 65_535):
        return False
    if parts[1].startswith("["):
        return _is_ipv6(parts[1][1:-1])
    name = parts[1].removesuffix(".")
    return name != "" and (not _NUMBERED.fullmatch(name) or _IPV4.fullmatch(name) is not None)


def _is_ipv6(text: str) -> bool:
    """RFC 3986 section 3.2.2."""
    before, *after = text.split("::")
    if not after:
        return _groups_of(before, is_end=True) == 8
    return len(after) == 1 and _groups_of(before, is_end=False) + _groups_of(after[0], is_end=True) <= 7


def _groups_of(text: str, *, is_end: bool) -> float:
    """`is_end`: it can end with an IPv4 address, which is two groups. Infinite if it is something else."""
    if text == "":
        return 0
    groups = text.split(":")
    if is_end and _IPV4.fullmatch(groups[-1]):
        groups[-1:] = "0", "0"
    return len(groups) if all(_GROUP.fullmatch(group) for group in groups) else math.inf


def _fault_in_text(text: str, allowed: str = "") -> str | None:
    """`allowed`: control characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return texts.MUST_BE_UNICODE
    if any(one not in allowed for one in _CONTROLS.findall(text)):
        return texts.HAS_CONTROLS
    return texts.HAS_DIRECTIONS if _BIDI_CONTROLS.search(text) else None


def _fault_in_trimmed(text: str) -> str | None:
    # The page trims what is sent.
    is_trimmed = not (text.startswith(" ") or text.endswith(" "))
    return _fault_in_text(text) or (None if is_trimmed else texts.MUST_BE_TRIMMED)


def _is_short(value: float) -> bool:
    """Whether it has few digits as ECMAScript writes it, and no exponent."""
    if value != 0 and not 1e-6 <= abs(value) < 10**DIGITS_MAX:
        return False
    return len(re.sub("[-.]", "", _decimal(value))) <= DIGITS_MAX


def _decimal(value: float) -> str:
    """The shortest text of a number, without an exponent."""
    if float(value).is_integer():
        return str(int(value))
    text = repr(value)
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    digits = mantissa.replace("-", "").replace(".", "")
    return f"0.{'0' * (-int(exponent) - 1)}{digits}"


def _unless(is_right: bool, must: str) -> str | None:
    return None if is_right else must


FORM_FORMATS: Formats = {
    "line": _fault_in_text,
    "lines": lambda text: _fault_in_text(text, "\n"),
    "text": lambda text: _fault_in_text(text, "\n\t"),
    "trimmed": _fault_in_trimmed,
    "name": lambda text: _unless(
        bool(_NAME.fullmatch(text)), texts.MUST_BE_FIELD_NAME
    ),
    "link": lambda text: _unless(
        is_link(text), texts.MUST_BE_LINK
    ),
    "email": lambda text: _unless(bool(_EMAIL.fullmatch(text)), texts.MUST_BE_EMAIL),
    "url": lambda text: (
        _fault_in_text(text) or _unless(bool(_URL.fullmatch(text)), texts.MUST_BE_URL)
    ),
    "short": lambda value: _unless(_is_short(value), texts.MUST_BE_SHORT),
}
"""The formats of lib/contract/form.schema.json: each says what is wrong with a value."""
