"""The keys file: `<kid 0..255> <base64 or base64url of 32 bytes or more>` on each line.

Empty lines and lines that begin with `#` are ignored. The first key seals; all keys open.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import re
import stat
import time

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from . import contract_texts as texts
from .contract_limits import KEYS_CHECK_S, SECRET_MAX, SECRET_MIN
from .errors import KeysFileError
from .log import warn



class Key:
    __slots__ = ("_ciphers", "_secret", "_shared", "kid")

    def __init__(self, kid: int, secret: bytes) -> None:
        self.kid = kid
        self._secret = secret
        self._shared: dict[str, bytes] = {}
        self._ciphers: dict[str, AESGCM] = {}

    def __repr__(self) -> str:
        return f"<Key {self.kid}>"

    def derive(self, salt: bytes, info: bytes) -> bytes:
        """Derives 32 bytes from the secret with HKDF-SHA256 (RFC 5869)."""
        extracted = hmac.digest(salt, self._secret, "sha256")
        return hmac.digest(extracted, info + b"\x01", "sha256")

    def shared(self, purpose: str) -> bytes:
        """The key of all values of one purpose, derived without a salt."""
        if (key := self._shared.get(purpose)) is None:
            key = self._shared[purpose] = self.derive(b"", purpose.encode())
        return key

    def cipher(self, purpose: str) -> AESGCM:
        if (cipher := self._ciphers.get(purpose)) is None:
            cipher = self._ciphers[purpose] = AESGCM(self.shared(purpose))
        return cipher


class KeyRing:
    """The keys of a file at one time."""

    def __init__(self, keys: list[Key]) -> None:
        self._first = keys[0]
        self._by_kid = {key.kid: key for key in keys}

    @property
    def minting(self) -> Key:
        return self._first

    def find(self, kid: int) -> Key | None:
        return self._by_kid.get(kid)


def decode_base64(text: str) -> bytes | None:
    """Accepts base64 and base64url, with or without padding, but no bits that are left over."""
    unpadded = re.sub("={1,2}$", "", text) if len(text) % 4 == 0 else text
    url = unpadded.replace("+", "-").replace("/", "_")
    try:
        decoded = base64.b64decode(url + "=" * (-len(url) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if encode_base64url(decoded) == url else None


def encode_base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _parse_line(line: str, at: str) -> Key:
    words = re.split("[ \t]+", line)
    if len(words) != 2:
        raise KeysFileError(f"{at}: {texts.KEY_LINE}")
    kid, secret = words
    if not re.fullmatch("[0-9]+", kid) or int(kid) > 255:
        raise KeysFileError(f"{at}: {texts.KEY_KID}")
    decoded = decode_base64(secret)
    if decoded is None or len(decoded) > SECRET_MAX:
        raise KeysFileError(f"{at}: {texts.KEY_TOO_LONG}")
    if len(decoded) < SECRET_MIN:
        raise KeysFileError(f"{at}: {texts.KEY_TOO_SHORT}")
    return Key(int(kid), decoded)


def parse_keys(text: str, file: str) -> KeyRing:
    """`file` is its name, for error messages."""
    keys: dict[int, Key] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip(" \t\r")
        if not line or line.startswith("#"):
            continue
        key = _parse_line(line, f"{file}:{number}")
        if key.kid in keys:
            raise KeysFileError(f"{file}:{number}: {texts.kid_twice(key.kid)}")
        keys[key.kid] = key
    if not keys:
        raise KeysFileError(f"{file}: {texts.NO_KEY_IN_FILE}")
    return KeyRing(list(keys.values()))


def have_common_key(one: KeyRing, other: KeyRing) -> bool:
    """Whether two rings have a secret in common, under whatever kid."""
    marks, others = (
        {key.shared("urlmode common key") for kid in range(256) if (key := ring.find(kid))} for ring in (one, other)
    )
    return not marks.isdisjoint(others)


_Fingerprint = tuple[int, int, int, int, int, int]


def _fingerprint(status: os.stat_result) -> _Fingerprint:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mode, status.st_mtime_ns, status.st_ctime_ns)


def _open_at_once(file: str, flags: int) -> int:
    return os.open(file, flags | os.O_NONBLOCK)  # A pipe in its place must not block.


class KeysFile(KeyRing):
    """Reads the file, and reads it again when it changes.

    A key that was added as the first line seals at once; a key that was removed opens nothing. If the changed
    file is not valid, the keys stay as they were, and one warning is logged.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._fingerprint: _Fingerprint | None = None
        self._checked_at = time.monotonic()
        self._keys = self._read()

    @property
    def minting(self) -> Key:
        self._refresh(KEYS_CHECK_S)
        return self._keys.minting

    def find(self, kid: int) -> Key | None:
        self._refresh(KEYS_CHECK_S)
        key = self._keys.find(kid)
        if key is None:
            # The key may have been added just now.
            self._refresh(0)
            key = self._keys.find(kid)
        return key

    def _read(self) -> KeyRing:
        try:
            with open(self._file, encoding="latin-1", opener=_open_at_once) as file:
                # Before the content is read, so that a later change is noticed next time.
                status = os.fstat(file.fileno())
                self._fingerprint = _fingerprint(status)
                if not stat.S_ISREG(status.st_mode):
                    raise KeysFileError(f"{self._file}: {texts.NOT_A_FILE}")
                if status.st_mode & 0o007:
                    raise KeysFileError(f"{self._file}: {texts.FILE_NOT_PRIVATE}")
                return parse_keys(file.read(), self._file)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or texts.FILE_NOT_READABLE
            raise KeysFileError(f"{self._file}: {reason}") from None

    def _refresh(self, max_age: float) -> None:
        now = time.monotonic()
        if now - self._checked_at < max_age:
            return
        self._checked_at = now
        try:
            current: _Fingerprint | None = _fingerprint(os.stat(self._file))
        except OSError:
            current = None
        if current == self._fingerprint:
            return
        self._fingerprint = current
        try:
            self._keys = self._read()
        except KeysFileError as error:
            warn("URLMODE_KEYS_FILE", texts.keys_stay(str(error)))
