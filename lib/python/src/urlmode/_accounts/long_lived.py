"""Exchanges a token for one that lives longer, and renews that one: a request of the provider's own (`long_lived` of
lib/providers/ACCOUNTS.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from .client_authentication import OAuthClient
from .request import send
from .token_response import to_tokens

_PLACE = re.compile(r"\{(access_token|client_id|client_secret)\}")


async def lengthen(
    request: Mapping[str, Any], access_token: str, client: OAuthClient, rules: Mapping[str, Any]
) -> dict[str, Any]:
    """The tokens, with the access token as refresh token. Raises RequestFailed.

    With GET, the token and the secret are in the address of the request, because the provider wants it so.
    """
    values = {"access_token": access_token, "client_id": client.id, "client_secret": client.secret or ""}
    parameters = urlencode({
        name: _PLACE.sub(lambda place: values[place[1]], value) for name, value in request["parameters"].items()
    })  # fmt: skip
    if request.get("method") == "GET":
        answer = await send("GET", f"{request['endpoint']}?{parameters}", {})
    else:
        form = {"content-type": "application/x-www-form-urlencoded"}
        answer = await send("POST", request["endpoint"], form, parameters.encode())
    tokens = to_tokens(answer, {**rules, "token_type": "bearer"}, keeps_id_token=False, otherwise="no_long_lived_token")
    return {**tokens, "refresh_token": tokens["access_token"]}
