"""What a page of kind input or approval asks: checked here, with an error that names the place of each mistake, and again
by the callback programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ._field import HELP_MAX, NAME, check_field
from ._form_types import Problem
from ._input import check_text, refuse_awaitable
from ._seal import to_json
from ._words import check_language, check_list, check_members, check_words, wrong

FORM_MAX = 16_384
"""The largest form as JSON, in bytes."""
_PROBLEM_MAX = 8_192
_TITLE_MAX = 120
_TEXT_MAX = 2_000
_FIELDS_MAX = 16
_FACTS_MAX = 20
_FACT_LABEL_MAX = 120
_FACT_VALUE_MAX = 500
_APPROVERS_MAX = 16

_MEMBERS = {
    "input": ("language", "title", "text", "fields", "facts"),
    "approval": ("language", "title", "text", "facts", "comment"),
}


def check_form(kind: Literal["input", "approval"], value: object) -> dict[str, Any]:
    """Raises a ValueError that begins with the JSON pointer of the mistake: `form/fields/0/label must …`."""
    form = check_members(value, "", _MEMBERS[kind])
    checked: dict[str, Any] = {}
    if "language" in form:
        checked["language"] = check_language(form["language"], "/language")
    checked["title"] = check_words(form.get("title"), "/title", _TITLE_MAX)
    if "text" in form:
        checked["text"] = check_words(form["text"], "/text", _TEXT_MAX, lines=True)
    if kind == "input":
        checked["fields"] = _check_fields(form.get("fields"))
    # Calls that ask for the same have the same form: an empty list is the same as none.
    if "facts" in form and (facts := check_list(form["facts"], "/facts", 0, _FACTS_MAX, _check_fact)):
        checked["facts"] = facts
    if "comment" in form:
        if form["comment"] not in ("optional", "required"):
            raise wrong("/comment", "must be optional or required")
        checked["comment"] = form["comment"]
    size = len(to_json(checked))
    if size > FORM_MAX:
        raise wrong("", f"must have at most {FORM_MAX} bytes as JSON, and has {size}")
    return checked


def _check_fields(value: object) -> list[dict[str, Any]]:
    names: set[str] = set()

    def check(element: object, pointer: str) -> dict[str, Any]:
        field = check_field(element, pointer)
        if field["name"] in names:
            raise wrong(f"{pointer}/name", "must not occur twice")
        names.add(field["name"])
        return field

    return check_list(value, "/fields", 1, _FIELDS_MAX, check)


def _check_fact(value: object, pointer: str) -> dict[str, Any]:
    fact = check_members(value, pointer, ("label", "value"))
    return {
        "label": check_words(fact.get("label"), f"{pointer}/label", _FACT_LABEL_MAX),
        "value": check_words(fact.get("value"), f"{pointer}/value", _FACT_VALUE_MAX, lines=True),
    }


def check_approver(value: object) -> list[str] | None:
    """None: the starter. Empty: anybody else."""
    refuse_awaitable("approver", value)
    if value == "starter":
        return None
    if value == "others":
        return []
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or not 1 <= len(value) <= _APPROVERS_MAX:
        raise ValueError(f"approver must be starter, others, or a list of 1 to {_APPROVERS_MAX} subjects")
    approvers = [check_text("each approver", subject, 1, 512) for subject in value]
    if len(set(approvers)) < len(approvers):
        raise ValueError("approver must not have a subject twice")
    return approvers


def check_problem(value: object) -> dict[str, Any] | None:
    """What `verify` has returned about the values. No error has a value of the user."""
    refuse_awaitable("what verify returns", value)
    if value is None:
        return None
    if not isinstance(value, Problem):
        raise TypeError("verify must return None or a Problem")
    if not isinstance(value.field, str) or not NAME.fullmatch(value.field):
        raise ValueError("the field of a Problem must be the name of a field")
    try:
        problem = {"field": value.field, "problem": check_words(value.problem, "/problem", HELP_MAX)}
    except ValueError as error:
        raise ValueError(f"a Problem is not valid: {str(error).removeprefix('form/')}") from None
    if len(to_json(problem)) > _PROBLEM_MAX:
        raise ValueError(f"a Problem must have at most {_PROBLEM_MAX} bytes as JSON")
    return problem
