"""How this server authenticates itself at a token endpoint, by Authlib and joserfc."""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Union
from urllib.parse import quote_plus

from authlib.oauth2.auth import ClientAuth
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from .._core import contract_texts as texts
from .._core.arguments import refuse_awaitable
from .._core.contract_limits import ASSERTION_S

_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_CURVES = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}


_Key = Union[RSAKey, ECKey]


@dataclass(frozen=True)
class OAuthClient:
    """This server, as it is registered at the provider. Without a secret and a key it is a public client.

    A key is read here, which takes up to a second of a long one of RSA: make it once, when the server starts.
    Raises TypeError and ValueError.
    """

    id: str
    """the client id"""
    secret: str | None = field(default=None, repr=False)
    """for a provider whose clients send one, or sign with it"""
    private_key: str | None = field(default=None, repr=False)
    """as PEM, for a provider whose clients sign their requests"""
    key_id: str | None = None
    """the `kid` of the key, if the provider has given one"""
    _signing: tuple[str, _Key] | None = field(default=None, init=False, repr=False, compare=False)
    """the algorithm and the key"""

    def __post_init__(self) -> None:
        for name in ("id", "secret", "private_key", "key_id"):
            value = getattr(self, name)
            refuse_awaitable(f"client.{name}", value)
            if (value is None and name == "id") or (value is not None and (not isinstance(value, str) or not value)):
                raise ValueError(f"client.{name} must be a non-empty str{'' if name == 'id' else ', or None'}")
        if self.private_key is not None:
            object.__setattr__(self, "_signing", _read_key(self.private_key))


def check_client(client: object, oauth: Mapping[str, Any]) -> OAuthClient:
    """Raises TypeError or ValueError if the client does not fit the description."""
    if not isinstance(client, OAuthClient):
        raise TypeError("client must be an OAuthClient")
    method = oauth["token_endpoint_auth_method"]
    if method == "private_key_jwt" or "signed_secret" in oauth:
        if client.secret is not None:
            raise ValueError(texts.SECRET_BESIDE_KEY)
        if client.private_key is None:
            raise ValueError(texts.PRIVATE_KEY_REQUIRED)
        return client
    if client.private_key is not None:
        raise ValueError(texts.PRIVATE_KEY_NOT_ALLOWED)
    if client.secret is None and oauth["pkce"] == "none":
        raise ValueError(texts.SECRET_REQUIRED)
    if client.secret is not None and method == "none":
        raise ValueError(texts.SECRET_NOT_ALLOWED)
    return client


def authenticate(
    client: OAuthClient, oauth: Mapping[str, Any], token_endpoint: str, body: str
) -> tuple[dict[str, str], list[tuple[str, str]], str]:
    """Headers, further parameters, and the body."""
    if "signed_secret" in oauth:
        signed = oauth["signed_secret"]
        claims = {"iss": signed["issuer"], "sub": client.id, "aud": signed["audience"]}
        return {}, [("client_id", client.id), ("client_secret", _sign(client, claims))], body
    if oauth["token_endpoint_auth_method"] == "private_key_jwt":
        claims = {"iss": client.id, "sub": client.id, "aud": token_endpoint, "jti": str(uuid.uuid4())}
        assertion = _sign(client, claims)
        more = [("client_id", client.id), ("client_assertion_type", _ASSERTION_TYPE), ("client_assertion", assertion)]
        return {}, more, body
    headers: dict[str, str] = {}
    if client.secret is not None and oauth["token_endpoint_auth_method"] == "client_secret_basic":
        # RFC 6749 section 2.3.1: id and secret are encoded like values of a form. Authlib does not encode them.
        pair = f"{_encode(client.id)}:{_encode(client.secret)}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return headers, [], body
    method = "none" if client.secret is None else "client_secret_post"
    _, headers, body = ClientAuth(client.id, client.secret, method).prepare("POST", token_endpoint, headers, body)
    return dict(headers), [], body


def _encode(text: str) -> str:
    """As application/x-www-form-urlencoded encodes it: what a form need not encode stays as it is."""
    return quote_plus(text, safe="*").replace("~", "%7E")


def _read_key(pem: str) -> tuple[str, _Key]:
    try:
        key = load_pem_private_key(pem.encode(), None)
        # Both take a key that was read already. Reading one of RSA again would take as long again.
        if isinstance(key, rsa.RSAPrivateKey):
            return "RS256", RSAKey(key, key)
        if isinstance(key, ec.EllipticCurvePrivateKey):
            return _CURVES[key.curve.name], ECKey(key, key)
    except Exception:
        pass  # The error may quote the key.
    raise ValueError(texts.PRIVATE_KEY_FORM)


def _sign(client: OAuthClient, claims: Mapping[str, Any]) -> str:
    """A JSON Web Token (RFC 7519)."""
    assert client._signing is not None
    algorithm, key = client._signing
    now = int(time.time())
    header = {"alg": algorithm, **({"kid": client.key_id} if client.key_id else {})}
    return jwt.encode(header, {**claims, "iat": now, "exp": now + ASSERTION_S}, key, algorithms=[algorithm])
