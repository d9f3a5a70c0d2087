"""Whose account it is, as an endpoint of its provider, the id token or the answer with the tokens says."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import parse_qsl

import pytest
from openid_provider import SECRET, TOKEN, Provider, at, connect, exchange_at, json_answer, options, provider

from urlmode._accounts.client_authentication import OAuthClient
from urlmode._accounts.not_connected import NotConnected
from urlmode._accounts.provider import Account
from urlmode._accounts.request import Answer, RequestFailed

__all__ = ["provider"]


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
    monkeypatch.setattr("urlmode._accounts.provider.ACCOUNT_AGAIN_S", 0.01)
    tokens = json_answer({"access_token": TOKEN, "token_type": "bearer", "refresh_token": "r"})
    given = options("discord", OAuthClient("d", SECRET))
    connected, _ = await exchange_at(monkeypatch, given, [tokens, failed, json_answer({"id": "5"})])
    assert connected.account == Account(id="5")
    revoked = Answer(200, "", b"")
    error, sent = await exchange_at(monkeypatch, given, [tokens, failed, failed, revoked, revoked])
    assert (error.reason, error.detail) == ("exchange_failed", detail)
    assert [dict(parse_qsl(one[3].decode()))["token"] for one in sent[3:]] == ["r", TOKEN]


async def test_both_requests_for_whose_account_it_is_have_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urlmode._accounts.provider.ACCOUNT_AGAIN_S", 0.01)
    monkeypatch.setattr("urlmode._accounts.provider.ACCOUNT_REQUEST_S", 0.5)
    asked = 0

    async def send(method: str, url: str, headers: dict[str, str], body: bytes | None = None, limit: float | None = None) -> Answer:
        nonlocal asked
        if method == "POST":
            return json_answer({"access_token": TOKEN, "token_type": "bearer"})
        asked += 1
        if asked == 1:
            return Answer(503, "", b"")
        await asyncio.sleep(60)
        raise AssertionError

    monkeypatch.setattr("urlmode._accounts.provider.send", send)
    with pytest.raises(NotConnected) as error:
        await connect(options("discord", OAuthClient("d", SECRET)), nonce=None)
    assert (error.value.detail, asked) == ("TIMEOUT", 2)


@pytest.mark.parametrize("answer", [Answer(403, "", b""), json_answer({"errors": []})])
async def test_an_endpoint_that_does_not_say_whose_account_it_is(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    """As long as a scope is missing."""
    tokens = json_answer({"access_token": TOKEN, "token_type": "bearer"})
    connected, sent = await exchange_at(monkeypatch, options("discord", OAuthClient("d", SECRET)), [tokens, answer])
    assert (connected.account, connected.tokens["access_token"], len(sent)) == (None, TOKEN, 2)


@pytest.mark.parametrize("owned", [{"type": "workspace", "workspace": True}, {"type": "user", "user": {"id": "u", "name": "Ada"}}])
async def test_the_account_of_notion_is_the_authorization(monkeypatch: pytest.MonkeyPatch, owned: Any) -> None:
    answer = {"access_token": TOKEN, "token_type": "bearer", "bot_id": "b3414d65", "workspace_name": "Ada's", "owner": owned}
    connected, _ = await exchange_at(monkeypatch, options("notion", OAuthClient("n", SECRET)), [json_answer(answer)])
    assert connected.account == Account(id="b3414d65", name="Ada's")
