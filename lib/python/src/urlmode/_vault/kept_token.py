"""Some providers give a refresh token at the first consent only, which can be used again and again. Where the answer to a later one has none,
the account keeps the one that it has."""

from __future__ import annotations

from typing import NamedTuple

from .._accounts.provider import Connected
from .._core.errors import AccountSealError
from .._core.keys import KeyRing
from .database import VaultDatabase
from .sealed_tokens import Place, open_tokens


class Kept(NamedTuple):
    version: int
    refresh_token: str


async def read_kept(database: VaultDatabase, keys: KeyRing, place: Place, connected: Connected) -> Kept | None:
    """None: there is none that is worth keeping, such as one for fewer scopes, which could not replace the new token."""
    if "refresh_token" in connected.tokens:
        return None
    rows = await database.read(*place)
    if not rows or rows[0].state != "connected" or not set(rows[0].scopes).issuperset(connected.scopes):
        return None
    try:
        tokens = open_tokens(keys, place, rows[0].tokens)
    except AccountSealError:
        return None
    # A long-lived token is renewed with itself.
    if tokens.get("refresh_token") in (None, tokens["access_token"]):
        return None
    return Kept(rows[0].version, tokens["refresh_token"])
