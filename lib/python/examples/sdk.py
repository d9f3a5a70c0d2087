"""An MCP server on the official Python SDK, 1.25 to 2.x, over HTTP: it sells a report and connects an account.

    URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= python sdk.py

Replace what belongs to your application. Until then these variables say what it is:

    PORT            where this server listens
    APP_USERS       the subject of each access token, {"a-token": "ada@example.org"}
    APP_ISSUER, APP_CLIENT_ID    an OpenID provider, and this server there, as a public client
    APP_CHECKOUT    the page on which the report is paid
    APP_CLIENTS     what is known of clients beside what they declare, as arguments of ClientFacts
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from types import FrameType
from typing import Any, Literal
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings

from urlmode import CallbackUrls, ClientFacts, Expected, UrlMode
from urlmode.mcp import Accepted, request_state_security, with_elicitation

SDK2 = True
try:
    from mcp.server.mcpserver import Context, MCPServer as Server
except ImportError:  # SDK 1.x
    from mcp.server.fastmcp import Context, FastMCP as Server  # type: ignore[attr-defined, no-redef]

    SDK2 = False

USERS: dict[str, str] = json.loads(os.environ.get("APP_USERS", "{}"))
ISSUER = os.environ.get("APP_ISSUER", "")
CLIENT_ID = os.environ.get("APP_CLIENT_ID", "")
CHECKOUT = os.environ.get("APP_CHECKOUT", "https://checkout.example/pay")


class Tokens:
    """Your authorization server says who the user of a token is. Never take it from anything else."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id="app", scopes=[], resource=self._url) if token in USERS else None


def subject() -> str:
    token = get_access_token()
    assert token is not None
    return USERS[token.token]


def fetch(request: str | Request) -> dict[str, Any]:
    with urlopen(request, timeout=10) as response:
        return dict(json.load(response))


def name_of_account(accepted: Accepted) -> str:
    """Exchanges the code for tokens, and asks whose account it is. Keep the tokens, and never send them to the client."""
    result = accepted.result or {}
    if result.get("iss", ISSUER) != ISSUER:  # RFC 9207
        raise ValueError("the response is of another issuer")
    provider = fetch(f"{ISSUER}/.well-known/openid-configuration")
    body = {
        "grant_type": "authorization_code", "client_id": CLIENT_ID, "code": result["code"],
        "redirect_uri": accepted.return_url, "code_verifier": accepted.code_verifier,
    }  # fmt: skip
    tokens = fetch(Request(provider["token_endpoint"], urlencode(body).encode()))
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    return str(fetch(Request(provider["userinfo_endpoint"], headers=bearer))["name"])


async def authorization_url(urls: CallbackUrls) -> str:
    provider = await asyncio.to_thread(fetch, f"{ISSUER}/.well-known/openid-configuration")
    query = {"client_id": CLIENT_ID, "response_type": "code", "scope": "openid profile", "redirect_uri": urls.return_url}
    return f"{provider['authorization_endpoint']}?{urlencode(query)}"


def make_server(urlmode: UrlMode, url: str) -> Any:
    auth: dict[str, Any] = {"issuer_url": ISSUER or "https://issuer.example", "resource_server_url": url, "validate_token_resource": True}
    more: dict[str, Any] = {"token_verifier": Tokens(url), "auth": AuthSettings(**auth, required_scopes=[])}
    if SDK2:
        more["request_state_security"] = request_state_security(urlmode)
    server = Server("reports", **more)

    async def sell(ctx: Context, ask: Literal["request", "error"]) -> Any:
        async def paid(accepted: Accepted) -> str:
            return f"Paid with {accepted.reference}."

        return await with_elicitation(
            ctx, paid, urlmode=urlmode, subject=subject(), provider="stripe", kind="payment", ask=ask,
            expected=Expected(1050, "EUR"), message="The report costs 10.50 EUR.", resume_key="report 2026",
            target_url=lambda urls: f"{CHECKOUT}?reference={urls.elicitation_id}",
        )  # fmt: skip

    @server.tool(structured_output=False)
    async def buy_report(ctx: Context) -> Any:
        """Buys the report."""
        return await sell(ctx, "request")

    @server.tool(structured_output=False)
    async def read_report(ctx: Context) -> Any:
        """Reads the report, once it is paid."""
        return await sell(ctx, "error")

    @server.tool(structured_output=False)
    async def connect_account(ctx: Context) -> Any:
        """Connects your Demo Account."""

        async def connected(accepted: Accepted) -> str:
            return f"Connected the account of {await asyncio.to_thread(name_of_account, accepted)}."

        return await with_elicitation(
            ctx, connected, urlmode=urlmode, subject=subject(), provider="demo", kind="oauth", pkce=True,
            message="Connect your Demo Account.", target_url=authorization_url,
        )  # fmt: skip

    return server


class Http(uvicorn.Server):
    """SIGTERM first ends the calls that wait: each has its link as the result. Then the server stops."""

    def __init__(self, app: Any, urlmode: UrlMode) -> None:
        super().__init__(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
        self._urlmode = urlmode
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._loop.call_soon_threadsafe(lambda: self._loop.create_task(self._stop()))

    async def _stop(self) -> None:
        await self._urlmode.aclose()
        self.should_exit = True


async def main() -> None:
    clients = [ClientFacts(**facts) for facts in json.loads(os.environ.get("APP_CLIENTS", "[]"))]
    listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "8000"))))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    async with UrlMode(
        database_url=os.environ["URLMODE_DATABASE_URL"], keys_file=os.environ["URLMODE_KEYS_FILE"],
        base_url=os.environ["URLMODE_BASE_URL"], clients=clients,
    ) as urlmode:  # fmt: skip
        http = Http(make_server(urlmode, url).streamable_http_app(), urlmode)
        print(url, flush=True)
        await http.serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(main())
