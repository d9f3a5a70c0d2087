"""The tokens of an account, sealed for its subject, provider and account under the vault's own keys (lib/PROTOCOL.md,
"Values")."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .._core import contract_texts as texts
from .._core.contract_limits import TOKENS_MAX
from .._core.contract_seals import ACCOUNT_INFO
from .._core.envelope import NotOpened, decrypt, encrypt
from .._core.errors import AccountSealError, AccountSizeError
from .._core.keys import Key, KeyRing
from .._core.seal import to_json



class Place(NamedTuple):
    """Where an account is in the vault. None of the texts contains NUL."""

    subject: str
    provider: str
    account: str


def _digest_of(place: Place) -> bytes:
    return hashlib.sha256("\0".join([ACCOUNT_INFO, *place]).encode()).digest()


def _cipher_of(key: Key, context: bytes) -> AESGCM:
    return AESGCM(key.derive(context, ACCOUNT_INFO.encode()))


def seal_tokens(keys: KeyRing, place: Place, tokens: Mapping[str, Any], nonce: bytes | None = None) -> bytes:
    """`nonce` is random, except in tests with known answers. Raises AccountSizeError."""
    key, context = keys.minting, _digest_of(place)
    try:
        text = to_json(tokens)
    except UnicodeEncodeError:  # Half of a surrogate pair, which JSON can have and UTF-8 cannot.
        text = json.dumps(tokens).encode()
    sealed = encrypt(_cipher_of(key, context), key.kid, context, text, nonce=nonce)
    if len(sealed) > TOKENS_MAX:
        raise AccountSizeError(place.provider)
    return sealed


def open_tokens(keys: KeyRing, place: Place, sealed: bytes) -> dict[str, Any]:
    """Raises AccountSealError."""
    context = _digest_of(place)

    def cipher_of(kid: int) -> AESGCM | None:
        key = keys.find(kid)
        if key is None:
            raise AccountSealError(place.provider, texts.no_such_vault_key(kid))
        return _cipher_of(key, context)

    try:
        tokens: dict[str, Any] = json.loads(decrypt(sealed, cipher_of, context))
    except NotOpened as error:
        raise AccountSealError(place.provider, str(error).replace("it is", "they are", 1)) from None
    return tokens
