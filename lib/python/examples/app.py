"""What belongs to your application in the examples beside it: its users, what it asks them for, and how it is served.

Until you replace it, these variables say what it is:

    PORT            where the server listens
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
from collections.abc import Callable
from types import FrameType
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token

from urlmode import ApprovalForm, CallbackUrls, ClientFacts, InputForm, Problem, UrlMode, Verify

USERS: dict[str, str] = json.loads(os.environ.get("APP_USERS", "{}"))
ISSUER = os.environ.get("APP_ISSUER", "")
CLIENT_ID = os.environ.get("APP_CLIENT_ID", "")
CHECKOUT = os.environ.get("APP_CHECKOUT", "https://checkout.example/pay")


def subject() -> str:
    token = get_access_token()
    assert token is not None
    return USERS[token.token]


def fetch(request: str | Request) -> dict[str, Any]:
    with urlopen(request, timeout=10) as response:
        return dict(json.load(response))


def name_of_account(accepted: Any) -> str:
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


KEY_FORM: InputForm = {
    "title": {"en": "Your API key", "de": "Ihr API-Schlüssel"},
    "fields": [{
        "name": "api_key", "type": "secret", "label": {"en": "API key", "de": "API-Schlüssel"}, "required": True, "min": 8,
        "link": {"url": "https://reports.example/keys", "label": "reports.example"},
    }],
}  # fmt: skip
TERMS: ApprovalForm = {"title": "Terms of the reports", "text": "Reports are for your own use."}
DELETION: ApprovalForm = {
    "title": "Delete all reports?", "facts": [{"label": "Reports", "value": "2024, 2025 and 2026"}], "comment": "optional",
}  # fmt: skip


async def verify_key(asked: Verify) -> Problem | None:
    """Asks the service whether it knows the key. What is returned is shown at the field."""
    if str(asked.values["api_key"]).startswith("sk-"):
        return None
    return Problem("api_key", {"en": "This key is not known.", "de": "Diesen Schlüssel gibt es nicht."})


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


async def serve(make_app: Callable[[UrlMode, str], Any]) -> None:
    """`make_app` makes an ASGI application of the server that has the given URL."""
    clients = [ClientFacts(**facts) for facts in json.loads(os.environ.get("APP_CLIENTS", "[]"))]
    listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "8000"))))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    async with UrlMode(
        database_url=os.environ["URLMODE_DATABASE_URL"], keys_file=os.environ["URLMODE_KEYS_FILE"],
        base_url=os.environ["URLMODE_BASE_URL"], clients=clients,
    ) as urlmode:  # fmt: skip
        http = Http(make_app(urlmode, url), urlmode)
        print(url, flush=True)
        await http.serve(sockets=[listener])
