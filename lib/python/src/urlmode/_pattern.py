"""The patterns of fields: a subset of JavaScript's regular expressions that is matched in a time proportional to the
value (lib/PROTOCOL.md). The whole value must match.

    pattern   sequence { "|" sequence }
    sequence  item [ count ] { item [ count ] }
    item      literal, escaped punctuation or class
    class     "[" character [ "-" character ] … "]"
    count     "?", "*", "+", "{n}", "{n,}" or "{n,m}"
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

_PATTERN_MAX = 200
_COUNT_MAX = 255
_POSITIONS_MAX = 256

_PRINTABLE = re.compile("[ -~]*")
_LITERAL = re.compile(r"([^\\.*+?()\[\]{}|^$])")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CLASS = re.compile(r"\[((?:[^\\\[\]^]|\\[\\\]\[^-])+)\]")
_CLASS_MEMBER = re.compile(r"(\\?.)(?:-(\\?.))?", re.DOTALL)
_COUNT = re.compile(r"[?*+]|\{(\d{1,3})(?:(,)(\d{1,3})?)?\}")

Ranges = list[tuple[str, str]]


class Item(NamedTuple):
    ranges: Ranges
    least: int
    most: float
    """math.inf: any number"""


class PatternFault(ValueError):
    """What is wrong with a pattern, as the end of a sentence."""


def parse_pattern(pattern: str) -> list[list[Item]]:
    """Its sequences."""
    if not 1 <= len(pattern) <= _PATTERN_MAX or not _PRINTABLE.fullmatch(pattern):
        raise PatternFault(f"must have 1 to {_PATTERN_MAX} printable characters of ASCII")
    sequences: list[list[Item]] = [[]]
    at = 0
    while at < len(pattern):
        if pattern[at] == "|" and sequences[-1]:
            sequences.append([])
            at += 1
            continue
        members = _CLASS.match(pattern, at)
        one = members or _LITERAL.match(pattern, at) or _ESCAPED.match(pattern, at)
        ranges = None if one is None else _ranges_of(one[1]) if members else [(one[1], one[1])]
        if one is None or ranges is None:
            raise _fault_at(at)
        count = _COUNT.match(pattern, one.end())
        bounds = _bounds_of(count)
        if bounds is None:
            raise _fault_at(one.end())
        sequences[-1].append(Item(ranges, *bounds))
        at = count.end() if count else one.end()
    if not sequences[-1]:
        raise _fault_at(len(pattern) - 1)
    items = [item for sequence in sequences for item in sequence]
    if sum(max(item.least, 1) if math.isinf(item.most) else item.most for item in items) > _POSITIONS_MAX:
        raise PatternFault(f"must have at most {_POSITIONS_MAX} positions, counted with their greatest count")
    return sequences


def matches(sequences: list[list[Item]], value: str) -> bool:
    return any(_matches_one(items, value) for items in sequences)


def _matches_one(items: list[Item], value: str) -> bool:
    """Follows all ways through the sequence at the same time."""
    states: dict[int, set[int]] = {}  # how many characters each item has taken, by its place
    _reach(items, states, 0, 0)
    for character in value:
        following: dict[int, set[int]] = {}
        for place, counts in states.items():
            if place == len(items) or not any(first <= character <= last for first, last in items[place].ranges):
                continue
            item = items[place]
            # From its least count on, an item without a greatest one is always in the same state.
            for count in counts:
                _reach(items, following, place, min(count + 1, item.least) if math.isinf(item.most) else count + 1)
        states = following
    return len(items) in states


def _reach(items: list[Item], states: dict[int, set[int]], place: int, count: int) -> None:
    """Adds a state, and those that it reaches without a character."""
    while True:
        counts = states.setdefault(place, set())
        if count in counts:
            return
        item = items[place] if place < len(items) else None
        if item is None or count < item.most:
            counts.add(count)
        if item is None or count < item.least:
            return
        place, count = place + 1, 0


def _fault_at(at: int) -> PatternFault:
    return PatternFault(f"is not of the allowed kind from character {at + 1} on: no groups, “.”, “^”, “$” or “\\d”")


def _ranges_of(members: str) -> Ranges | None:
    """`members`: of a class, between the brackets. None: it is not allowed."""
    ranges: Ranges = []
    at = 0
    while at < len(members):
        member = _CLASS_MEMBER.match(members, at)
        assert member is not None
        first, last = member[1], member[2]
        is_edge = at == 0 or at + 1 == len(members)
        # An unescaped hyphen stands for itself, and only at the beginning or end.
        if last == "-" or (first == "-" and (not is_edge or last is not None)):
            return None
        lowest, highest = first[-1], (last or first)[-1]
        if lowest > highest:
            return None
        ranges.append((lowest, highest))
        at = member.end()
    return ranges


def _bounds_of(count: re.Match[str] | None) -> tuple[int, float] | None:
    """None: it is not allowed."""
    if count is None:
        return 1, 1
    n, comma, m = count.groups()
    if n is None:
        return (1 if count[0] == "+" else 0), (1 if count[0] == "?" else math.inf)
    least = int(n)
    most = math.inf if comma and m is None else int(m or n)
    return (least, most) if least <= _COUNT_MAX and max(least, 1) <= most and (
        most <= _COUNT_MAX or math.isinf(most)) else None  # fmt: skip
