"""Requests to a provider. They carry codes, secrets and tokens, so nothing here logs: neither an address nor a body."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import http.client
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Literal
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from .._core.contract_limits import ACCOUNT_ANSWER_MAX, ACCOUNT_HEADER_MAX, ACCOUNT_REQUEST_S, FROZEN_S, RETRY_AFTER_MAX_S, THAW_S

# Its own, so that a provider that does not answer holds up nothing else of the process, such as the resolver.
_THREADS = ThreadPoolExecutor(32, thread_name_prefix="urlmode-http")


class RequestFailed(Exception):
    """There is no answer. The message is a code, without an address."""

    def __init__(
        self, detail: str, *, lost: Literal["answer", "status"] | None = None, retry_after_ms: int | None = None
    ) -> None:
        super().__init__(detail)
        self.lost: Literal["answer", "status"] | None = lost
        """The request may have arrived, and nobody knows what was done. `answer`: what was answered did not come or cannot
        be read; `status`: it has a status that does not say it."""
        self.retry_after_ms = retry_after_ms
        """for how long the provider wants to be left alone"""


@dataclass(frozen=True)
class Answer:
    status: int
    content_type: str
    body: bytes = field(repr=False)
    date: str = ""
    """the header: when it was answered, by the provider's clock"""
    retry_after_ms: int | None = None
    """with a status that is no success"""

    @property
    def lost(self) -> Literal["answer", "status"]:
        """What is lost if it does not say what was done."""
        return _lost_with(self.status)


def is_ok(status: int) -> bool:
    return 200 <= status < 300


def _lost_with(status: int | None) -> Literal["answer", "status"]:
    return "answer" if status is None or is_ok(status) else "status"


def seconds_of(date: str) -> float:
    """Of a date of HTTP; without one, now."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return time.time()


def _retry_after_ms(headers: http.client.HTTPMessage) -> int | None:
    said = headers.get("retry-after", "").strip()
    if re.fullmatch("[0-9]+", said):
        seconds = min(float(said), RETRY_AFTER_MAX_S)
    elif re.match("[A-Z][a-z]+, ", said):
        seconds = min(seconds_of(said) - seconds_of(headers.get("date", "")), RETRY_AFTER_MAX_S)
    else:
        return None
    return round(1000 * seconds) if seconds > 0 else None


class _Response(http.client.HTTPResponse):
    """Also skips other statuses than 100 that come before the answer, such as 103 (RFC 9110 section 15.2)."""

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if not 101 < status < 200:
                return version, status, reason
            http.client.parse_headers(self.fp)


def _decoded(content: bytes, encoding: str) -> bytes:
    """Some compress an answer although nobody has asked for it. At most as much as is read of any answer, and a byte."""
    if encoding.strip().lower() not in ("gzip", "x-gzip"):
        return content
    return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(content, ACCOUNT_ANSWER_MAX + 1)


@functools.cache
def _tls() -> ssl.SSLContext:
    """Made once: it takes tens of milliseconds to read the certificates."""
    return ssl.create_default_context()


def _connection_to(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "https":
        connection: http.client.HTTPConnection = _by_proxy(host, parts.port or 443) or http.client.HTTPSConnection(
            host, parts.port or 443, timeout=ACCOUNT_REQUEST_S, context=_tls()
        )
    else:  # on loopback
        connection = http.client.HTTPConnection(host, parts.port or 80, timeout=ACCOUNT_REQUEST_S)
    # Once it is closed, nothing is sent on a new connection.
    connection.auto_open = 0
    connection.response_class = _Response
    return connection


async def _within(asking: asyncio.Future[Answer], limit: float) -> Answer:
    """Where the process stood still meanwhile, what came then is read first. Raises asyncio.TimeoutError."""
    until = time.monotonic() + limit
    await asyncio.wait({asking}, timeout=limit)
    if not asking.done() and time.monotonic() > until + FROZEN_S:
        await asyncio.wait({asking}, timeout=THAW_S)
    if not asking.done():
        asking.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        raise asyncio.TimeoutError
    return asking.result()


def _by_proxy(host: str, port: int) -> http.client.HTTPSConnection | None:
    """Through the proxy of HTTPS_PROXY, unless NO_PROXY names the host. What is sent, the proxy cannot read."""
    url = getproxies().get("https")
    if not url or proxy_bypass(f"{host}:{port}"):
        return None
    proxy = urlsplit(url if "://" in url else f"http://{url}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise ValueError("HTTPS_PROXY must be a URL with http")
    connection = http.client.HTTPSConnection(proxy.hostname, proxy.port or 80, timeout=ACCOUNT_REQUEST_S, context=_tls())
    headers = {}
    if proxy.username is not None:
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    connection.set_tunnel(host, port, headers)
    return connection


async def send(
    method: str, url: str, headers: Mapping[str, str], body: bytes | None = None, limit: float | None = None
) -> Answer:
    """Sends one request, and follows no redirect. Nothing is sent after a call that was cancelled. Raises RequestFailed.

    `limit`: in seconds, if it may not take as long as any.
    """
    connection: http.client.HTTPConnection | None = None
    over = threading.Event()
    is_sent = False
    status: int | None = None
    retry_after_ms: int | None = None

    def ask() -> Answer:
        nonlocal connection, is_sent, status, retry_after_ms
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
            with connection.getresponse() as response:
                status = response.status
                retry_after_ms = None if is_ok(status) else _retry_after_ms(response.headers)
                if sum(len(name) + len(value) for name, value in response.headers.items()) > ACCOUNT_HEADER_MAX:
                    raise failed("HEADERS_TOO_LARGE")
                content = response.read(ACCOUNT_ANSWER_MAX + 1)
                is_whole = not response.length  # which read() with a limit does not say
        finally:
            connection.close()
        size = len(content)
        content = _decoded(content, response.headers.get("content-encoding", ""))
        if max(size, len(content)) > ACCOUNT_ANSWER_MAX:
            raise failed("ANSWER_TOO_LARGE")
        if not is_whole:
            raise failed("IncompleteRead")
        headers_of = response.headers
        return Answer(status, headers_of.get("content-type", ""), content, headers_of.get("date", ""), retry_after_ms)

    def failed(detail: str) -> RequestFailed:
        over.set()
        return RequestFailed(detail, lost=_lost_with(status) if is_sent else None, retry_after_ms=retry_after_ms)

    try:
        return await _within(asyncio.get_running_loop().run_in_executor(_THREADS, ask), limit or ACCOUNT_REQUEST_S)
    except asyncio.TimeoutError:
        raise failed("TIMEOUT") from None
    except (OSError, http.client.HTTPException, ValueError, AttributeError, zlib.error) as error:
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
