"""Requests to a provider. They carry codes, secrets and tokens, so nothing here logs: neither an address nor a body."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

ANSWER_MAX = 1_048_576
"""In bytes: far more than tokens, keys and metadata have."""
_TIMEOUT_S = 30.0


class RequestFailed(Exception):
    """There is no answer. The message is a code, without an address."""


@dataclass(frozen=True)
class Answer:
    status: int
    content_type: str
    body: bytes = field(repr=False)


async def send(method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
    """Sends one request, and follows no redirect. Raises RequestFailed."""
    parts = urlsplit(url)
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(
            parts.hostname or "", parts.port, timeout=_TIMEOUT_S, context=ssl.create_default_context()
        )
    else:
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_TIMEOUT_S)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def ask() -> Answer:
        connection.request(method, path, body, {"accept": "application/json", "user-agent": "urlmode", **headers})
        response = connection.getresponse()
        content = response.read(ANSWER_MAX + 1)
        if len(content) > ANSWER_MAX:
            raise RequestFailed("ANSWER_TOO_LARGE")
        return Answer(response.status, response.headers.get("content-type", ""), content)

    try:
        return await asyncio.wait_for(asyncio.to_thread(ask), _TIMEOUT_S)
    except asyncio.TimeoutError:
        raise RequestFailed("TIMEOUT") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        # The error may quote what was sent or received.
        raise RequestFailed(type(error).__name__) from None
    finally:
        # Ends the thread of a call that was cancelled.
        with contextlib.suppress(OSError, AttributeError):
            connection.sock.shutdown(socket.SHUT_RDWR)
        connection.close()
