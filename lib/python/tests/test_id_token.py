"""Id tokens that are not accepted."""

from __future__ import annotations

import hmac
import json
import time
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import ECKey, RSAKey
from openid_provider import Provider, at, connect, encoded, provider

from urlmode._accounts.not_connected import NotConnected

__all__ = ["provider"]


VECTORS = json.loads((Path(__file__).parents[3] / "tests/vectors/id-tokens.json").read_text())


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: str(case["what"]))
async def test_what_an_id_token_says(provider: Provider, case: dict[str, Any]) -> None:
    said = json.loads(json.dumps(case.get("claims", {})).replace("{client}", "a client"))
    provider.claims = {**said, **{name: time.time() + after for name, after in case.get("at", {}).items()}}
    provider.without = case.get("without", [])
    if not case.get("refused"):
        assert (await connect(at(provider))).account is not None
        return
    with pytest.raises(NotConnected) as error:
        await connect(at(provider))
    assert (error.value.reason, error.value.detail) == ("exchange_failed", "invalid_id_token")


@pytest.mark.parametrize("nonce", [["nonce"], []])
async def test_an_id_token_of_another_call(provider: Provider, nonce: list[str]) -> None:
    provider.claims, provider.without = {"nonce": "another"}, nonce
    with pytest.raises(NotConnected) as error:
        await connect(at(provider))
    assert (error.value.reason, error.value.detail) == ("exchange_failed", "invalid_id_token")


@pytest.mark.parametrize("forged", ["another key", "HS256", "none", "absent", "an algorithm that is not supported"])
async def test_an_id_token_that_the_provider_has_not_signed(provider: Provider, forged: str) -> None:
    if forged == "another key":
        provider.sign_with = RSAKey.generate_key(2048, {"kid": "one"})
    elif forged == "HS256":
        # With the public key, which everybody knows, as the secret of a MAC.
        _, payload, _ = provider.id_token().split(".")
        header = encoded(b'{"alg":"HS256","kid":"one"}')
        signed = f"{header}.{payload}"
        mac = hmac.digest(provider.key.as_pem(private=False), signed.encode(), "sha256")
        provider.tokens = {"id_token": f"{signed}.{encoded(mac)}"}
        provider.metadata = {"id_token_signing_alg_values_supported": ["RS256", "HS256"]}
    elif forged == "none":
        _, payload, _ = provider.id_token().split(".")
        header = encoded(b'{"alg":"none"}')
        provider.tokens = {"id_token": f"{header}.{payload}."}
        provider.metadata = {"id_token_signing_alg_values_supported": ["RS256", "none"]}
    elif forged == "absent":
        provider.tokens = {"id_token": "absent"}
    else:
        provider.metadata = {"id_token_signing_alg_values_supported": ["ES256"]}
    with pytest.raises(NotConnected) as error:
        await connect(at(provider))
    assert (error.value.reason, error.value.detail) == ("exchange_failed", "invalid_id_token")


@pytest.mark.parametrize("algorithm", ["RS256", "ES384"])
async def test_one_key_id_may_name_keys_of_several_types(provider: Provider, algorithm: str) -> None:
    keys = {"RS256": provider.key, **{f"ES{size}": ECKey.generate_key(f"P-{size}", {"kid": "one"}) for size in (256, 384)}}
    provider.keys = [key.as_dict(private=False) for key in keys.values()]
    provider.algorithm, provider.sign_with = algorithm, keys[algorithm]
    provider.metadata = {"id_token_signing_alg_values_supported": [*keys]}
    assert (await connect(at(provider))).account is not None
