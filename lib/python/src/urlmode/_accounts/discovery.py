"""The metadata that an OpenID provider publishes (OpenID Connect Discovery section 4)."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit

from .._core.contract_limits import METADATA_MAX, METADATA_S
from .._core.errors import ProviderUnavailableError
from .request import RequestFailed, send
from .token_response import read_json

_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint", "revocation_endpoint")
# What is kept of a document, which may have a megabyte.
_USED = (
    "issuer", *_ENDPOINTS, "authorization_response_iss_parameter_supported", "id_token_signing_alg_values_supported",
)  # fmt: skip
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

_known: dict[str, tuple[float, dict[str, Any]]] = {}
"""by issuer, the oldest first. An answer that is not accepted is not kept."""


async def discover(provider: str, issuer: str) -> dict[str, Any]:
    """`provider` is named by the error. Raises ProviderUnavailableError."""
    at, metadata = _known.get(issuer, (0.0, None))
    if metadata is not None and time.monotonic() - at < METADATA_S:
        return metadata
    metadata = await _ask(provider, issuer)
    _known.pop(issuer, None)
    while len(_known) >= METADATA_MAX:
        del _known[next(iter(_known))]
    _known[issuer] = (time.monotonic(), metadata)
    return metadata


async def _ask(provider: str, issuer: str) -> dict[str, Any]:
    try:
        answer = await send("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration", {})
    except RequestFailed as error:
        raise ProviderUnavailableError(provider, str(error)) from None
    metadata = read_json(answer) if answer.status == 200 else None
    if not isinstance(metadata, dict):
        raise ProviderUnavailableError(provider, f"status_{answer.status}")
    if metadata.get("issuer") != issuer:
        raise ProviderUnavailableError(provider, "another_issuer")
    may_be_plain = urlsplit(issuer).hostname in _LOOPBACK
    for name in _ENDPOINTS:
        url = metadata.get(name)
        if url is None and name in ("userinfo_endpoint", "revocation_endpoint"):
            continue
        if not isinstance(url, str) or not _is_safe(url, may_be_plain):
            raise ProviderUnavailableError(provider, f"invalid {name}")
    return {name: metadata[name] for name in _USED if name in metadata}


def _is_safe(url: str, may_be_plain: bool) -> bool:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (may_be_plain and parts.scheme == "http" and host in _LOOPBACK))
