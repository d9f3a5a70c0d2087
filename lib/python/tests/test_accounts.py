"""Accounts at other providers: the authorization request, the exchange, and what is not accepted."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import AsyncMock
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from conftest import Callback, owner
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from joserfc import jwt
from joserfc.jwk import RSAKey
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer

from urlmode import UrlMode, _discovery
from urlmode._accounts import Account, AccountOptions, AccountProvider, Connected, IsInUse, check_scopes
from urlmode._client_auth import OAuthClient
from urlmode._http import ANSWER_MAX, Answer, RequestFailed
from urlmode._not_connected import NotConnected
from urlmode._outcome import open_verifier
from urlmode._urlmode import _row_key
from urlmode.mcp import connect_account, request_state_security

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
        members = {name: value for name, value in claims.items() if value is not None}
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


async def test_an_account_is_connected(provider: Provider) -> None:
    opened = await AccountProvider.open(at(provider, scopes=["openid", "mail"], parameters={"prompt": "login"}))
    assert opened.uses_pkce
    query = parse_qs(urlsplit(opened.authorization_url(RETURN)).query)
    assert query == {
        "response_type": ["code"], "client_id": ["a client"], "redirect_uri": [RETURN], "scope": ["openid mail"], "prompt": ["login"],
    }  # fmt: skip
    connected = await connect(at(provider, scopes=["openid"]), more="returned")
    assert connected.account is not None
    assert (connected.account.id, connected.account.name) == ("ada", "Ada Lovelace")
    assert (connected.tokens["access_token"], connected.tokens["token_type"]) == (TOKEN, "bearer")
    assert connected.claims is not None and connected.claims["sub"] == "ada"
    assert (connected.scopes, connected.requested, connected.returned) == (["openid"], ["openid"], {"more": "returned"})
    assert TOKEN not in repr(connected)
    assert provider.exchanged == [
        {"grant_type": "authorization_code", "redirect_uri": RETURN, "code": CODE, "code_verifier": VERIFIER}
    ]


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://other.example"}, {"aud": "another client"}, {"aud": ["a client", "another"]},
        {"aud": ["a client"], "azp": "another"}, {"nonce": "another"}, {"nonce": None}, {"exp": 1_000_000_000}, {"exp": None},
        {"iat": 9_000_000_000}, {"sub": ""}, {"sub": None},
    ],
)  # fmt: skip
async def test_an_id_token_that_says_something_else(provider: Provider, claims: dict[str, Any]) -> None:
    provider.claims = claims
    with pytest.raises(NotConnected) as error:
        await connect(at(provider))
    assert (error.value.reason, error.value.detail) == ("exchange_failed", "invalid_id_token")


@pytest.mark.parametrize("forged", ["another key", "HS256", "none", "absent", "an algorithm that is not supported"])
async def test_an_id_token_that_the_provider_has_not_signed(provider: Provider, forged: str) -> None:
    if forged == "another key":
        provider.sign_with = RSAKey.generate_key(2048, {"kid": "one"})
    elif forged == "HS256":
        # With the public key, which everybody knows, as the secret of a MAC.
        _, payload, _ = provider.id_token().split(".")
        header = encoded(b'{"alg":"HS256","kid":"one"}')
        signed = f"{header}.{payload}"
        mac = hmac.digest(provider.key.as_pem(private=False), signed.encode(), "sha256")
        provider.tokens = {"id_token": f"{signed}.{encoded(mac)}"}
        provider.metadata = {"id_token_signing_alg_values_supported": ["RS256", "HS256"]}
    elif forged == "none":
        _, payload, _ = provider.id_token().split(".")
        header = encoded(b'{"alg":"none"}')
        provider.tokens = {"id_token": f"{header}.{payload}."}
        provider.metadata = {"id_token_signing_alg_values_supported": ["RS256", "none"]}
    elif forged == "absent":
        provider.tokens = {"id_token": "absent"}
    else:
        provider.metadata = {"id_token_signing_alg_values_supported": ["ES256"]}
    with pytest.raises(NotConnected) as error:
        await connect(at(provider))
    assert (error.value.reason, error.value.detail) == ("exchange_failed", "invalid_id_token")


@pytest.mark.parametrize(
    ("answer", "reason", "detail"),
    [
        ((400, {"error": "invalid_grant", "error_description": CODE}), "exchange_refused", "invalid_grant, status 400"),
        ((200, {"error": "bad_verification_code"}), "exchange_refused", "bad_verification_code, status 200"),
        ((400, {"error": CODE}), "exchange_refused", "invalid_response, status 400, application/json with error"),
        ((500, {"error": "server_error"}), "exchange_failed", "server_error, status 500"),
        ((302, {"error": "invalid_grant"}), "exchange_failed", "invalid_grant, status 302"),
        ((200, b"<html>"), "exchange_failed", "invalid_response, status 200, application/json"),
        ((200, {"token_type": "bearer"}), "exchange_failed", "invalid_response, status 200, application/json with token_type"),
        ((200, {"access_token": TOKEN, "token_type": "mac"}), "exchange_failed",
            "invalid_response, status 200, application/json with access_token, token_type"),
        ((302, {"access_token": TOKEN, "token_type": "bearer"}), "exchange_failed",
            "invalid_response, status 302, application/json with access_token, token_type"),
        ((200, b" " * (ANSWER_MAX + 1)), "exchange_failed", "ANSWER_TOO_LARGE"),
    ],
)  # fmt: skip
async def test_what_the_token_endpoint_refuses(provider: Provider, answer: Any, reason: str, detail: str) -> None:
    provider.answer = answer
    with pytest.raises(NotConnected) as error:
        await connect(at(provider))
    assert (error.value.reason, error.value.detail) == (reason, detail)
    assert len(provider.exchanged) == 1


async def test_the_issuer_of_the_response_and_the_scopes(provider: Provider) -> None:
    with pytest.raises(NotConnected, match="issuer_mismatch"):
        await connect(at(provider), iss="https://other.example")
    _discovery._known.clear()
    provider.metadata = {"authorization_response_iss_parameter_supported": True}
    with pytest.raises(NotConnected, match="issuer_missing"):
        await connect(at(provider))
    assert provider.exchanged == []
    provider.tokens = {"scope": "openid,mail"}
    with pytest.raises(NotConnected) as error:
        await connect(at(provider, required_scopes=["mail", "files"]), iss=provider.issuer)
    assert (error.value.reason, error.value.detail) == ("scope_missing", "files")
    assert (await connect(at(provider, required_scopes=["mail"]), iss=provider.issuer)).scopes == ["openid", "mail"]


async def test_an_account_of_another_user_is_not_taken(provider: Provider) -> None:
    provider.metadata = {"revocation_endpoint": f"{provider.issuer}/revoke"}
    provider.userinfo = 200, {"sub": "eve"}
    with pytest.raises(NotConnected) as error:
        await connect(at(provider))
    assert (error.value.reason, error.value.detail, provider.revoked) == ("exchange_failed", "another_sub", [TOKEN])


@pytest.mark.parametrize(
    ("userinfo", "why"),
    [
        ((503, {}), "status_503"), ((403, {}), "status_403"), ((200, b"<html>"), "no_json"), ((200, {"name": "x"}), "no_sub"),
        (None, "RemoteDisconnected"),
    ],
)  # fmt: skip
async def test_where_userinfo_fails_the_id_token_says_whose_account_it_is(
    provider: Provider, caplog: pytest.LogCaptureFixture, userinfo: tuple[int, Any] | None, why: str
) -> None:
    provider.userinfo = userinfo
    connected = await connect(at(provider))
    assert connected.account == Account(id="ada")
    assert f"userinfo of demo failed ({why})" in caplog.text


def json_answer(content: Any) -> Answer:
    return Answer(200, "application/json; charset=utf-8", json.dumps(content).encode())


async def exchange_at(
    monkeypatch: pytest.MonkeyPatch, given: AccountOptions, answers: list[Answer | RequestFailed], **result: Any
) -> tuple[Any, list[tuple[str, str, dict[str, str], bytes]]]:
    """What is sent to a provider whose endpoints are written out, in order."""
    sent: list[tuple[str, str, dict[str, str], bytes]] = []

    async def send(method: str, url: str, headers: dict[str, str], body: bytes | None = None) -> Answer:
        sent.append((method, url, dict(headers), body or b""))
        if not answers:
            raise RequestFailed("ConnectionRefusedError")
        answer = answers.pop(0)
        if isinstance(answer, RequestFailed):
            raise answer
        return answer

    monkeypatch.setattr("urlmode._accounts.send", send)
    try:
        return await connect(given, nonce=None, **result), sent
    except NotConnected as error:
        return error, sent


async def test_a_provider_whose_answer_is_a_form(monkeypatch: pytest.MonkeyPatch) -> None:
    form = Answer(200, "application/x-www-form-urlencoded", f"access_token={TOKEN}&token_type=bearer&scope=repo".encode())
    given = options("github", OAuthClient("Iv1", SECRET))
    connected, sent = await exchange_at(monkeypatch, given, [form, json_answer({"id": 5, "login": "ada"})])
    assert (connected.account.id, connected.account.name, connected.scopes) == ("5", "ada", ["repo"])
    fields = dict(parse_qsl(sent[0][3].decode()))
    assert (fields["client_id"], fields["client_secret"], fields["code_verifier"]) == ("Iv1", SECRET, VERIFIER)
    assert sent[1][2]["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("failed", "detail"),
    [
        (Answer(503, "", b""), "status_503"), (Answer(429, "", b""), "status_429"), (Answer(200, "text/html", b"<html>"), "no_json"),
        (RequestFailed("TIMEOUT"), "TIMEOUT"),
    ],
)  # fmt: skip
async def test_an_endpoint_that_fails_to_say_whose_account_it_is(
    monkeypatch: pytest.MonkeyPatch, failed: Answer | RequestFailed, detail: str
) -> None:
    """It is asked once more. Stored without a name, the tokens of one account would replace those of another."""
    monkeypatch.setattr("urlmode._accounts._AGAIN_S", 0.01)
    tokens = json_answer({"access_token": TOKEN, "token_type": "bearer", "refresh_token": "r"})
    given = options("discord", OAuthClient("d", SECRET))
    connected, _ = await exchange_at(monkeypatch, given, [tokens, failed, json_answer({"id": "5"})])
    assert connected.account == Account(id="5")
    revoked = Answer(200, "", b"")
    error, sent = await exchange_at(monkeypatch, given, [tokens, failed, failed, revoked, revoked])
    assert (error.reason, error.detail) == ("exchange_failed", detail)
    assert [dict(parse_qsl(one[3].decode()))["token"] for one in sent[3:]] == ["r", TOKEN]


@pytest.mark.parametrize("why", ["scope_missing", "no_long_lived_token", "invalid_id_token"])
async def test_tokens_that_are_dropped_are_revoked(provider: Provider, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not where the user may have others, which some providers would revoke with them."""
    provider.metadata = {"revocation_endpoint": f"{provider.issuer}/revoke"}
    provider.tokens = {"scope": "openid", **({"id_token": "a.b.c"} if why == "invalid_id_token" else {})}
    given = at(provider, required_scopes=["mail"] if why == "scope_missing" else [])
    if why == "no_long_lived_token":
        refused = AsyncMock(side_effect=RequestFailed(why))
        monkeypatch.setattr(AccountProvider, "_lengthen", refused)

    async def yes() -> bool:
        return True

    async def no() -> bool:
        return False

    for is_in_use, revoked in [(None, []), (yes, []), (no, [TOKEN])]:
        with pytest.raises(NotConnected) as error:
            await connect(given, is_in_use=is_in_use)
        assert why in (error.value.reason, error.value.detail)
        assert provider.revoked == revoked


async def test_both_requests_for_whose_account_it_is_have_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urlmode._accounts._AGAIN_S", 0.01)
    monkeypatch.setattr("urlmode._accounts._ACCOUNT_S", 0.5)
    asked = 0

    async def send(method: str, url: str, headers: dict[str, str], body: bytes | None = None) -> Answer:
        nonlocal asked
        if method == "POST":
            return json_answer({"access_token": TOKEN, "token_type": "bearer"})
        asked += 1
        if asked == 1:
            return Answer(503, "", b"")
        await asyncio.sleep(60)
        raise AssertionError

    monkeypatch.setattr("urlmode._accounts.send", send)
    with pytest.raises(NotConnected) as error:
        await connect(options("discord", OAuthClient("d", SECRET)), nonce=None)
    assert (error.value.detail, asked) == ("TIMEOUT", 2)


@pytest.mark.parametrize("answer", [Answer(403, "", b""), json_answer({"errors": []})])
async def test_an_endpoint_that_does_not_say_whose_account_it_is(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    """As long as a scope is missing."""
    tokens = json_answer({"access_token": TOKEN, "token_type": "bearer"})
    connected, sent = await exchange_at(monkeypatch, options("discord", OAuthClient("d", SECRET)), [tokens, answer])
    assert (connected.account, connected.tokens["access_token"], len(sent)) == (None, TOKEN, 2)


async def test_names_json_and_a_secret_that_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"access_token": TOKEN, "token_type": "bearer", "open_id": "u"}
    _, sent = await exchange_at(monkeypatch, options("tiktok", OAuthClient("key", SECRET)), [json_answer(answer)])
    fields = dict(parse_qsl(sent[0][3].decode()))
    assert (fields["client_key"], "client_id" in fields) == ("key", False)
    _, sent = await exchange_at(monkeypatch, options("square", OAuthClient("sq", SECRET)), [json_answer(answer)])
    assert json.loads(sent[0][3])["client_secret"] == SECRET
    assert sent[0][2]["content-type"] == "application/json"


@pytest.mark.parametrize(("date", "expected"), [("Sun, 22 Nov 2026 12:00:00 GMT", 3_600), ("", None), ("soon", None), ("1", None)])
async def test_when_a_token_expires_is_read_by_the_clock_of_its_provider(
    monkeypatch: pytest.MonkeyPatch, date: str, expected: int | None
) -> None:
    now = datetime(2026, 11, 22, 14, tzinfo=timezone.utc).timestamp()  # two hours fast
    monkeypatch.setattr("urlmode._token_answer.time.time", lambda: now)
    answer = {"access_token": TOKEN, "token_type": "bearer", "expires_at": "2026-11-22T13:00:00Z", "merchant_id": "M"}
    given = options("square", OAuthClient("sq", SECRET))
    connected, _ = await exchange_at(monkeypatch, given, [replace(json_answer(answer), date=date)])
    assert connected.tokens.get("expires_in") == expected


@pytest.mark.parametrize("owned", [{"type": "workspace", "workspace": True}, {"type": "user", "user": {"id": "u", "name": "Ada"}}])
async def test_the_account_of_notion_is_the_authorization(monkeypatch: pytest.MonkeyPatch, owned: Any) -> None:
    answer = {"access_token": TOKEN, "token_type": "bearer", "bot_id": "b3414d65", "workspace_name": "Ada's", "owner": owned}
    connected, _ = await exchange_at(monkeypatch, options("notion", OAuthClient("n", SECRET)), [json_answer(answer)])
    assert connected.account == Account(id="b3414d65", name="Ada's")


async def test_a_host_that_comes_back_must_be_one_of_the_description(monkeypatch: pytest.MonkeyPatch) -> None:
    given = options("zoho", OAuthClient("z", SECRET))
    error, sent = await exchange_at(monkeypatch, given, [], **{"accounts-server": "https://evil.example"})
    assert (error.reason, error.detail, sent) == ("exchange_failed", "accounts-server", [])
    error, sent = await exchange_at(monkeypatch, given, [], **{"accounts-server": "https://accounts.zoho.eu"})
    assert (error.detail, urlsplit(sent[0][1]).hostname) == ("ConnectionRefusedError", "accounts.zoho.eu")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (options("git hub", OAuthClient("a")), "description must be the name"),
        (options("../keys", OAuthClient("a")), "description must be the name"),
        (options("nobody", OAuthClient("a")), "there is no description nobody"),
        (options("veriff", OAuthClient("a")), "it has no oauth"),
        (options("openid-connect", OAuthClient("a")), "variables.issuer is required"),
        (options("openid-connect", OAuthClient("a"), variables={"issuer": "http://a.example"}), "must be an https URL"),
        (options("openid-connect", OAuthClient("a"), variables={"issuer": "https://a.example?b"}), "must be an https URL"),
        (options("github", OAuthClient("a"), variables={"host": "a"}), "variables.host is not one"),
        (options("github", OAuthClient("a"), parameters={"state": "a"}), "parameters.state comes from elsewhere"),
        (options("github", OAuthClient("a", private_key=pem_of(EC))), "clients of this provider have none"),
        (options("notion", OAuthClient("a")), "client.secret is required: this provider has no PKCE"),
        (options("apple", OAuthClient("a", "b"), variables={"team": "t"}), "clients of this provider have a key"),
        (options("apple", OAuthClient("a"), variables={"team": "t"}), "client.private_key is required"),
    ],
)  # fmt: skip
async def test_options_that_do_not_fit(given: AccountOptions, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message) as error:
        await AccountProvider.open(given)
    assert "BEGIN" not in str(error.value)


def test_scopes_are_read_once() -> None:
    assert check_scopes("required_scopes", (one for one in ["mail"])) == ["mail"]  # type: ignore[arg-type]


@pytest.mark.parametrize("refused", [False, True])
async def test_a_call_connects_an_account_and_nothing_is_logged(
    urlmode: UrlMode, callback: Callback, provider: Provider, caplog: pytest.LogCaptureFixture, refused: bool
) -> None:
    """The tool is called twice: the first call ends with the link, and the user comes back before the second."""
    me = owner()
    given: list[Connected] = []

    def body(connected: Connected) -> str:
        given.append(connected)
        assert connected.account is not None
        return f"Connected {connected.account.name}."

    server = MCPServer("accounts", request_state_security=request_state_security(urlmode))

    @server.tool(structured_output=False)
    async def link(ctx: Context[Any, Any]) -> Any:
        """Connects."""
        return await connect_account(
            ctx, body, urlmode=urlmode, **me, provider="github", description="openid-connect", scopes=["openid"],
            client=OAuthClient("a client", SECRET), variables={"issuer": provider.issuer}, message="Connect it.",
        )

    caplog.set_level(logging.DEBUG)
    async with Client(server, mode="legacy") as client:
        first: Any = await client.call_tool("link")
        id = first.structured_content["elicitation"]["elicitationId"]
        assert await callback.open(id, me) == "opened"
        row = await urlmode._database.read(_key(id, me))
        assert row is not None and row.verifier is not None
        verifier = open_verifier(urlmode._keys, row, _key(id, me).binding)
        assert verifier is not None
        provider.challenge = challenge_of(verifier.code_verifier)
        provider.claims = {"nonce": "another" if refused else verifier.nonce}
        provider.return_url = "https://callback.example/oauth/github/return"
        await callback.come_back(id, me, {"code": CODE})
        second: Any = await client.call_tool("link")
    if refused:
        assert second.content[0].text == "Not done: the provider could not be asked for access (invalid_id_token)."
        assert given == []
    else:
        assert second.content[0].text == "Connected Ada Lovelace."
        assert given[0].tokens["access_token"] == TOKEN
    (fields,) = provider.exchanged
    exchange = await callback.one(
        "SELECT reason FROM urlmode.look_up(%s::uuid[], %s::bytea[], %s::text[])", [[id], [_key(id, me).binding], ["github"]]
    )
    assert exchange == ("exchange_failed" if refused else "")
    assert caplog.records
    id_token = provider.id_token().split(".")[0]
    for secret in (SECRET, CODE, TOKEN, fields["code_verifier"], "s3cret%2F", f"{id_token}."):
        assert secret not in caplog.text


def _key(id: str, me: Any) -> Any:
    return _row_key(id, me["subject"], me["session"])
