"""The words of a form, in one language or in several, and its members."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ._input import refuse_awaitable

T = TypeVar("T")

LANGUAGES = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "pt", "zh")
"""The languages of the pages: lib/pages has a file for each."""

CONTROLS = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029]")
CONTROLS_BUT_LF = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")
CONTROLS_BUT_LF_AND_TAB = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
# They change the order in which other characters are shown.
_BIDI_CONTROLS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def wrong(pointer: str, must: str) -> ValueError:
    """`pointer`: of the value in the form (RFC 6901). `must`: what it must be."""
    return ValueError(f"form{pointer} {must}")


def check_members(value: object, pointer: str, names: Sequence[str]) -> dict[str, Any]:
    """A mapping whose members are known."""
    refuse_awaitable(f"form{pointer}", value)
    if not isinstance(value, Mapping):
        raise wrong(pointer, "must be an object: a dict, or another mapping")
    for name in value:
        if name not in names:
            escaped = str(name).replace("~", "~0").replace("/", "~1")
            raise wrong(f"{pointer}/{escaped}", f"is not known here. Allowed are {', '.join(names)}")
    return dict(value)


def check_list(value: object, pointer: str, least: int, most: int, check: Callable[[object, str], T]) -> list[T]:
    refuse_awaitable(f"form{pointer}", value)
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or not least <= len(value) <= most:
        raise wrong(pointer, f"must be a list of {least} to {most} elements")
    return [check(element, f"{pointer}/{index}") for index, element in enumerate(value)]


def check_language(value: object, pointer: str) -> str:
    if not isinstance(value, str) or value not in LANGUAGES:
        raise wrong(pointer, f"must be one of {', '.join(LANGUAGES)}")
    return value


def check_words(value: object, pointer: str, most: int, *, lines: bool = False) -> str | dict[str, str]:
    """`most`: characters (code points). `lines`: whether it may have several."""
    refuse_awaitable(f"form{pointer}", value)
    if isinstance(value, str):
        return _check_text(value, pointer, most, lines)
    if not isinstance(value, Mapping):
        raise wrong(pointer, "must be a text, or an object with a text for each language")
    unknown = next((language for language in value if language not in LANGUAGES), None)
    if unknown is not None:
        raise wrong(pointer, f"has a text in “{unknown}”. The pages have the languages {', '.join(LANGUAGES)}")
    if not value:
        raise wrong(pointer, "must have a text in at least one language")
    return {language: _check_text(text, f"{pointer}/{language}", most, lines) for language, text in value.items()}


def _check_text(value: object, pointer: str, most: int, lines: bool) -> str:
    refuse_awaitable(f"form{pointer}", value)
    if not isinstance(value, str):
        raise wrong(pointer, "must be a str")
    if not 1 <= len(value) <= most:
        raise wrong(pointer, f"must have 1 to {most} characters")
    return check_characters(value, pointer, CONTROLS_BUT_LF if lines else CONTROLS)


def check_characters(value: str, pointer: str, controls: re.Pattern[str] = CONTROLS) -> str:
    """`controls`: those that are not allowed."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise wrong(pointer, "must be valid Unicode text") from None
    if controls.search(value):
        raise wrong(pointer, "must not have control characters")
    if _BIDI_CONTROLS.search(value):
        raise wrong(pointer, "must not have characters that change the direction of text")
    return value
