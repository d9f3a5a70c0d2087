"""Accounts at other providers: the authorization request, the exchange, and what is not accepted."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any
from unittest.mock import AsyncMock
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from conftest import Callback, owner
from mcp import Client
from mcp.server.mcpserver import Context, MCPServer
from openid_provider import (
    CODE,
    EC,
    RETURN,
    SECRET,
    TOKEN,
    VERIFIER,
    Provider,
    at,
    challenge_of,
    connect,
    exchange_at,
    json_answer,
    options,
    pem_of,
    provider,
)

from urlmode import UrlMode
from urlmode._accounts import discovery
from urlmode._accounts.client_authentication import OAuthClient
from urlmode._accounts.not_connected import NotConnected
from urlmode._accounts.provider import AccountOptions, AccountProvider, Connected, check_scopes
from urlmode._accounts.request import Answer, RequestFailed
from urlmode._core.contract_calls import RowKey
from urlmode._core.contract_limits import ACCOUNT_ANSWER_MAX
from urlmode._core.outcome import open_verifier
from urlmode._core.token import binding_of
from urlmode.mcp import connect_account, request_state_security

__all__ = ["provider"]


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
        ((200, b" " * (ACCOUNT_ANSWER_MAX + 1)), "exchange_failed", "ANSWER_TOO_LARGE"),
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
    discovery._known.clear()
    provider.metadata = {"authorization_response_iss_parameter_supported": True}
    with pytest.raises(NotConnected, match="issuer_missing"):
        await connect(at(provider))
    assert provider.exchanged == []
    provider.tokens = {"scope": "openid,mail"}
    with pytest.raises(NotConnected) as error:
        await connect(at(provider, required_scopes=["mail", "files"]), iss=provider.issuer)
    assert (error.value.reason, error.value.detail) == ("scope_missing", "files")
    assert (await connect(at(provider, required_scopes=["mail"]), iss=provider.issuer)).scopes == ["openid", "mail"]


async def test_a_provider_whose_answer_is_a_form(monkeypatch: pytest.MonkeyPatch) -> None:
    form = Answer(200, "application/x-www-form-urlencoded", f"access_token={TOKEN}&token_type=bearer&scope=repo".encode())
    given = options("github", OAuthClient("Iv1", SECRET))
    connected, sent = await exchange_at(monkeypatch, given, [form, json_answer({"id": 5, "login": "ada"})])
    assert (connected.account.id, connected.account.name, connected.scopes) == ("5", "ada", ["repo"])
    fields = dict(parse_qsl(sent[0][3].decode()))
    assert (fields["client_id"], fields["client_secret"], fields["code_verifier"]) == ("Iv1", SECRET, VERIFIER)
    assert sent[1][2]["authorization"] == f"Bearer {TOKEN}"


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
    monkeypatch.setattr("urlmode._accounts.request.time.time", lambda: now)
    answer = {"access_token": TOKEN, "token_type": "bearer", "expires_at": "2026-11-22T13:00:00Z", "merchant_id": "M"}
    given = options("square", OAuthClient("sq", SECRET))
    connected, _ = await exchange_at(monkeypatch, given, [replace(json_answer(answer), date=date)])
    assert connected.tokens.get("expires_in") == expected


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
    return RowKey(id, binding_of(me["subject"], me["session"]))
