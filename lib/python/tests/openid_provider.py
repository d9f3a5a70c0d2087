"""An OpenID provider that the test commands, and what this server does at it."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from joserfc import jwt
from joserfc.jwk import RSAKey

from urlmode._accounts.client_authentication import OAuthClient
from urlmode._accounts.not_connected import NotConnected
from urlmode._accounts.provider import AccountOptions, AccountProvider, Connected, IsInUse
from urlmode._accounts.request import Answer, RequestFailed

RETURN = "https://callback.example/oauth/demo/return"
SECRET = "s3cret/of a ~client+"
CODE = "c0de-of-the-user"
TOKEN = "t0ken-of-the-user"
VERIFIER = "v3rifier-" * 5
NONCE = "a-nonce"
EC = ec.generate_private_key(ec.SECP256R1())


def pem_of(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def challenge_of(verifier: str) -> str:
    return encoded(hashlib.sha256(verifier.encode()).digest())


class Provider(ThreadingHTTPServer):
    """An OpenID provider, which demands what its clients must do."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server_address[1]}"
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
        self.return_url = RETURN
        self.challenge = challenge_of(VERIFIER)
        self.claims: dict[str, Any] = {}
        self.without: list[str] = []
        """Names of claims that are left out"""
        self.metadata: dict[str, Any] = {}
        self.tokens: dict[str, Any] = {}
        self.sign_with: Any = self.key
        self.algorithm = "RS256"
        self.answer: tuple[int, Any] | None = None
        self.userinfo: tuple[int, Any] | None = 200, {"sub": "ada", "name": "Ada Lovelace"}
        """None ends the connection"""
        self.revoked: list[str] = []
        self.keys: list[Any] = [{"kty": "unknown"}]
        self.exchanged: list[dict[str, str]] = []
        self.discovered = 0

    def id_token(self) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": "a client", "sub": "ada", "iat": now, "exp": now + 60, "nonce": NONCE, **self.claims}
        members = {name: value for name, value in claims.items() if name not in self.without}
        return jwt.encode({"alg": self.algorithm, "kid": "one"}, members, self.sign_with, algorithms=[self.algorithm])


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def reply(self, status: int, content: Any) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        provider, issuer = self.server, self.server.issuer
        if self.path == "/.well-known/openid-configuration":
            provider.discovered += 1
            self.reply(200, {
                "issuer": issuer, "authorization_endpoint": f"{issuer}/authorize", "token_endpoint": f"{issuer}/token",
                "jwks_uri": f"{issuer}/jwks", "userinfo_endpoint": f"{issuer}/userinfo", **provider.metadata,
            })  # fmt: skip
        elif self.path == "/jwks":
            self.reply(200, {"keys": [*provider.keys, provider.key.as_dict(private=False)]})
        elif self.headers["authorization"] == f"Bearer {TOKEN}":
            if provider.userinfo is not None:
                self.reply(*provider.userinfo)

    def do_POST(self) -> None:
        provider = self.server
        fields = dict(parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode()))
        if self.path == "/revoke":
            provider.revoked.append(fields["token"])
            return self.reply(200, {})
        provider.exchanged.append(fields)
        if provider.answer is not None:
            return self.reply(*provider.answer)
        pair = base64.b64encode(b"a+client:s3cret%2Fof+a+%7Eclient%2B").decode()
        if self.headers["authorization"] != f"Basic {pair}":
            return self.reply(401, {"error": "invalid_client"})
        if challenge_of(fields.get("code_verifier", "")) != provider.challenge or fields["redirect_uri"] != provider.return_url:
            return self.reply(400, {"error": "invalid_grant", "error_description": CODE})
        tokens = {"access_token": TOKEN, "token_type": "Bearer", "id_token": provider.id_token(), **provider.tokens}
        self.reply(200, {name: value for name, value in tokens.items() if value != "absent"})


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        thread = threading.Thread(target=provider.serve_forever)
        thread.start()
        yield provider
        provider.shutdown()
        thread.join()


def options(description: str, client: OAuthClient, **more: Any) -> AccountOptions:
    given: dict[str, Any] = {"scopes": [], "required_scopes": [], "variables": {}, "parameters": {}, **more}
    return AccountOptions(provider="demo", description=description, client=client, **given)


def at(provider: Provider, **more: Any) -> AccountOptions:
    client = OAuthClient("a client", SECRET)
    return options("openid-connect", client, variables={"issuer": provider.issuer}, **more)


async def connect(
    given: AccountOptions, *, nonce: str | None = NONCE, is_in_use: IsInUse | None = None, **result: Any
) -> Connected:
    opened = await AccountProvider.open(given)
    return await opened.connect("an id", RETURN, {"code": CODE, **result}, VERIFIER, nonce, is_in_use)


def json_answer(content: Any) -> Answer:
    return Answer(200, "application/json; charset=utf-8", json.dumps(content).encode())


async def exchange_at(
    monkeypatch: pytest.MonkeyPatch, given: AccountOptions, answers: list[Answer | RequestFailed], **result: Any
) -> tuple[Any, list[tuple[str, str, dict[str, str], bytes]]]:
    """What is sent to a provider whose endpoints are written out, in order."""
    sent: list[tuple[str, str, dict[str, str], bytes]] = []

    async def send(method: str, url: str, headers: dict[str, str], body: bytes | None = None, limit: float | None = None) -> Answer:
        sent.append((method, url, dict(headers), body or b""))
        if not answers:
            raise RequestFailed("ConnectionRefusedError")
        answer = answers.pop(0)
        if isinstance(answer, RequestFailed):
            raise answer
        return answer

    monkeypatch.setattr("urlmode._accounts.provider.send", send)
    try:
        return await connect(given, nonce=None, **result), sent
    except NotConnected as error:
        return error, sent
