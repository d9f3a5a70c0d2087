"""The request state of the official SDK 2.x, sealed with the keys of the keys file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .._core.contract_limits import CALL_MAX_S
from .._core.contract_seals import REQUEST_STATE_INFO
from .._core.envelope import NotOpened, decrypt, encrypt
from .._core.keys import decode_base64, encode_base64url
from .._core.urlmode import UrlMode

if TYPE_CHECKING:
    from mcp.server.request_state import RequestStateSecurity

_STATE_CONTEXT = b"request state"


def request_state_security(urlmode: UrlMode, *, ttl: float = CALL_MAX_S) -> RequestStateSecurity:
    """For `MCPServer(request_state_security=…)` of SDK 2.x: seals the request state with the keys of the keys file.

    By default the SDK seals it with a key of one process, so that no other process can open it. `urlmode`: whose keys these are.
    `ttl`: for how many seconds a state can be opened; a day by default. Raises ImportError with SDK 1.x.
    """
    from mcp.server.request_state import RequestStateSecurity

    return RequestStateSecurity(codec=_Codec(urlmode), ttl=ttl)


class _Codec:
    def __init__(self, urlmode: UrlMode) -> None:
        self._keys = urlmode._keys

    def seal(self, payload: bytes) -> str:
        key = self._keys.minting
        return encode_base64url(encrypt(key.cipher(REQUEST_STATE_INFO), key.kid, _STATE_CONTEXT, payload))

    def unseal(self, token: str) -> bytes:
        from mcp.server.request_state import InvalidRequestState

        def cipher_of(kid: int) -> AESGCM | None:
            key = self._keys.find(kid)
            return None if key is None else key.cipher(REQUEST_STATE_INFO)

        sealed = decode_base64(token)
        if sealed is None or encode_base64url(sealed) != token:
            raise InvalidRequestState("malformed")
        try:
            return decrypt(sealed, cipher_of, _STATE_CONTEXT)
        except NotOpened as error:
            raise InvalidRequestState(str(error)) from None
