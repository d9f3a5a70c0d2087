"""The state token, the short state of a link, the session ticket, and the digests of owner and browser.

lib/PROTOCOL.md, "Values", describes them. Text is base64url without padding.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import time
import uuid
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from . import contract_texts as texts
from .contract_seals import (
    BINDING_LABEL,
    BROWSER_LABEL,
    DIGEST_BYTES,
    LINK_INFO,
    LINK_MAC_BYTES,
    STATE_INFO,
    TENANT_BINDING_LABEL,
    TICKET_COOKIE,
    TICKET_INFO,
)
from .envelope import OVERHEAD, NotOpened, decrypt, encrypt
from .errors import StateTokenError
from .keys import Key, KeyRing, decode_base64, encode_base64url
from .types import Ticket

_STATE_BYTES = 16 + 8 + 2 * DIGEST_BYTES
_LINK_MAC_AT = 2 + 16
_LINK_BYTES = _LINK_MAC_AT + LINK_MAC_BYTES
_UNBOUND = bytes(16)


@dataclass(frozen=True)
class State:
    id: str
    expires: int
    """Unix seconds"""
    binding: bytes
    browser: bytes = _UNBOUND
    """zeros: any browser"""
    kid: int = 0
    """of the key that has sealed it"""


def id_bytes(elicitation_id: str) -> bytes:
    return bytes.fromhex(elicitation_id.replace("-", ""))


def binding_of(subject: str, session: str, tenant: str = "") -> bytes:
    """Binds a row to its owner. Every function of the schema expects it beside the id. An empty tenant is none."""
    label = f"{TENANT_BINDING_LABEL}\0{tenant}" if tenant else BINDING_LABEL
    return hashlib.sha256(f"{label}\0{subject}\0{session}".encode()).digest()[:DIGEST_BYTES]


def browser_of(cookie: str) -> bytes:
    """Binds a token to a browser, by the value of its cookie."""
    return hashlib.sha256(f"{BROWSER_LABEL}\0{cookie}".encode()).digest()[:DIGEST_BYTES]


def _context(purpose: str, provider: str) -> bytes:
    return f"{purpose}\0{provider}".encode()


def mint_state(key: Key, purpose: str, provider: str, state: State, nonce: bytes | None = None) -> str:
    plaintext = id_bytes(state.id) + state.expires.to_bytes(8, "big") + state.binding + state.browser
    return encode_base64url(encrypt(key.cipher(STATE_INFO), key.kid, _context(purpose, provider), plaintext, nonce=nonce))


def open_state(keys: KeyRing, purpose: str, provider: str, text: str, now: float | None = None) -> State:
    sealed = _decode(text, _STATE_BYTES + OVERHEAD)

    def cipher_of(kid: int) -> AESGCM | None:
        key = keys.find(kid)
        return None if key is None else key.cipher(STATE_INFO)

    try:
        opened = decrypt(sealed, cipher_of, _context(purpose, provider))
    except NotOpened:
        raise StateTokenError from None
    expires = int.from_bytes(opened[16:24], "big")
    if expires <= (time.time() if now is None else now):
        raise StateTokenError(expired=True)
    return State(str(uuid.UUID(bytes=opened[:16])), expires, opened[24:40], opened[40:], sealed[1])


def _decode(text: str, size: int) -> bytes:
    decoded = decode_base64(text)
    # Base64url without padding has exactly one text for its bytes.
    if decoded is None or len(decoded) != size or encode_base64url(decoded) != text:
        raise StateTokenError
    return decoded


def _link_mac(key: Key, purpose: str, provider: str, named: bytes) -> bytes:
    covered = named[:2] + _context(purpose, provider) + b"\0" + named[2:]
    return hmac.digest(key.shared(LINK_INFO), covered, "sha256")[:LINK_MAC_BYTES]


def mint_link(key: Key, provider: str, elicitation_id: str, purpose: str = "connect") -> str:
    """The `state` of the address that is elicited: always the same for a key and an elicitation. `purpose`: `approve` for
    an approval by others than its subject."""
    named = bytes((1, key.kid)) + id_bytes(elicitation_id)
    return encode_base64url(named + _link_mac(key, purpose, provider, named))


def open_link(keys: KeyRing, provider: str, text: str, purpose: str = "connect") -> tuple[str, int]:
    """The elicitation's id, and the id of the key that has minted the link."""
    link = _decode(text, _LINK_BYTES)
    key = keys.find(link[1])
    if link[0] != 1 or key is None:
        raise StateTokenError
    if not hmac.compare_digest(link[_LINK_MAC_AT:], _link_mac(key, purpose, provider, link[:_LINK_MAC_AT])):
        raise StateTokenError
    return str(uuid.UUID(bytes=link[2:_LINK_MAC_AT])), key.kid


def mint_ticket(key: Key, subject: str, expires: int, nonce: bytes | None = None) -> str:
    plaintext = expires.to_bytes(8, "big") + subject.encode()
    return encode_base64url(encrypt(key.cipher(TICKET_INFO), key.kid, b"ticket", plaintext, nonce=nonce))


def ticket_cookie(key: Key, subject: str, ttl_ms: int) -> Ticket:
    """Because of the prefix of its name, other hosts of the site cannot set it (RFC 6265bis section 4.1.3.2)."""
    seconds = math.ceil(ttl_ms / 1000)
    value = mint_ticket(key, subject, int(time.time()) + seconds)
    header = texts.ticket_cookie(TICKET_COOKIE, value, seconds)
    return Ticket(name=TICKET_COOKIE, value=value, header=header)
