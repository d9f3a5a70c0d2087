"""Verifies an id token (OpenID Connect Core section 3.1.3.7)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet, RSAKey

from .._core.contract_limits import CLOCK_SKEW_S
from .._core.keys import decode_base64
from .not_connected import NotConnected
from .request import send
from .token_response import read_json

# Signatures by a key that only the provider has.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}


async def verify_id_token(
    id_token: object, metadata: Mapping[str, Any], client_id: str, nonce: str | None
) -> dict[str, Any]:
    """The claims. `metadata` are those of the issuer. Raises NotConnected and RequestFailed."""
    try:
        answer = await send("GET", metadata["jwks_uri"], {})
        supported = metadata.get("id_token_signing_alg_values_supported", ["RS256"])
        algorithms = [name for name in _ALGORITHMS if name in supported]
        algorithm = _algorithm_of(str(id_token))
        keys = KeySet([key for each in read_json(answer)["keys"] if (key := _key_of(each)) is not None and _fits(key, algorithm)])
        claims: dict[str, Any] = jwt.decode(str(id_token), keys, algorithms=algorithms).claims
    except (JoseError, ValueError, KeyError, TypeError, AttributeError):
        raise NotConnected("exchange_failed", "invalid_id_token") from None
    now = time.time()
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    is_valid = (
        claims.get("iss") == metadata["issuer"]
        and client_id in audiences
        and (len(audiences) == 1 or claims.get("azp") == client_id)
        and claims.get("azp", client_id) == client_id
        and isinstance(claims.get("sub"), str)
        and claims["sub"] != ""
        and _is_time(claims.get("exp")) and claims["exp"] > now - CLOCK_SKEW_S
        # When it was issued by a clock that is ahead of ours decides nothing.
        and _is_time(claims.get("iat"))
        and ("nbf" not in claims or _is_time(claims["nbf"]) and claims["nbf"] < now + CLOCK_SKEW_S)
        and (nonce is None or claims.get("nonce") == nonce)
    )  # fmt: skip
    if not is_valid:
        raise NotConnected("exchange_failed", "invalid_id_token")
    return claims


def _key_of(listed: Any) -> RSAKey | ECKey | None:
    """None for a key of another use, and for one that is not understood: it is ignored (RFC 7517 section 5)."""
    try:
        if listed["kty"] not in ("RSA", "EC") or listed.get("use", "sig") != "sig":
            return None
        key: RSAKey | ECKey = RSAKey.import_key(listed) if listed["kty"] == "RSA" else ECKey.import_key(listed)
        key.ensure_kid()
        return key
    except Exception:  # whatever its parts are
        return None


def _algorithm_of(id_token: str) -> str:
    """What its header says, which nothing has proved yet."""
    algorithm: str = json.loads(decode_base64(id_token.partition(".")[0]) or b"")["alg"]
    return algorithm


def _fits(key: RSAKey | ECKey, algorithm: str) -> bool:
    """One key id may name several keys, of other types or curves (RFC 7517 section 4.5)."""
    if isinstance(key, ECKey):
        return _CURVES.get(algorithm) == key.curve_name
    return algorithm[:2] in ("RS", "PS")


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
