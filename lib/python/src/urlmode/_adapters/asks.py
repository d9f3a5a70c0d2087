"""What a client has answered to being asked to open an elicitation. Clients decline, dismiss and fail by themselves, so an answer ends the
ask and not the elicitation. It is remembered with the elicitation, for the client's name and version, so that this client gets the link
as text from then on."""

from __future__ import annotations

import contextlib
from typing import Literal

import psycopg

from .._core.contract_calls import RowKey
from .._core.digest import digest_of_client
from .._core.errors import UrlModeError
from .._core.urlmode import UrlMode
from .clients import Client

AskAnswer = Literal["asked", "declined", "dismissed", "failed"]

REFUSALS: dict[str, tuple[Literal["declined", "dismissed"], str]] = {
    "decline": ("declined", "client_declined"), "cancel": ("dismissed", "client_dismissed"),
}  # fmt: skip
"""By the action of the client's response: what it is remembered as, and the reason of the call."""


async def begin_ask(urlmode: UrlMode, key: RowKey, client: Client, *, awaited: bool) -> Literal["", AskAnswer]:
    """Empty: it can be asked; otherwise it gets the link. `asked`: it was asked before, and has not seen the link.

    `awaited`: whether the answer comes with the next call, as in protocol revision 2026-07-28.
    """
    return await urlmode._database.begin_ask(key, digest_of_client(client.name, client.version), awaited)


async def end_ask(urlmode: UrlMode, key: RowKey, client: Client, answer: Literal["accepted", AskAnswer]) -> None:
    with contextlib.suppress(psycopg.Error, UrlModeError):  # Without the memory the client is asked again.
        await urlmode._database.end_ask(key, digest_of_client(client.name, client.version), answer)
