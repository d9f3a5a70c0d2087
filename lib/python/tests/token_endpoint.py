"""A provider's token endpoint that the test commands: it rotates refresh tokens, and each is good once. A token is named
after its place in the family."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Union
from urllib.parse import parse_qsl

from urlmode.oauth import OAuthClient
from urlmode.vault import Provider

Reply = tuple[int, Any]
"""The status, and JSON, or the bytes of another answer."""
Instead = Callable[[dict[str, str]], Awaitable[Union[Reply, None]]]


class TokenEndpoint:
    def __init__(self) -> None:
        self.asked: list[str] = []
        """the refresh tokens that have arrived"""
        self.codes: list[str] = []
        self.revoked: list[str] = []
        self.alive: set[str] = set()
        """A revocation ends one token, and no other."""
        self.instead: Instead | None = None
        """what it does with a request for tokens: None answers it as it would without"""
        self.serving = 0
        """requests"""
        self.kept_back = 0
        """how many bytes of each answer are announced and not sent"""
        self.headers: dict[str, str] = {}
        """further ones of each answer"""
        self.before_revoking: Callable[[str], Awaitable[None]] | None = None
        self.expires_in: float = 3600
        self.rotates = True
        self.scope = "read write"
        self.account = "acme"
        self.me: Reply = (200, {"id": "acme"})
        """what it says of the account"""
        self.refreshed: dict[str, Any] = {}
        """members over those of an answer to a refresh token"""
        self.oauth: dict[str, Any] = {}
        """the description"""
        self.provider = Provider(client=OAuthClient("a", "secret-of-the-client"), scopes=["read"])
        self._next = 0

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**20)
        origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self.oauth = {
            "authorization_endpoint": f"{origin}/authorize", "token_endpoint": f"{origin}/token",
            "revocation_endpoint": f"{origin}/revoke", "pkce": "S256",
            "token_endpoint_auth_method": "client_secret_post", "account": {"from": "token_response", "id": "/account"},
        }  # fmt: skip
        return server

    def grant(self, expires_in: float | None = None) -> dict[str, Any]:
        """What the user's consent has given."""
        self._next += 1
        access, refresh = f"access-{self._next}", f"refresh-{self._next}"
        self.alive |= {access, refresh}
        return {
            "access_token": access, "token_type": "bearer", "refresh_token": refresh, "scope": self.scope,
            "expires_in": self.expires_in if expires_in is None else expires_in,
        }  # fmt: skip

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.serving += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next((line for line in head.lower().split("\r\n") if line.startswith("content-length:")), ":0")
            form = dict(parse_qsl((await reader.readexactly(int(length.split(":")[1]))).decode()))
            status, content = await self._answer(head.split(" ")[1], form)
            body = content if isinstance(content, bytes) else json.dumps(content).encode()
            if status:
                kind = "text/html" if isinstance(content, bytes) else "application/json"
                more = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
                writer.write(f"HTTP/1.1 {status} .\r\ncontent-type: {kind}\r\n{more}content-length: {len(body) + self.kept_back}\r\n\r\n".encode() + body)
                await writer.drain()
        finally:
            self.serving -= 1
            writer.close()

    async def _answer(self, path: str, form: dict[str, str]) -> Reply:
        if path == "/me":
            return self.me
        if path == "/revoke":
            self.revoked.append(form["token"])
            if self.before_revoking:
                await self.before_revoking(form["token"])
            self.alive.discard(form["token"])
            return 200, {}
        token = form.get("refresh_token")
        if token is None:
            self.codes.append(form["code"])
        else:
            self.asked.append(token)
        if self.instead and (reply := await self.instead(form)) is not None:
            return reply
        if token is None:
            return 200, {**self.grant(), "account": self.account}
        if token not in self.alive:
            return 400, {"error": "invalid_grant"}
        granted = self.grant()
        if self.rotates:
            self.alive.discard(token)
        else:
            self.alive.discard(granted.pop("refresh_token"))
        return 200, {**granted, **self.refreshed}
