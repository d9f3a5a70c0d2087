"""Accounts of users at other providers: what `connect_account` of `urlmode.mcp` and `urlmode.fastmcp` takes and gives.

Requires the extra `oauth`: Authlib and joserfc.
"""

from ._core.platform import missing

try:
    import authlib, joserfc  # noqa: F401
except ModuleNotFoundError as error:
    raise missing("urlmode.oauth", "oauth") from error

from ._accounts.client_authentication import OAuthClient
from ._accounts.provider import Account, Connected

__all__ = ["Account", "Connected", "OAuthClient"]
