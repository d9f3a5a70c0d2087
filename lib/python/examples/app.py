"""What belongs to your application in the examples beside it: its users, what it asks them for, and how it is served.

Until you replace it, these variables say what it is:

    PORT            where the server listens
    APP_USERS       the subject of each access token, {"a-token": "ada@example.org"}
    APP_ISSUER, APP_CLIENT_ID, APP_CLIENT_SECRET    an OpenID provider, and this server there; without a secret a public client
    APP_CHECKOUT    the page on which the report is paid
    APP_CLIENTS     what is known of clients beside what they declare, as arguments of ClientFacts
    APP_DATABASE_URL    a database of your own, in which paid.py keeps credits
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any

import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token

from urlmode import ApprovalForm, ClientFacts, Entitlement, InputForm, Problem, UrlMode, Verify
from urlmode.oauth import OAuthClient

USERS: dict[str, str] = json.loads(os.environ.get("APP_USERS", "{}"))
ISSUER = os.environ.get("APP_ISSUER", "")
CLIENT_ID = os.environ.get("APP_CLIENT_ID", "")
CLIENT_SECRET = os.environ.get("APP_CLIENT_SECRET") or None
CHECKOUT = os.environ.get("APP_CHECKOUT", "https://checkout.example/pay")


def subject() -> str:
    token = get_access_token()
    assert token is not None
    return USERS[token.token]


def client() -> OAuthClient:
    """This server, as the provider has registered it."""
    return OAuthClient(CLIENT_ID, CLIENT_SECRET)


def manage_url(entitlement: Entitlement) -> str:
    """The page on which a user settles a subscription that is past due, such as Stripe's portal."""
    return f"https://billing.example/manage?subscription={entitlement.subscription}"


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


async def serve(make_app: Callable[[UrlMode, str], Any], *loops: Callable[[UrlMode], Coroutine[Any, Any, None]]) -> None:
    """`make_app` makes an ASGI application of the server that has the given URL. The loops run beside it."""
    clients = [ClientFacts(**facts) for facts in json.loads(os.environ.get("APP_CLIENTS", "[]"))]
    listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "8000"))))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    async with UrlMode(
        database_url=os.environ["URLMODE_DATABASE_URL"], keys_file=os.environ["URLMODE_KEYS_FILE"],
        base_url=os.environ["URLMODE_BASE_URL"], clients=clients,
    ) as urlmode:  # fmt: skip
        http = Http(make_app(urlmode, url), urlmode)
        beside = [asyncio.create_task(loop(urlmode)) for loop in loops]
        print(url, flush=True)
        await http.serve(sockets=[listener])
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
