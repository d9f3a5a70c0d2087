"""One field of a form."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from ._formats import FORMATS, is_link
from ._words import CONTROLS, CONTROLS_BUT_LF_AND_TAB, check_characters, check_list, check_members, check_words, wrong

NAME = re.compile("[a-z][a-z0-9_]{0,31}")
"""A name of a field."""
LABEL_MAX = 200
HELP_MAX = 500
_LINK_URL_MAX = 2_048
_LINK_LABEL_MAX = 120
_CHOICES_MAX = 20
_CHOICE_BYTES_MAX = 200
_DIGITS_MAX = 15

# As HTML defines a valid e-mail address, and as the callback programs take it.
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_EMAIL = re.compile(rf"[a-z0-9_.!#$%&'*+/=?^`{{|}}~-]+@{_LABEL}(?:\.{_LABEL})*", re.IGNORECASE | re.ASCII)
# As the callback programs take it.
_URL_VALUE = re.compile("https?://[^/?#:@ ][^ ]*", re.IGNORECASE | re.ASCII)
# What String.prototype.trim of JavaScript removes, as the callback programs do.
_SPACES = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\ufeff"

_COMMON = ("name", "type", "label", "help", "link", "required")


class _Facts(NamedTuple):
    """What a type has beside the common members, and for a text the greatest length and that by default."""

    members: tuple[str, ...]
    longest: int = 0
    usual: int = 0


_TYPES = {
    "text": _Facts(("min", "max", "format", "default"), 8_192, 1_000),
    "secret": _Facts(("min", "max", "format", "multiline"), 8_192, 1_000),
    "multiline": _Facts(("min", "max", "default"), 8_192, 8_192),
    "email": _Facts(("min", "max", "default"), 254, 254),
    "url": _Facts(("min", "max", "default"), 2_048, 2_048),
    "number": _Facts(("min", "max", "default")),
    "choice": _Facts(("choices", "default")),
    "checkbox": _Facts(("default",)),
}
_ALL = tuple(dict.fromkeys((*_COMMON, *(member for facts in _TYPES.values() for member in facts.members))))


def check_field(value: object, pointer: str) -> dict[str, Any]:
    field = check_members(value, pointer, _ALL)
    name, type = field.get("name"), field.get("type")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise wrong(f"{pointer}/name", "must begin with a letter and have at most 32 characters of a-z, 0-9 and _")
    facts = _TYPES.get(type) if isinstance(type, str) else None
    if facts is None:
        raise wrong(f"{pointer}/type", f"must be one of {', '.join(_TYPES)}")
    if type == "secret" and "default" in field:
        raise wrong(f"{pointer}/default", "is not allowed: a secret has no default")
    for member in field:
        if member not in _COMMON and member not in facts.members:
            raise wrong(f"{pointer}/{member}", f"is not allowed for type {type}")
    if not isinstance(field.get("required", False), bool):
        raise wrong(f"{pointer}/required", "must be True or False")
    if field.get("required") is False:
        del field["required"]  # Calls that ask for the same have the same form.
    if field.get("multiline", True) is not True:
        raise wrong(f"{pointer}/multiline", "must be True or left out")
    field["label"] = check_words(field.get("label"), f"{pointer}/label", LABEL_MAX)
    if "help" in field:
        field["help"] = check_words(field["help"], f"{pointer}/help", HELP_MAX, lines=True)
    if "link" in field:
        field["link"] = _check_link(field["link"], f"{pointer}/link")
    if facts.longest:
        _check_text_field(field, pointer, facts)
    elif type == "number":
        _check_number_field(field, pointer)
    elif type == "choice":
        _check_choice_field(field, pointer)
    elif not isinstance(field.get("default", False), bool):
        raise wrong(f"{pointer}/default", "must be True or False")
    return field


def _check_link(value: object, pointer: str) -> dict[str, Any]:
    link = check_members(value, pointer, ("url", "label"))
    url = link.get("url")
    if not isinstance(url, str) or not is_link(url):
        raise wrong(
            f"{pointer}/url", f"must be a URL with https, without a user name, of at most {_LINK_URL_MAX} bytes"
        )
    return {"url": url, "label": check_words(link.get("label"), f"{pointer}/label", _LINK_LABEL_MAX)}


def _check_text_field(field: dict[str, Any], pointer: str, facts: _Facts) -> None:
    is_multiline = field["type"] == "multiline" or "multiline" in field
    for name in ("min", "max"):
        if name in field:
            field[name] = _whole(field[name])
            if field[name] is None or not 0 <= field[name] <= facts.longest:
                raise wrong(f"{pointer}/{name}", f"must be a whole number from 0 to {facts.longest}")
    least = field.get("min", 0)
    most = field.get("max", facts.longest if is_multiline else facts.usual)
    if least > most:
        raise wrong(f"{pointer}/max", f"must not be less than min: it is {most}")
    if most == 0:
        raise wrong(f"{pointer}/max", "must be at least 1")
    if "format" in field:
        if is_multiline:
            raise wrong(f"{pointer}/format", "is not allowed for several lines")
        if not isinstance(field["format"], str) or field["format"] not in FORMATS:
            raise wrong(f"{pointer}/format", f"must be one of {', '.join(FORMATS)}")
    if "default" in field:
        fault = _fault_in_default(field["default"], field["type"], least, most, field.get("format"))
        if fault:
            raise wrong(f"{pointer}/default", fault)
        controls = CONTROLS_BUT_LF_AND_TAB if is_multiline else CONTROLS
        check_characters(field["default"], f"{pointer}/default", controls)


def _fault_in_default(
    value: object, type: str, least: int, most: int, format: str | None
) -> str | None:
    if not isinstance(value, str) or value == "":
        return "must be a str that is not empty"
    if not least <= len(value) <= most:
        return f"must have {least} to {most} characters, as the field says"
    if type != "multiline" and value.strip(_SPACES) != value:
        return "must not begin or end with a space"
    if type == "email" and not _EMAIL.fullmatch(value):
        return "must be an email address"
    if type == "url" and not _URL_VALUE.fullmatch(value):
        return "must be a URL with https or http"
    if format and not FORMATS[format].fullmatch(value):
        return f"must have the format {format}"
    return None


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not float(value).is_integer():
        return None
    return int(value)


def _check_number_field(field: dict[str, Any], pointer: str) -> None:
    for name in ("min", "max", "default"):
        if name not in field:
            continue
        if not _is_short_number(field[name]):
            raise wrong(f"{pointer}/{name}", f"must be a number of at most {_DIGITS_MAX} digits")
        whole = _whole(field[name])
        field[name] = field[name] if whole is None else whole
    least, most = field.get("min", -math.inf), field.get("max", math.inf)
    if least > most:
        raise wrong(f"{pointer}/max", "must not be less than min")
    if not least <= field.get("default", least) <= most:
        raise wrong(f"{pointer}/default", "must be from min to max")


def _is_short_number(value: object) -> bool:
    """Whether it has few digits as ECMAScript writes it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return False
    if value == 0:
        return True
    if not 1e-6 <= abs(value) < 10**_DIGITS_MAX:
        return False
    whole = _whole(value)
    digits = _decimal(float(value)) if whole is None else str(whole)
    return len(re.sub("[-.]", "", digits)) <= _DIGITS_MAX


def _decimal(value: float) -> str:
    """The shortest text of a number, without an exponent."""
    text = repr(value)
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    digits = mantissa.replace("-", "").replace(".", "")
    return f"0.{'0' * (-int(exponent) - 1)}{digits}"


def _check_choice_field(field: dict[str, Any], pointer: str) -> None:
    values: set[str] = set()

    def check_choice(choice: object, at: str) -> dict[str, Any]:
        members = check_members(choice, at, ("value", "label"))
        value = members.get("value")
        if not isinstance(value, str) or not 1 <= len(value.encode(errors="replace")) <= _CHOICE_BYTES_MAX:
            raise wrong(f"{at}/value", f"must be a str of 1 to {_CHOICE_BYTES_MAX} bytes")
        # The page trims what is sent.
        if value.startswith(" ") or value.endswith(" "):
            raise wrong(f"{at}/value", "must not begin or end with a space")
        check_characters(value, f"{at}/value")
        if value in values:
            raise wrong(f"{at}/value", "must not occur twice")
        values.add(value)
        return {"value": value, "label": check_words(members.get("label"), f"{at}/label", LABEL_MAX)}

    field["choices"] = check_list(field.get("choices"), f"{pointer}/choices", 1, _CHOICES_MAX, check_choice)
    if "default" in field and not (isinstance(field["default"], str) and field["default"] in values):
        raise wrong(f"{pointer}/default", "must be one of the choices")
