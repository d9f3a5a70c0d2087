"""The public types of forms."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypedDict, Union

Words = Union[str, Mapping[str, str]]
"""In one language, or in several, such as {"en": …, "de": …}: the page shows its own, otherwise English, otherwise the
first."""
Values = Mapping[str, Union[str, int, float, bool]]
"""What the user has typed, by the names of the fields. An empty field is left out."""
Approvers = Union[list[str], dict[str, Any]]
"""as the row has them"""
Approver = Union[Literal["starter", "others"], list[str], tuple[str, ...]]
"""Who decides: the subject; anybody else whom the sign-in knows; or these subjects, at most 16."""


class Fact(TypedDict):
    """What is shown: 120 and 500 characters."""

    label: Words
    """at most 120 characters"""
    value: Words
    """at most 500 characters"""


class FieldLink(TypedDict):
    """Where one gets the value: https."""

    url: str
    """https"""
    label: Words
    """what the link says"""


class Choice(TypedDict):
    value: str
    """what the form sends"""
    label: Words
    """what the page shows"""


class _NamedField(TypedDict):
    name: str
    """of the value: at most 32 characters of a-z, 0-9 and _"""
    type: Literal["text", "secret", "multiline", "email", "url", "number", "choice", "checkbox"]
    """what is typed, and how it looks"""
    label: Words
    """at most 200 characters"""


class Field(_NamedField, total=False):
    """lib/PROTOCOL.md, "Forms", says which members a type may have."""

    help: Words
    """below the label, at most 500 characters"""
    link: FieldLink
    """where one gets the value"""
    required: bool
    """whether it must be filled in, or ticked; by default not"""
    multiline: bool
    """of a secret: whether it has several lines"""
    save: bool
    """of a secret: whether the browser may offer to save it"""
    min: float
    """characters, 0 by default; of a number the least"""
    max: float
    """characters: 1,000 by default, 8,192 of several lines, 254 of an email address, 2,048 of a URL; of a number the largest"""
    format: Literal["digits", "letters", "alphanumeric", "hex", "token"]
    """the only characters that it has; token: printable ASCII without spaces"""
    choices: Sequence[Choice]
    """1 to 20, of a choice"""
    default: Union[str, float, bool]
    """what is there at first"""


class _TitledForm(TypedDict):
    title: Words
    """at most 120 characters"""


class _Form(_TitledForm, total=False):
    text: Words
    """at most 2,000 characters, also several lines"""
    facts: Sequence[Fact]
    """at most 20"""
    language: str
    """of the words that are in one language; `en` by default"""


class _Fields(TypedDict):
    fields: Sequence[Field]
    """1 to 16"""


class InputForm(_Form, _Fields):
    """With 1 to 16 fields."""


class ApprovalForm(_Form, total=False):
    comment: Literal["optional", "required"]
    """without it, nobody is asked for one"""


@dataclass(frozen=True, kw_only=True)
class FormElicitation:
    elicitation_id: str
    url: str
    """the URL to elicit"""
    expires_at: datetime
    resumed: bool = False
    """whether it existed before, see `resume_key`"""


@dataclass(frozen=True, kw_only=True)
class ApprovalElicitation:
    elicitation_id: str
    url: str | None
    """the URL to elicit; None if others decide"""
    approval_url: str | None
    """the URL to send to those who decide; None if the subject does"""
    expires_at: datetime
    resumed: bool = False
    """whether it existed before, see `resume_key`"""


@dataclass(frozen=True, kw_only=True)
class AskedApprovers:
    """What `send_link` is given."""

    elicitation_id: str
    approval_url: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Verify:
    """What is to be verified."""

    elicitation_id: str
    provider: str
    values: Values = field(repr=False)


@dataclass(frozen=True)
class Problem:
    """What `verify` has found. It is shown at the field, and must not contain the value."""

    field: str
    """the name of the field"""
    problem: Words
    """at most 500 characters"""


VerifyFunction = Callable[[Verify], Union[Problem, None, Awaitable[Union[Problem, None]]]]
SendLink = Callable[[AskedApprovers], object]
