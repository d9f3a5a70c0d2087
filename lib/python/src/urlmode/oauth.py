"""Accounts of users at other providers: what `connect_account` of `urlmode.mcp` and `urlmode.fastmcp` takes and gives.

Requires the extra `oauth`: Authlib and joserfc.
"""

from ._accounts.client_authentication import OAuthClient
from ._accounts.provider import Account, Connected

__all__ = ["Account", "Connected", "OAuthClient"]
