"""The vault: accounts that users have connected, whose tokens are sealed in the database and refreshed when they are
needed. lib/node/VAULT.md describes what it does; `use_account` of `urlmode.mcp` and `urlmode.fastmcp` uses it in a tool.

Requires the extra `oauth`: Authlib and joserfc.
"""

from __future__ import annotations

from ._core.platform import missing

try:
    import authlib, joserfc  # noqa: F401
except ModuleNotFoundError as error:
    raise missing("urlmode.vault", "oauth") from error

from ._accounts.provider import Account, Connected
from ._vault.types import AccessToken, AccountEvent, Disconnected, KeyInUse, ListedAccount, Provider, Resealed
from ._vault.vault import Vault

__all__ = [
    "AccessToken",
    "Account",
    "AccountEvent",
    "Connected",
    "Disconnected",
    "KeyInUse",
    "ListedAccount",
    "Provider",
    "Resealed",
    "Vault",
]
