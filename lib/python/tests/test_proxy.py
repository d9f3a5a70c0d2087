"""Requests to providers go through the proxy that the environment names."""

from __future__ import annotations

import asyncio

import pytest

from urlmode._accounts.request import RequestFailed, send


async def test_requests_go_through_the_proxy_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []
    begun: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        begun.append(await reader.read(1))
        writer.close()

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:p%40ss@127.0.0.1:{port}")
    with pytest.raises(RequestFailed):
        await send("POST", "https://token.example/token", {}, b"code=c")
    assert asked[0].startswith(b"CONNECT token.example:443 HTTP/1.")
    assert b"Proxy-Authorization: Basic dXNlcjpwQHNz\r\n" in asked[0]
    assert begun[0] == b"\x16", "TLS with the provider itself begins in the tunnel"

    monkeypatch.setenv("NO_PROXY", "token.invalid")
    with pytest.raises(RequestFailed, match="gaierror"):
        await send("POST", "https://token.invalid/token", {}, b"code=c")
    assert all(b"token.invalid" not in each for each in asked)
    server.close()
