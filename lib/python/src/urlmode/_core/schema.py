"""Checks values against the part of JSON Schema (2020-12) that is in lib/contract, and says where the first mistake is.
tests/vectors/schema-cases.json has cases for all languages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from . import contract_texts as texts

Rules = Mapping[str, Any]
Formats = Mapping[str, Callable[[Any], "str | None"]]
"""Each says what is wrong with a value."""


class Fault(NamedTuple):
    pointer: str
    """where it is (RFC 6901)"""
    must: str
    """the rest of a sentence about it"""


_TYPES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("a string", lambda value: isinstance(value, str)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "number": ("a number", lambda value: _is_number(value)),
    "integer": ("a whole number", lambda value: _is_number(value) and value == value // 1),
    "array": ("an array", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, dict)),
}


class Schema:
    def __init__(self, root: Rules, formats: Formats) -> None:
        self._root = root
        self._formats = formats

    def fault_in(self, name: str, value: object) -> Fault | None:
        """`name`: in `$defs`. `value`: such as JSON has."""
        return next(self._check(self.get(name), value, ""), None)

    def get(self, name: str) -> Rules:
        rules: Rules = self._root["$defs"][name]
        return rules

    def _resolve(self, rules: Rules) -> Rules:
        return self._resolve(self.get(rules["$ref"].removeprefix("#/$defs/"))) if "$ref" in rules else rules

    def _check(self, given: Rules, value: Any, pointer: str) -> Iterator[Fault]:
        rules = self._resolve(given)
        if "discriminator" in rules:
            yield from self._check_selected(rules, value, pointer)
            return
        if "anyOf" in rules:
            yield from self._check_any([self._resolve(one) for one in rules["anyOf"]], value, pointer)
        choices = rules.get("enum", [rules["const"]] if "const" in rules else None)
        if choices is not None and not any(type(value) is type(one) and value == one for one in choices):
            texts = ", ".join(str(one).lower() if isinstance(one, bool) else str(one) for one in choices)
            yield Fault(pointer, f"must be {'one of ' if len(choices) > 1 else ''}{texts}")
        word, is_type = _TYPES.get(rules.get("type", ""), ("", None))
        if is_type and not is_type(value):
            yield Fault(pointer, f"must be {word}{_range_of(rules)}")
        elif isinstance(value, str):
            yield from self._check_string(rules, value, pointer)
        elif _is_number(value):
            if value < rules.get("minimum", -math.inf) or value > rules.get("maximum", math.inf):
                yield Fault(pointer, f"must be {word}{_range_of(rules)}")
            yield from self._check_format(rules, value, pointer)
        elif isinstance(value, list):
            yield from self._check_array(rules, value, pointer)
        elif isinstance(value, dict):
            yield from self._check_members(rules, value, pointer)

    def _check_selected(self, rules: Rules, value: Any, pointer: str) -> Iterator[Fault]:
        """One member selects the rules."""
        if not isinstance(value, dict):
            yield Fault(pointer, texts.MUST_BE_OBJECT)
            return
        name = rules["discriminator"]["propertyName"]
        all_rules = {one["properties"][name]["const"]: one for one in map(self._resolve, rules["oneOf"])}
        selected = value.get(name)
        if not isinstance(selected, str) or selected not in all_rules:
            yield Fault(f"{pointer}/{name}", texts.must_be_one_of(", ".join(all_rules)))
        else:
            yield from self._check(all_rules[selected], value, pointer)

    def _check_any(self, branches: list[Rules], value: Any, pointer: str) -> Iterator[Fault]:
        """They have different types."""
        types = [_TYPES[branch["type"]] for branch in branches]
        fitting = next((one for one, (_, is_type) in zip(branches, types) if is_type(value)), None)
        if fitting is None:
            yield Fault(pointer, f"must be {' or '.join(word for word, _ in types)}")
        else:
            yield from self._check(fitting, value, pointer)

    def _check_string(self, rules: Rules, value: str, pointer: str) -> Iterator[Fault]:
        least, most = rules.get("minLength", 0), rules.get("maxLength", math.inf)
        if not least <= len(value) <= most:
            yield Fault(pointer, texts.MUST_NOT_BE_EMPTY if most == math.inf else texts.must_have_characters(least, most))
        if len(value.encode(errors="replace")) > rules.get("maxBytes", math.inf):
            yield Fault(pointer, texts.must_have_bytes_at_most(rules["maxBytes"]))
        yield from self._check_format(rules, value, pointer)

    def _check_format(self, rules: Rules, value: Any, pointer: str) -> Iterator[Fault]:
        must = self._formats[rules["format"]](value) if "format" in rules else None
        if must:
            yield Fault(pointer, must)

    def _check_array(self, rules: Rules, value: list[Any], pointer: str) -> Iterator[Fault]:
        least, most = rules.get("minItems", 0), rules.get("maxItems", math.inf)
        if not least <= len(value) <= most:
            yield Fault(pointer, texts.must_have_elements(least, most))
        for index, element in enumerate(value):
            yield from self._check(rules.get("items", {}), element, f"{pointer}/{index}")
        if "uniqueMember" in rules:
            name = rules["uniqueMember"]
            values = [element[name] for element in value]
            for index, one in enumerate(values):
                if one in values[:index]:
                    yield Fault(f"{pointer}/{index}/{name}", texts.MUST_NOT_OCCUR_TWICE)

    def _check_members(self, rules: Rules, value: dict[str, Any], pointer: str) -> Iterator[Fault]:
        properties: Rules = rules.get("properties", {})
        others, names = rules.get("additionalProperties", True), rules.get("propertyNames")
        more = sorted(name for name in value if name not in properties)
        allowed = self._resolve(names)["enum"] if names else list(properties)
        for name in more:
            if others is False or (names and name not in allowed):
                yield Fault(_at(pointer, name), texts.allowed_here(", ".join(allowed)))
        if len(value) < rules.get("minProperties", 0):
            yield Fault(pointer, texts.MUST_NOT_BE_EMPTY)
        for name, one in properties.items():
            if name in value:
                yield from self._check(one, value[name], _at(pointer, name))
            elif name in rules.get("required", ()):
                yield Fault(_at(pointer, name), "is missing")
        if isinstance(others, dict):
            for name in more:
                yield from self._check(others, value[name], _at(pointer, name))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _range_of(rules: Rules) -> str:
    """Of a number."""
    return f" from {rules['minimum']} to {rules['maximum']}" if "minimum" in rules else ""


def _at(pointer: str, name: str) -> str:
    return f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
