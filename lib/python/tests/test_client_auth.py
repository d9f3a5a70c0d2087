"""How a client proves itself at a token endpoint."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from openid_provider import EC, pem_of

from urlmode._accounts.client_authentication import OAuthClient, authenticate, check_client


def test_a_client_that_signs() -> None:
    pem = pem_of(EC)
    client = OAuthClient("a client", private_key=pem, key_id="k")
    described = {"token_endpoint_auth_method": "private_key_jwt", "pkce": "S256"}
    check_client(client, described)
    _, more, _ = authenticate(client, described, "https://a.example/token", "")
    token = jwt.decode(dict(more)["client_assertion"], ECKey.import_key(pem), algorithms=["ES256"])
    assert (token.claims["iss"], token.claims["aud"], token.header["kid"]) == ("a client", "https://a.example/token", "k")
    signed = {
        "token_endpoint_auth_method": "client_secret_post", "pkce": "S256",
        "signed_secret": {"issuer": "team", "audience": "https://apple.example"},
    }  # fmt: skip
    _, more, _ = authenticate(client, signed, "https://a.example/token", "")
    token = jwt.decode(dict(more)["client_secret"], ECKey.import_key(pem), algorithms=["ES256"])
    assert (token.claims["iss"], token.claims["sub"], token.claims["aud"]) == ("team", "a client", "https://apple.example")
    assert pem not in repr(client)


def test_a_key_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading one of RSA takes long, and nothing else of the process runs meanwhile."""
    private = rsa.generate_private_key(65537, 2048)
    client = OAuthClient("a client", private_key=pem_of(private))
    for name in ("cryptography.hazmat.primitives.serialization", "joserfc._rfc7517.pem", "urlmode._accounts.client_authentication"):
        monkeypatch.setattr(f"{name}.load_pem_private_key", None)
    described = {"token_endpoint_auth_method": "private_key_jwt", "pkce": "S256"}
    for _ in range(2):
        check_client(client, described)
        _, more, _ = authenticate(client, described, "https://a.example/token", "")
        jwt.decode(dict(more)["client_assertion"], RSAKey.import_key(private.public_key()), algorithms=["RS256"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"id": ""}, "client.id must be a non-empty str"),
        ({"id": None}, "client.id must be a non-empty str"),
        ({"id": "a", "secret": ""}, "client.secret must be a non-empty str, or None"),
        ({"id": "a", "key_id": 5}, "client.key_id must be a non-empty str, or None"),
        ({"id": "a", "private_key": "-----BEGIN"}, "must be a private key as PEM"),
        ({"id": "a", "private_key": pem_of(ed25519.Ed25519PrivateKey.generate())}, "must be a private key as PEM"),
        ({"id": "a", "private_key": pem_of(ec.generate_private_key(ec.SECP256K1()))}, "must be a private key as PEM"),
    ],
)  # fmt: skip
def test_a_client_that_is_none(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        OAuthClient(**given)
    assert "BEGIN" not in "".join(traceback.format_exception(error.value))
