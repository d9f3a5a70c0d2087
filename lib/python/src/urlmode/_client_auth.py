"""How this server authenticates itself at a token endpoint, by Authlib and joserfc."""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus

from authlib.oauth2.auth import ClientAuth
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

# Seconds for which a signed token is valid: long enough for clocks that differ.
_VALID_S = 300
_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_CURVES = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}


@dataclass(frozen=True)
class OAuthClient:
    """This server, as it is registered at the provider. Without a secret and a key it is a public client."""

    id: str
    secret: str | None = field(default=None, repr=False)
    private_key: str | None = field(default=None, repr=False)
    """as PEM, for a provider whose clients sign their requests"""
    key_id: str | None = None


def check_client(client: object, oauth: Mapping[str, Any]) -> OAuthClient:
    """Raises TypeError or ValueError if the client does not fit the description."""
    if not isinstance(client, OAuthClient):
        raise TypeError("client must be an OAuthClient")
    for name in ("id", "secret", "private_key", "key_id"):
        value = getattr(client, name)
        if (value is None and name == "id") or (value is not None and (not isinstance(value, str) or not value)):
            raise ValueError(f"client.{name} must be a non-empty str{'' if name == 'id' else ', or None'}")
    method = oauth["token_endpoint_auth_method"]
    if method == "private_key_jwt" or "signed_secret" in oauth:
        if client.secret is not None:
            raise ValueError("client.secret must not be given: clients of this provider have a key")
        _sign(client, {})
        return client
    if client.private_key is not None:
        raise ValueError("client.private_key must not be given: clients of this provider have none")
    if client.secret is None and oauth["pkce"] == "none":
        raise ValueError("client.secret is required: this provider has no PKCE")
    if client.secret is not None and method == "none":
        raise ValueError("client.secret must not be given: clients of this provider have none")
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


def _sign(client: OAuthClient, claims: Mapping[str, Any]) -> str:
    """A JSON Web Token (RFC 7519)."""
    try:
        key = load_pem_private_key((client.private_key or "").encode(), None)
        if isinstance(key, rsa.RSAPrivateKey):
            algorithm = "RS256"
            imported: RSAKey | ECKey = RSAKey.import_key(client.private_key or "")
        elif isinstance(key, ec.EllipticCurvePrivateKey):
            algorithm = _CURVES[key.curve.name]
            imported = ECKey.import_key(client.private_key or "")
        else:
            raise ValueError
    except Exception:
        # The error may quote the key.
        raise ValueError("client.private_key must be a private key as PEM, of RSA or of a curve of NIST") from None
    now = int(time.time())
    header = {"alg": algorithm, **({"kid": client.key_id} if client.key_id else {})}
    return jwt.encode(header, {**claims, "iat": now, "exp": now + _VALID_S}, imported, algorithms=[algorithm])
