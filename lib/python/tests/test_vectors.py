"""The values of lib/PROTOCOL.md, by the known answers that all languages read."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from conftest import VECTORS

from urlmode import ElicitationSealError, UrlMode
from urlmode._core.contract_seals import (
    EVENT_OUTCOME_INFO,
    EVENT_RESULT_INFO,
    FULFILLED_INFO,
    OUTCOME_INFO,
    REQUEST_LABEL,
    RESULT_INFO,
    TASK_INFO,
    VERIFIER_INFO,
)
from urlmode._core.digest import canonical_json, default_resume_key, digest_of_request
from urlmode._core.errors import StateTokenError
from urlmode._core.keys import Key, KeyRing, encode_base64url
from urlmode._core.price import price_of
from urlmode._core.seal import open_outcome, row_bytes, seal, unseal
from urlmode._core.token import (
    State,
    binding_of,
    browser_of,
    mint_link,
    mint_state,
    mint_ticket,
    open_link,
    open_state,
)
from urlmode._core.money_types import Expected

TOKEN: dict[str, list[dict[str, Any]]] = json.loads((VECTORS / "token.json").read_text("utf-8"))
TENANT: dict[str, list[Any]] = json.loads((VECTORS / "tenant.json").read_text("utf-8"))
TICKET: list[dict[str, Any]] = json.loads((VECTORS / "ticket.json").read_text("utf-8"))["ticket"]
REQUESTS: dict[str, list[dict[str, Any]]] = json.loads((VECTORS / "request.json").read_text("utf-8"))
REQUEST = REQUESTS["cases"]
AMOUNTS: list[dict[str, Any]] = json.loads((VECTORS / "amounts.json").read_text("utf-8"))["cases"]
CANONICAL: dict[str, list[Any]] = json.loads((VECTORS / "canonical.json").read_text("utf-8"))


def cases(*names: str) -> pytest.MarkDecorator:
    all = [pytest.param(name, case, id=f"{name}: {case['name']}") for name in names for case in TOKEN[name]]
    return pytest.mark.parametrize(("name", "case"), all)


def key_of(case: dict[str, Any]) -> Key:
    return Key(case["kid"], bytes.fromhex(case["secret_hex"]))


def changed(text: str) -> list[str]:
    """Each text that differs in one character, with the next one of the alphabet in its place."""
    return [text[:n] + ("B" if text[n] == "A" else "A") + text[n + 1 :] for n in range(len(text))]


def test_a_tenant_is_part_of_the_binding_and_its_name_is_checked() -> None:
    for case in TENANT["bindings"]:
        assert binding_of(case["subject"], case["session"], case["tenant"]).hex() == case["binding"]
    keys = "1 " + base64.b64encode(bytes(32)).decode()
    for tenant in [*TENANT["refused_tenants"], None, 7]:
        with pytest.raises(ValueError, match="^tenant must be at most 64 "):
            UrlMode(database_url="postgresql://localhost/urlmode", keys=keys, base_url="https://callback.example", tenant=tenant)


@cases("state")
def test_state(name: str, case: dict[str, Any]) -> None:
    key = key_of(case)
    binding = binding_of(case["subject"], case["session"])
    browser = bytes(16) if case["cookie"] is None else browser_of(case["cookie"])
    state = State(case["id"], case["expires"], binding, browser)
    assert (binding.hex(), browser.hex()) == (case["binding_hex"], case["browser_hex"])
    token = mint_state(key, case["purpose"], case["provider"], state, bytes.fromhex(case["nonce_hex"]))
    assert token == case["token"]
    opened = open_state(KeyRing([key]), case["purpose"], case["provider"], token, now=case["expires"] - 1)
    assert (opened.id, opened.expires, opened.binding, opened.browser) == (state.id, state.expires, binding, browser)
    with pytest.raises(StateTokenError) as expired:
        open_state(KeyRing([key]), case["purpose"], case["provider"], token, now=case["expires"])
    assert expired.value.expired
    for other in [*changed(token), token[:-1], f"{token}A", f"{token}=", ""]:
        with pytest.raises(StateTokenError):
            open_state(KeyRing([key]), case["purpose"], case["provider"], other)
    for purpose, provider in [("cancel2", case["provider"]), (case["purpose"], "other")]:
        with pytest.raises(StateTokenError):
            open_state(KeyRing([key]), purpose, provider, token)


@cases("link")
def test_link(name: str, case: dict[str, Any]) -> None:
    key = key_of(case)
    assert mint_link(key, case["provider"], case["id"]) == case["state"]
    assert open_link(KeyRing([key]), case["provider"], case["state"]) == (case["id"], case["kid"])
    for other in [*changed(case["state"]), case["state"][:-1], ""]:
        with pytest.raises(StateTokenError):
            open_link(KeyRing([key]), case["provider"], other)
    with pytest.raises(StateTokenError):
        open_link(KeyRing([key]), "another", case["state"])


@pytest.mark.parametrize("case", TICKET, ids=lambda case: case["name"])
def test_ticket(case: dict[str, Any]) -> None:
    key = key_of(case)
    assert key.shared("urlmode ticket v1").hex() == case["key_hex"]
    assert mint_ticket(key, case["subject"], case["expires"], bytes.fromhex(case["nonce_hex"])) == case["ticket"]


USES = {
    "result": RESULT_INFO, "event_result": EVENT_RESULT_INFO, "outcome": OUTCOME_INFO, "event_outcome": EVENT_OUTCOME_INFO,
    "fulfilled": FULFILLED_INFO, "task": TASK_INFO,
}  # fmt: skip


@cases(*USES)
def test_sealed(name: str, case: dict[str, Any]) -> None:
    keys = KeyRing([key_of(case)])
    binding = binding_of(case["subject"], case["session"]) if "subject" in case else bytes(16)
    nonce = bytes.fromhex(case["nonce_hex"])
    sealed = seal(keys, USES[name], case["id"], binding, case["json"].encode(), nonce)
    assert sealed.hex() == case["blob_hex"]
    opens_as = RESULT_INFO if name == "event_result" else USES[name]
    assert unseal(keys, opens_as, case["id"], binding, sealed) == json.loads(case["json"])
    for at in range(len(sealed)):
        broken = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
        with pytest.raises(ElicitationSealError):
            unseal(keys, opens_as, case["id"], binding, broken)
    with pytest.raises(ElicitationSealError):
        unseal(keys, opens_as, "00000000-0000-4000-8000-00000000000f", binding, sealed)


@cases("outcome", "event_outcome")
def test_announced_outcome(name: str, case: dict[str, Any]) -> None:
    keys = KeyRing([key_of(case)])
    row = row_bytes(case["id"], binding_of(case["subject"], case["session"]) if "subject" in case else bytes(16))
    announced = base64.b64encode(bytes.fromhex(case["blob_hex"])).decode()
    outcome = open_outcome(keys, row, announced)
    members = json.loads(case["json"])
    assert outcome is not None
    assert (outcome.action, outcome.reason, outcome.reference, outcome.result) == (
        members["action"], members["reason"], members.get("reference"), members.get("result"),
    )  # fmt: skip
    for other in [announced[:-4], "", "!", announced[4:], encode_base64url(b"\2")]:
        assert open_outcome(keys, row, other) is None
    assert open_outcome(keys, bytes(32), announced) is None


def test_a_verifier_is_for_one_owner() -> None:
    keys = KeyRing([Key(1, bytes(32))])
    id = "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11"
    sealed = seal(keys, VERIFIER_INFO, id, binding_of("a", ""), b'{"code_verifier":"v"}')
    assert unseal(keys, VERIFIER_INFO, id, binding_of("a", ""), sealed) == {"code_verifier": "v"}
    with pytest.raises(ElicitationSealError):
        unseal(keys, VERIFIER_INFO, id, binding_of("b", ""), sealed)


@pytest.mark.parametrize("case", REQUEST, ids=lambda case: case["canonical"][:60])
def test_request(case: dict[str, Any]) -> None:
    request = case["request"]
    assert canonical_json(request) == case["canonical"]
    expected = request.get("expected")
    digest = digest_of_request(
        provider=request["provider"], kind=request["kind"], about=request.get("about"),
        expected=Expected(**expected) if isinstance(expected, dict) else expected,
        mcp_client=request.get("mcp_client"), item=request.get("item"),
    )  # fmt: skip
    assert digest.hex() == case["digest"]


@pytest.mark.parametrize("case", REQUESTS["resume_keys"], ids=lambda case: case["key"])
def test_default_resume_key(case: dict[str, Any]) -> None:
    request = case["request"]
    expected = request.get("expected")
    key = default_resume_key(
        request["provider"], request["kind"], request["message"],
        Expected(**expected) if isinstance(expected, dict) else expected,
    )  # fmt: skip
    assert key == case["key"]


@pytest.mark.parametrize("case", CANONICAL["cases"], ids=lambda case: ascii(case["text"][:40]))
def test_canonical_form(case: dict[str, Any]) -> None:
    assert canonical_json(case["value"]) == case["text"]
    assert hashlib.sha256(f"{REQUEST_LABEL}\0{case['text']}".encode()).hexdigest()[:32] == case["request"]


@pytest.mark.parametrize("text", CANONICAL["refused"])
def test_half_a_surrogate_pair_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="half a surrogate pair"):
        canonical_json(json.loads(text))


# RFC 8785 appendix B, and section 3.2.3 for the order of names.
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (-0.0, "0"), (5e-324, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740991, "9007199254740991"), (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"), (1e23, "1e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (1e21, "1e+21"), (9.999999999999997e-7, "9.999999999999997e-7"), (0.000001, "0.000001"), (4.5, "4.5"),
        (-0.000001, "-0.000001"), (333333333.33333329, "333333333.3333333"), (2e-3, "0.002"),
        (0.00012345, "0.00012345"),
        ([True, False, None], "[true,false,null]"), ({"b": None, "a": ()}, '{"a":[],"b":null}'), (2**53, "9007199254740992"),
        ({"\ufb33": 1, "\U0001f602": 2, "\u20ac": 3, "\r": 4}, '{"\\r":4,"€":3,"😂":2,"\ufb33":1}'),
        ('\u20ac$\u000f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'),
    ],
)  # fmt: skip
def test_canonical_json(value: Any, text: str) -> None:
    assert canonical_json(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53 + 1, 10**400, {1: 2}, b"", object()])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical_json(value)


@pytest.mark.parametrize("case", AMOUNTS, ids=lambda case: f"{case['provider']} {case['amount']} {case['currency']}")
def test_amounts_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    price = Expected(case["amount"], case["currency"])
    if "written" in case:
        assert price_of(case["provider"], price) == case["written"]
    else:
        said = f"must be a multiple of {case['step']}:" if "step" in case else "is more than"
        with pytest.raises(ValueError, match=said):
            price_of(case["provider"], price)
