"""Forms and links to approvals, by the known answers that all languages read (tests/vectors/form.json)."""

from __future__ import annotations

import json
import math
import subprocess
from typing import Any

import pytest
from conftest import ROOT, VECTORS

from urlmode import Problem
from urlmode._core.create_options import check_request
from urlmode._core.errors import StateTokenError
from urlmode._core.form import check_approver, check_form, check_problem
from urlmode._core.formats import FORMATS, is_link
from urlmode._core.keys import Key, KeyRing
from urlmode._core.seal import seal
from urlmode._core.token import mint_link, open_link

VALUES: dict[str, list[Any]] = json.loads((VECTORS / "form.json").read_text("utf-8"))
REQUESTS: list[dict[str, Any]] = json.loads((VECTORS / "request.json").read_text("utf-8"))["cases"]
LINKS: dict[str, list[str]] = json.loads((VECTORS / "links.json").read_text("utf-8"))
KEY = {"name": "api_key", "type": "secret", "label": "API key"}


def field(**change: Any) -> dict[str, Any]:
    return {"title": "T", "fields": [{**KEY, **change}]}


def key_of(case: dict[str, Any]) -> Key:
    return Key(case["kid"], bytes.fromhex(case["secret_hex"]))


def test_what_is_for_the_page_is_sealed() -> None:
    cases = [case for case in VALUES["seals"] if "binding_hex" in case]
    assert len(cases) == 2
    for case in cases:
        binding, nonce = bytes.fromhex(case["binding_hex"]), bytes.fromhex(case["nonce_hex"])
        sealed = seal(KeyRing([key_of(case)]), case["info"], case["id"], binding, case["text"].encode(), nonce)
        assert sealed.hex() == case["sealed_hex"]


def test_the_link_to_an_approval_is_another_one() -> None:
    for case in VALUES["links"]:
        keys = KeyRing([key_of(case)])
        assert mint_link(keys.minting, case["provider"], case["id"], case["purpose"]) == case["state"]
        assert open_link(keys, case["provider"], case["state"], case["purpose"]) == (case["id"], case["kid"])
        with pytest.raises(StateTokenError):
            open_link(keys, case["provider"], case["state"])


@pytest.mark.parametrize("case", VALUES["forms"], ids=lambda case: case["name"])
def test_a_form_is_taken_as_it_is(case: dict[str, Any]) -> None:
    assert check_form(case["kind"], case["form"]) == case["form"]


@pytest.mark.parametrize("case", VALUES["broken"], ids=lambda case: case["name"])
def test_a_mistake_in_a_form_is_named_by_its_place(case: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as mistake:
        check_form(case["kind"], case["form"])
    assert str(mistake.value) == f"form{case['pointer']} {case['must']}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"min": True}, "form/fields/0/min must be a whole number from 0 to 8192"),
        ({"required": None}, "form/fields/0/required must be true or false"),
        ({"label": b"a"}, "form/fields/0/label must be a string or an object"),
        ({"label": "\ud800"}, "form/fields/0/label must be valid Unicode text"),
        ({"type": "number", "max": 1e21}, "form/fields/0/max must be a number of at most 15 digits"),
        ({"type": "number", "default": 1e-7}, "form/fields/0/default must be a number of at most 15 digits"),
        ({"type": "number", "default": math.nan}, "form/fields/0/default must be a number of at most 15 digits"),
        ({"type": "number", "min": 0.1234567890123456}, "form/fields/0/min must be a number of at most 15 digits"),
        ({"type": "choice", "choices": "abc"}, "form/fields/0/choices must be an array"),
    ],
)
def test_a_mistake_that_other_languages_do_not_have_is_described(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as mistake:
        check_form("input", field(**change))
    assert str(mistake.value) == message


def test_a_coroutine_in_a_form_is_a_mistake() -> None:
    async def words() -> str:
        return "API key"

    for form in (field(label=words()), {"title": "T", "fields": words()}):
        with pytest.raises(TypeError, match="must be a value, not a coroutine"):
            check_form("input", form)


def test_a_number_is_written_as_in_other_languages() -> None:
    checked = check_form("input", field(type="number", min=1.0, max=2.5, default=2.0))["fields"][0]
    assert json.dumps([checked["min"], checked["max"], checked["default"]]) == "[1, 2.5, 2]"
    assert check_form("input", field(min=8.0))["fields"][0]["min"] == 8


def test_a_link_is_what_the_protocol_says() -> None:
    for section in ("allowed", "refused"):
        assert len(LINKS[section]) >= 40
        assert [link for link in LINKS[section] if is_link(link) is not (section == "allowed")] == []
    assert is_link("https://".ljust(2_048, "a"))
    assert not is_link("https://".ljust(2_049, "a"))


def test_a_format_has_its_characters_and_no_others() -> None:
    assert [case["format"] for case in VALUES["formats"]] == list(FORMATS)
    for case in VALUES["formats"]:
        form = FORMATS[case["format"]]
        assert [value for value in case["matches"] if not form.fullmatch(value)] == []
        assert [value for value in case["misses"] if form.fullmatch(value)] == []


def test_those_who_decide() -> None:
    assert (check_approver("starter"), check_approver("others"), check_approver(("bob",))) == (None, [], ["bob"])
    broken: list[Any] = ["bob", [], [""], ["bob", "bob"], ["a" * 513], [f"a{n}" for n in range(17)], None, {}]
    for given in broken:
        with pytest.raises(ValueError, match="approver must"):
            check_approver(given)
    with pytest.raises(TypeError, match="each approver must be a str"):
        check_approver([1])


def test_a_problem_is_checked_and_is_not_told() -> None:
    assert check_problem(None) is None
    assert check_problem(Problem("a", {"en": "No."})) == {"field": "a", "problem": {"en": "No."}}
    cases = [
        (Problem("A", "No."), "the field of a Problem must begin with a letter and have at most 32 characters of a-z, 0-9 and _"),
        (Problem("a", "s3cret" * 90), "the problem of a Problem must have 1 to 500 characters"),
        (Problem("a", dict.fromkeys(("de", "en", "ja", "ko", "pt", "zh"), "字" * 500)), "a Problem must have at most 8192 bytes as JSON"),
    ]
    for given, message in cases:
        with pytest.raises(ValueError) as mistake:
            check_problem(given)
        assert str(mistake.value) == message
    with pytest.raises(TypeError, match="None or a Problem"):
        check_problem({"field": "a", "problem": "No."})


def test_a_call_for_another_form_asks_for_something_else() -> None:
    def digest(**more: Any) -> bytes:
        given: dict[str, Any] = {
            "provider": "p", "kind": "approval", "expected": None, "about": None, "client_id": None, "same_client": False,
            "form": {"title": "T"}, **more,
        }  # fmt: skip
        return check_request(**given).digest

    asked = [
        digest(), digest(form={"title": "U"}), digest(approver="others"), digest(approver=["bob"]), digest(about={"a": 1}),
        digest(kind="input", form=field()), digest(kind="input", form=field(), verifies=True),
    ]  # fmt: skip
    asked.append(digest(approver="others", four_eyes=True))
    assert len(set(asked)) == len(asked)
    assert digest(approver="starter", about={}) == asked[0]
    # As the other languages have it (tests/vectors/request.json).
    vector = digest(provider="approvals", form={"title": "Delete?"}, approver="others", four_eyes=True)
    assert vector.hex() in (case["digest"] for case in REQUESTS)
    fresh = digest(provider="approvals", form={"title": "Delete?"}, step_up=True)
    assert fresh.hex() in (case["digest"] for case in REQUESTS)
    for given in ({"four_eyes": True}, {"four_eyes": True, "kind": "input", "form": field()}, {"four_eyes": 1, "approver": "others"}):
        with pytest.raises(TypeError, match="four_eyes"):
            digest(**given)


def test_the_label_of_a_button_is_a_part_of_the_form() -> None:
    given: dict[str, Any] = {
        "provider": "intake", "kind": "input", "expected": None, "about": None, "client_id": None, "same_client": False,
        "form": {"title": "Key", "fields": [{"name": "api_key", "type": "secret", "label": "Key"}]},
    }  # fmt: skip
    made = check_request(**given, submit_label={"en": "Connect", "de": "Verbinden"}).digest
    assert made.hex() in (case["digest"] for case in REQUESTS)
    with pytest.raises(ValueError, match="form/submit_label must"):
        check_request(**given, submit_label="x" * 41)


def test_random_forms_are_checked_as_in_other_languages() -> None:
    """COUNT and SEED of the environment choose them."""
    lines = subprocess.run(["node", ROOT / "tests/support/random-forms.mjs"], capture_output=True, check=True, text=True).stdout
    for line in lines.rstrip().split("\n"):
        case = json.loads(line)
        fault = None
        try:
            check_form(case["kind"], case["form"])
        except ValueError as error:
            fault = str(error)
        assert fault == case["fault"], line
