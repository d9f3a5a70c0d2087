"""The tokens of an account, sealed for their place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import VECTORS

from urlmode import AccountSealError, AccountSizeError
from urlmode._core.keys import Key, KeyRing, parse_keys
from urlmode._vault.account_owner import account_owner, whose_account
from urlmode._vault.sealed_tokens import Place, open_tokens, seal_tokens


def test_what_is_sealed_opens_only_for_its_place_and_unchanged() -> None:
    keys = parse_keys("3 " + "A" * 43, "keys")
    place = Place("ada", "github", "1")
    tokens = {"access_token": "a", "half": "\ud800"}
    sealed = seal_tokens(keys, place, tokens)
    assert open_tokens(keys, place, sealed) == tokens
    others = [place._replace(subject="adb"), place._replace(provider="gitlab"), place._replace(account="2"), Place("ada\0github", "1", "")]
    for other in others:
        with pytest.raises(AccountSealError, match="they are not genuine"):
            open_tokens(keys, other, sealed)
    for bit in range(len(sealed) * 8):
        changed = bytearray(sealed)
        changed[bit >> 3] ^= 1 << (bit & 7)
        with pytest.raises(AccountSealError):
            open_tokens(keys, place, bytes(changed))
    with pytest.raises(AccountSizeError):
        seal_tokens(keys, place, {"access_token": "x" * 65_536})


FILE = json.loads((VECTORS / "vault.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", FILE["tokens"], ids=lambda case: case["name"])
def test_vectors(vector: dict[str, Any]) -> None:
    keys = KeyRing([Key(vector["kid"], bytes.fromhex(vector["secret_hex"]))])
    place = Place(vector["subject"], vector["provider"], vector["account"])
    blob = bytes.fromhex(vector["blob_hex"])
    assert open_tokens(keys, place, blob) == json.loads(vector["json"])
    assert seal_tokens(keys, place, json.loads(vector["json"]), bytes.fromhex(vector["nonce_hex"])) == blob


@pytest.mark.parametrize("case", FILE["owners"], ids=lambda case: repr(case["owner"]))
def test_whose_an_account_is(case: dict[str, str]) -> None:
    assert account_owner(case["tenant"], case["subject"]) == case["owner"]
    assert whose_account(case["owner"]) == (case["tenant"], case["subject"])


