"""Accounts of users at other providers: what `connect_account` of `urlmode.mcp` and `urlmode.fastmcp` takes and gives.

Requires the extra `oauth`: Authlib and joserfc.
"""

from ._accounts import Account, Connected
from ._client_auth import OAuthClient

__all__ = ["Account", "Connected", "OAuthClient"]
