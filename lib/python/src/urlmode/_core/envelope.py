"""AES-256-GCM in the layout that all sealed values share (lib/PROTOCOL.md, "Values").

    version || kid || nonce(12) || ciphertext || tag(16)    AAD = version || kid || context
"""

from __future__ import annotations

import os
from collections.abc import Callable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from . import contract_texts as texts
from .contract_seals import NONCE_BYTES, TAG_BYTES

_HEADER_BYTES = 2 + NONCE_BYTES
OVERHEAD = _HEADER_BYTES + TAG_BYTES
"""How many bytes encryption adds."""


class NotOpened(Exception):
    """Why a sealed value cannot be opened, without anything of it."""


def encrypt(
    cipher: AESGCM, kid: int, context: bytes, plaintext: bytes, *, version: int = 1, nonce: bytes | None = None
) -> bytes:
    """Seals with the cipher of key `kid`. The nonce is random, except in tests with known answers."""
    prefix = bytes((version, kid))
    nonce = nonce or os.urandom(NONCE_BYTES)
    return prefix + nonce + cipher.encrypt(nonce, plaintext, prefix + context)


def decrypt(sealed: bytes, cipher_of: Callable[[int], AESGCM | None], context: bytes, *, version: int = 1) -> bytes:
    """Opens what was sealed. `cipher_of` returns the cipher of a kid, or None for an unknown one."""
    if len(sealed) < OVERHEAD or sealed[0] != version:
        raise NotOpened("it is malformed")
    cipher = cipher_of(sealed[1])
    if cipher is None:
        raise NotOpened(texts.no_such_key(sealed[1]))
    try:
        return cipher.decrypt(sealed[2:_HEADER_BYTES], sealed[_HEADER_BYTES:], sealed[:2] + context)
    except InvalidTag:
        raise NotOpened(texts.NOT_GENUINE) from None
