"""The metadata and keys of OpenID providers."""

from __future__ import annotations

from typing import Any

import pytest
from joserfc.jwk import RSAKey
from openid_provider import Provider, at, connect, json_answer, provider

from urlmode import ProviderUnavailableError
from urlmode._accounts import discovery
from urlmode._accounts.provider import Account, AccountProvider
from urlmode._accounts.request import Answer

__all__ = ["provider"]


async def test_metadata_are_asked_for_once_an_hour(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        await AccountProvider.open(at(provider))
    assert provider.discovered == 1
    monkeypatch.setattr(discovery, "METADATA_S", 0)
    await AccountProvider.open(at(provider))
    assert provider.discovered == 2
    provider.metadata = {"jwks_uri": None}
    for _ in range(2):
        with pytest.raises(ProviderUnavailableError):
            await AccountProvider.open(at(provider))
    assert provider.discovered == 4


async def test_the_metadata_of_few_issuers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async def send(method: str, url: str, headers: Any) -> Answer:
        issuer = url.removesuffix("/.well-known/openid-configuration")
        names = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
        return json_answer({**dict.fromkeys(names, issuer), "claims_supported": ["a"] * 1_000})

    monkeypatch.setattr(discovery, "send", send)
    for number in range(300):
        assert (await discovery.discover("a", f"https://{number}.example"))["issuer"] == f"https://{number}.example"
    assert (len(discovery._known), next(iter(discovery._known))) == (256, "https://44.example")
    # Of each, what is used.
    assert len(discovery._known["https://44.example"][1]) == 4
    discovery._known.clear()


async def test_keys_that_are_not_understood_are_ignored(provider: Provider) -> None:
    """RFC 7517 section 5."""
    provider.keys = [
        5, {}, {"kty": ["RSA"]}, {"kty": "RSA", "n": "!", "e": 1}, {"kty": "RSA", "n": "AA", "e": "AA"},
        {"kty": "EC", "crv": "P-999", "x": "AA", "y": "AA"}, {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "oct", "k": "AAAA", "kid": "one"}, {"kty": "AKP", "alg": "ML-DSA-44"},
        {**RSAKey.generate_key(2048, {"kid": "one"}).as_dict(private=False), "use": "enc"},
    ]  # fmt: skip
    assert (await connect(at(provider))).claims is not None


@pytest.mark.parametrize("wrong", [{"issuer": "https://other.example"}, {"token_endpoint": "http://other.example/token"}, {"jwks_uri": None}])
async def test_metadata_that_are_not_accepted(provider: Provider, wrong: dict[str, Any]) -> None:
    provider.metadata = wrong
    with pytest.raises(ProviderUnavailableError):
        await AccountProvider.open(at(provider))


async def test_a_provider_without_userinfo(provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    provider.metadata = {"userinfo_endpoint": None}
    assert (await connect(at(provider))).account == Account(id="ada")
    assert caplog.text == ""
