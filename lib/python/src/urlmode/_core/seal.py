"""Sealed JSON (lib/PROTOCOL.md, "Values"). The callback programs open forms and problems, and the SDK the rest.

An event of a provider names no owner, so its result and outcome are sealed for the id alone: they begin with 02, and
neither key nor context has the binding.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from . import contract_texts as texts
from .contract_limits import FULFILLED_MAX, RESULT_MAX
from .contract_seals import (
    EVENT_OUTCOME_INFO,
    EVENT_RESULT_INFO,
    FORM_INFO,
    FULFILLED_INFO,
    OUTCOME_INFO,
    PROBLEM_INFO,
    RESULT_INFO,
    ROUND_INFO,
    TASK_INFO,
    VERIFIER_INFO,
)
from .envelope import OVERHEAD, NotOpened, decrypt, encrypt
from .errors import ElicitationSealError
from .keys import Key, KeyRing
from .token import id_bytes
from .types import Action


RESULT_JSON_MAX = RESULT_MAX - OVERHEAD
"""The largest result as JSON text, in bytes: the limit of the column less what sealing adds."""
FULFILLED_JSON_MAX = FULFILLED_MAX - OVERHEAD
"""The same of what a call has returned."""


@dataclass(frozen=True)
class NotifiedOutcome:
    action: Action
    reason: str
    reference: str | None
    result: dict[str, Any] | None


def row_bytes(elicitation_id: str, binding: bytes) -> bytes:
    """The context of an outcome: id || binding, 32 bytes."""
    return id_bytes(elicitation_id) + binding


def _version_of(use: str) -> int:
    return 2 if use in (EVENT_RESULT_INFO, EVENT_OUTCOME_INFO) else 1


def _cipher_for(key: Key, use: str, row: bytes) -> AESGCM:
    if use == RESULT_INFO:
        return AESGCM(key.derive(row[:16], use.encode() + row[16:]))
    if use == EVENT_RESULT_INFO:
        return AESGCM(key.derive(row[:16], use.encode()))
    return key.cipher(use)


def _context_of(use: str, row: bytes) -> bytes:
    return row if use in (VERIFIER_INFO, OUTCOME_INFO, FULFILLED_INFO, ROUND_INFO, TASK_INFO, FORM_INFO, PROBLEM_INFO) else row[:16]


def to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def seal(
    keys: KeyRing, use: str, elicitation_id: str, binding: bytes, text: bytes, nonce: bytes | None = None
) -> bytes:
    """Seals JSON text. `nonce` is random, except in tests with known answers."""
    key = keys.minting
    row = row_bytes(elicitation_id, binding)
    cipher = _cipher_for(key, use, row)
    return encrypt(cipher, key.kid, _context_of(use, row), text, version=_version_of(use), nonce=nonce)


def unseal(keys: KeyRing, use: str, elicitation_id: str, binding: bytes, sealed: bytes) -> dict[str, Any]:
    """Opens a JSON object. For RESULT_INFO also a result that is sealed for the id alone is opened."""
    if use == RESULT_INFO and sealed[:1] == b"\x02":
        use = EVENT_RESULT_INFO
    try:
        return _open(keys, use, row_bytes(elicitation_id, binding), sealed)
    except NotOpened as error:
        raise ElicitationSealError(elicitation_id, str(error)) from None


def open_outcome(keys: KeyRing, row: bytes, announced: str) -> NotifiedOutcome | None:
    """Opens an outcome that was announced, in base64. None if it is not genuine, or of another elicitation."""
    try:
        sealed = base64.b64decode(announced, validate=True)
        value = _open(keys, EVENT_OUTCOME_INFO if sealed[:1] == b"\x02" else OUTCOME_INFO, row, sealed)
        return NotifiedOutcome(value["action"], value["reason"], value.get("reference"), value.get("result"))
    except (binascii.Error, ValueError, KeyError, NotOpened):
        return None


def _open(keys: KeyRing, use: str, row: bytes, sealed: bytes) -> dict[str, Any]:
    def cipher_of(kid: int) -> AESGCM | None:
        key = keys.find(kid)
        return None if key is None else _cipher_for(key, use, row)

    opened = decrypt(sealed, cipher_of, _context_of(use, row), version=_version_of(use))
    try:
        value = json.loads(opened)
    except ValueError:
        value = None  # The error quotes the text.
    except RecursionError:
        raise NotOpened("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise NotOpened(texts.NOT_A_JSON_OBJECT)
    return value
