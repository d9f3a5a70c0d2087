"""The forms of texts that have a name. lib/PROTOCOL.md says what each one is, and the callback programs take the same."""

from __future__ import annotations

import math
import re

FORMATS = {
    "digits": re.compile("[0-9]*"),
    "letters": re.compile("[A-Za-z]*"),
    "alphanumeric": re.compile("[0-9A-Za-z]*"),
    "hex": re.compile("[0-9A-Fa-f]*"),
    "token": re.compile("[!-~]*"),
}
"""The only characters that a text of one line has, if its field says so."""

_LINK_MAX = 2_048
_LINK = re.compile(r"https://(\[[0-9A-Fa-f:.]*\]|[A-Za-z0-9_.~!$&'()*+,;=-]+)(?::([0-9]{0,5}))?(?:[/?#][!-~]*)?")
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}")
_GROUP = re.compile("[0-9A-Fa-f]{1,4}")
_NUMBERED = re.compile(r"(?:.*\.)?[0-9]+")


def is_link(text: str) -> bool:
    """The link of a field."""
    parts = _LINK.fullmatch(text) if len(text) <= _LINK_MAX else None
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
