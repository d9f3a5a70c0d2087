"""Requests to a provider. They carry codes, secrets and tokens, so nothing here logs: neither an address nor a body."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from .._core.contract_limits import ACCOUNT_ANSWER_MAX, ACCOUNT_REQUEST_S

_GATEWAY = {502, 504, *range(520, 528)}
# Its own, so that a provider that does not answer holds up nothing else of the process, such as the resolver.
_THREADS = ThreadPoolExecutor(32, thread_name_prefix="urlmode-http")


class RequestFailed(Exception):
    """There is no answer. The message is a code, without an address."""

    def __init__(self, detail: str, *, is_answer_lost: bool = False, status: int | None = None) -> None:
        super().__init__(detail)
        self.is_by_gateway = status in _GATEWAY
        """A gateway has answered. Whether the provider got the request, or is still at it, it does not say."""
        self.is_answer_lost = is_answer_lost or self.is_by_gateway
        """The request may have arrived, and what was answered did not come or cannot be read."""


@dataclass(frozen=True)
class Answer:
    status: int
    content_type: str
    body: bytes = field(repr=False)
    date: str = ""
    """the header: when it was answered, by the provider's clock"""


@functools.cache
def _tls() -> ssl.SSLContext:
    """Made once: it takes tens of milliseconds to read the certificates."""
    return ssl.create_default_context()


def _connection_to(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    host = parts.hostname or ""
    connection = (
        http.client.HTTPSConnection(host, parts.port or 443, timeout=ACCOUNT_REQUEST_S, context=_tls())
        if parts.scheme == "https"
        else http.client.HTTPConnection(host, parts.port or 80, timeout=ACCOUNT_REQUEST_S)
    )
    # Once it is closed, nothing is sent on a new connection.
    connection.auto_open = 0
    return connection


async def send(method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
    """Sends one request, and follows no redirect. Nothing is sent after a call that was cancelled. Raises RequestFailed."""
    connection: http.client.HTTPConnection | None = None
    over = threading.Event()
    is_sent = False
    status: int | None = None

    def ask() -> Answer:
        nonlocal connection, is_sent, status
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = _connection_to(url)  # which reads the certificates of the machine
        try:
            try:
                connection.connect()
            except OSError:
                # Nothing was sent: only then a code or a refresh token may be sent once more.
                connection.close()
                if not over.is_set():
                    connection.connect()
            # Before that look: a call that has ended and finds it false knows that nothing will be sent.
            is_sent = True
            if over.is_set():
                raise RequestFailed("TIMEOUT")
            connection.request(method, path, body, {"accept": "application/json", "user-agent": "urlmode", **headers})
            response = connection.getresponse()
            status = response.status
            content = response.read(ACCOUNT_ANSWER_MAX + 1)
        finally:
            connection.close()
        if len(content) > ACCOUNT_ANSWER_MAX:
            raise failed("ANSWER_TOO_LARGE")
        if response.length:
            raise failed("IncompleteRead")  # which read() with a limit does not say
        return Answer(response.status, response.headers.get("content-type", ""), content, response.headers.get("date", ""))

    def failed(detail: str) -> RequestFailed:
        over.set()
        # The status alone says that the provider has refused.
        return RequestFailed(detail, is_answer_lost=is_sent and (status is None or 200 <= status < 300), status=status)

    try:
        return await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(_THREADS, ask), ACCOUNT_REQUEST_S)
    except asyncio.TimeoutError:
        raise failed("TIMEOUT") from None
    except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
        # The error may quote what was sent or received.
        raise failed(type(error).__name__) from None
    finally:
        over.set()
        # Ends the thread of a call that was cancelled. SSLSocket.shutdown gives up the TLS first, and what that thread is
        # about to send would go out in clear before the connection ends: only the connection below it is shut down.
        sock = None if connection is None else connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
