"""What a page of kind input or approval asks: checked here, with an error that names the place of each mistake, and again
by the callback programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from . import contract_texts as texts
from .arguments import check_text, refuse_awaitable
from .contract_limits import APPROVERS_MAX, SUBJECT_MAX
from .contract_words import FormKind
from .form_types import Problem
from .formats import FORM_FORMATS, FORMATS
from .schema import Fault, Schema
from .seal import to_json
from .shipped import shipped_file

_DOCUMENT: dict[str, Any] = json.loads(shipped_file("contract/form.schema.json").read_text("utf-8"))
_SCHEMA = Schema(_DOCUMENT, FORM_FORMATS)


def check_form(kind: FormKind, value: object, **more: object) -> dict[str, Any]:
    """Raises a ValueError that begins with the JSON pointer of the mistake: `form/fields/0/label must …`.

    `more` are members of it that are options of their own, None where there is none.
    """
    if isinstance(value, Mapping):
        value = {**value, **{name: member for name, member in more.items() if member is not None}}
    form = _plain(value, "")
    fault = _SCHEMA.fault_in(kind, form) or _fault_in_fields(form.get("fields", ()))
    if fault:
        raise ValueError(f"form{fault.pointer} {fault.must}")
    # Calls that ask for the same have the same form, without members that say nothing.
    if form.get("facts") == []:
        del form["facts"]
    for field in form.get("fields", ()):
        if field.get("required") is False:
            del field["required"]
    size, most = len(to_json(form)), _DOCUMENT["maxBytes"]
    if size > most:
        raise ValueError(texts.form_too_large(most, size))
    return form  # type: ignore[no-any-return]


def _plain(value: object, pointer: str) -> Any:
    """A copy such as JSON has: a whole number is an int."""
    refuse_awaitable(f"form{pointer}", value)
    if isinstance(value, Mapping):
        return {str(name): _plain(member, f"{pointer}/{name}") for name, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_plain(element, f"{pointer}/{index}") for index, element in enumerate(value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _fault_in_fields(fields: Sequence[Mapping[str, Any]]) -> Fault | None:
    """Where the members of a field do not fit together."""
    for index, field in enumerate(fields):
        check = {"choice": _fault_in_choice, "number": _fault_in_number}.get(field["type"], _fault_in_text)
        fault = check(field)
        if fault:
            return Fault(f"/fields/{index}/{fault[0]}", fault[1])
    return None


def _fault_in_choice(field: Mapping[str, Any]) -> tuple[str, str] | None:
    """The member, and what it must be."""
    values = [choice["value"] for choice in field["choices"]]
    return ("default", texts.MUST_BE_CHOICE) if field.get("default", values[0]) not in values else None


def _fault_in_number(field: Mapping[str, Any]) -> tuple[str, str] | None:
    least, most = field.get("min", -math.inf), field.get("max", math.inf)
    if least > most:
        return "max", texts.MAX_BELOW_MIN
    return None if least <= field.get("default", least) <= most else ("default", texts.MUST_BE_IN_RANGE)


def _fault_in_text(field: Mapping[str, Any]) -> tuple[str, str] | None:
    bounds = _SCHEMA.get(field["type"])["properties"].get("max")
    if bounds is None:
        return None
    given, format = field.get("default"), field.get("format")
    least, most = field.get("min", 0), field.get("max", bounds["maximum" if "multiline" in field else "default"])
    if least > most:
        return "max", texts.usual_max_below_min(most)
    if format and "multiline" in field:
        return "format", texts.NOT_FOR_LINES
    if given is not None and not least <= len(given) <= most:
        return "default", texts.must_have_length(least, most)
    if given is not None and format and not FORMATS[format].fullmatch(given):
        return "default", texts.must_have_format(format)
    return None


def check_approver(value: object) -> list[str] | None:
    """None: the starter. Empty: anybody else."""
    refuse_awaitable("approver", value)
    if value == "starter":
        return None
    if value == "others":
        return []
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or not 1 <= len(value) <= APPROVERS_MAX:
        raise ValueError(f"approver must be starter, others, or a list of 1 to {APPROVERS_MAX} subjects")
    approvers = [check_text("each approver", subject, 1, SUBJECT_MAX) for subject in value]
    if len(set(approvers)) < len(approvers):
        raise ValueError(texts.APPROVER_TWICE)
    return approvers


def check_problem(value: object) -> dict[str, Any] | None:
    """What `verify` has returned about the values. No error has a value of the user."""
    refuse_awaitable("what verify returns", value)
    if value is None:
        return None
    if not isinstance(value, Problem):
        raise TypeError("verify must return None or a Problem")
    problem = _plain({"field": value.field, "problem": value.problem}, "")
    fault = _SCHEMA.fault_in("problem", problem)
    if fault:
        _, member, *_ = fault.pointer.split("/")
        raise ValueError(f"the {member} of a Problem {fault.must}")
    most = _SCHEMA.get("problem")["maxBytes"]
    if len(to_json(problem)) > most:
        raise ValueError(texts.problem_too_large(most))
    return problem  # type: ignore[no-any-return]
