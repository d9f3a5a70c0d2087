"""Accounts that stay connected, on several instances and a token endpoint whose refresh tokens are good once."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from conftest import until
from vault_bed import PROVIDER, Bed, Gate, answering, bed, endpoint

from urlmode import (
    AccountNotConnectedError,
    AccountReconnectError,
    AccountUnavailableError,
    ProviderUnavailableError,
    UrlModeClosedError,
)
from urlmode._vault.sealed_tokens import Place, open_tokens
from urlmode.vault import AccessToken

__all__ = ["bed", "endpoint"]


async def test_a_token_that_is_valid_is_used_as_it_is_and_only_its_owner_gets_it(bed: Bed) -> None:
    await bed.store()
    token = await bed.vault.access_token(**bed.key)
    assert token == AccessToken(
        access_token="access-1", token_type="bearer", account="acme", scopes=["read", "write"],
        requested_scopes=["read", "write"], expires_at=token.expires_at,
    )  # fmt: skip
    assert token.expires_at is not None
    assert abs(token.expires_at - datetime.now(timezone.utc) - timedelta(hours=1)) < timedelta(minutes=1)
    assert "access-1" not in repr(token)
    others: list[Any] = [{"subject": "another"}, {"account": "other"}]
    for other in others:
        with pytest.raises(AccountNotConnectedError):
            await bed.vault.access_token(**{**bed.key, **other})
    assert bed.endpoint.asked == []
    assert b"access-" not in (await bed.row()).tokens


async def test_what_a_refresh_leaves_out_stays_and_the_rotated_token_is_the_next_one(bed: Bed) -> None:
    await bed.store(more="kept")
    for expected in ("access-2", "access-3", "access-4"):
        await bed.expire()
        assert (await bed.vault.access_token(**bed.key)).access_token == expected
        bed.endpoint.rotates = False
    assert bed.endpoint.asked == ["refresh-1", "refresh-2", "refresh-2"]
    opened = open_tokens(bed.vault._keys, Place(bed.subject, PROVIDER, "acme"), (await bed.row()).tokens)
    assert (opened["more"], opened["refresh_token"]) == ("kept", "refresh-2")


async def test_the_own_code_of_a_provider_is_invalid_grant_where_its_description_says_so(bed: Bed) -> None:
    bed.endpoint.oauth["token_response"] = {"invalid_grant": ["token_expired"]}
    await bed.store()
    await bed.expire()
    bed.endpoint.instead = answering(200, {"error": "token_expired"})
    with pytest.raises(AccountReconnectError, match="invalid_grant"):
        await bed.vault.access_token(**bed.key)


async def test_while_the_provider_is_away_a_valid_token_is_used_and_the_provider_is_not_hurried(bed: Bed) -> None:
    await bed.store()
    await bed.change("expires_at = now() + interval '30 s', refreshed_at = now() - interval '1 hour'")
    bed.endpoint.instead = answering(503, b"secret-page")
    for _ in range(5):
        assert (await bed.vault.access_token(**bed.key, valid_for=60)).access_token == "access-1"
    assert len(bed.endpoint.asked) == 2  # then it pauses
    await bed.change("expires_at = now()")
    with pytest.raises(AccountUnavailableError, match="paused"):
        await bed.vault.access_token(**bed.key)
    await bed.expire()
    with pytest.raises(AccountUnavailableError) as error:
        await bed.vault.access_token(**bed.key)
    assert error.value.detail == "invalid_response, status 503, text/html"
    assert (await bed.row()).failures == 3
    await bed.expire()
    bed.endpoint.instead = None
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"


async def test_sent_is_committed_before_the_request_and_the_lease_is_longer_than_it_may_take(bed: Bed) -> None:
    await bed.store()
    await bed.expire()
    seen = []

    async def look(form: dict[str, str]) -> None:
        seen.append(await bed.row())

    bed.endpoint.instead = look
    query = bed.vault._database._query

    async def slow(statement: str, values: Any, reads: bool = False) -> Any:
        # PostgreSQL is slow between the two: what is left of the lease is not enough for a request.
        if "mark_sending" in statement:
            await bed.change("leased_until = now() + interval '20 s'")
        return await query(statement, values, reads)

    bed.vault._database._query = slow
    await bed.vault.access_token(**bed.key)
    assert seen[0].sent
    assert seen[0].leased_until - datetime.now(timezone.utc) > timedelta(seconds=31)
    assert ((await bed.row()).sent, (await bed.row()).leased_until) == (False, None)


async def test_tokens_that_came_are_stored_where_the_lease_was_lost_or_postgresql_was_away(bed: Bed) -> None:
    await bed.store()
    await bed.expire()

    async def lose(form: dict[str, str]) -> None:
        # Another instance has taken the lease, and was told that the old token is not good any more.
        await bed.change("lease = lease + 1, state = 'reconnect', reason = 'invalid_grant', leased_until = NULL")

    bed.endpoint.instead = lose
    left = bed.fail("store_refreshed", 3)
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"
    (listed,) = await bed.vault.list_accounts(**bed.key)
    assert (listed.state, listed.reason, left()) == ("connected", "", 0)
    assert bed.endpoint.asked == ["refresh-1"]


@pytest.mark.parametrize(
    ("status", "content", "state"),
    [(400, {"error": "temporarily_unavailable"}, ("connected", "")), (400, {"error": "invalid_grant"}, ("reconnect", "invalid_grant"))],
)
async def test_a_refresh_fails_while_postgresql_is_away_and_no_answer_counts_as_lost(
    bed: Bed, status: int, content: Any, state: tuple[str, str]
) -> None:
    await bed.store()
    await bed.expire()
    bed.endpoint.instead = answering(status, content)
    left = bed.fail("end_refresh", 3)
    with pytest.raises((AccountUnavailableError, AccountReconnectError)):
        await bed.vault.access_token(**bed.key)
    row = await bed.row()
    assert ((row.state, row.reason), row.failures, row.sent, row.leased_until, row.lost) == (state, 1, False, None, 0)
    assert (bed.endpoint.asked, left()) == (["refresh-1"], 0)


async def test_the_life_of_a_token_begins_when_it_was_asked_for(bed: Bed) -> None:
    await bed.store()
    await bed.expire()
    bed.fail("store_refreshed", 4)
    await bed.vault.access_token(**bed.key)
    row = await bed.row()
    assert row.expires_at - row.refreshed_at < timedelta(hours=1) - timedelta(milliseconds=500)


async def test_the_metadata_of_a_provider_that_is_away_are_not_asked_for_with_every_call(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    del bed.endpoint.oauth["token_endpoint"]
    bed.endpoint.oauth["issuer"] = "https://issuer.example"
    asked = []

    async def discover(provider: str, issuer: str) -> dict[str, Any]:
        asked.append(issuer)
        raise ProviderUnavailableError(provider, "TIMEOUT")

    monkeypatch.setattr("urlmode._accounts.provider.discover", discover)
    await bed.store()
    await bed.change("expires_at = now() + interval '30 s', refreshed_at = now() - interval '1 hour'")
    for _ in range(3):
        assert (await bed.vault.access_token(**bed.key, valid_for=60)).access_token == "access-1"
    assert (len(asked), bed.names()) == (1, [("failed", "PROVIDER_UNAVAILABLE")])


async def test_the_answer_to_sent_is_lost_twice_and_nobody_waits_for_the_lease(bed: Bed) -> None:
    await bed.store()
    await bed.expire()
    left = bed.fail("mark_sending", 2, after=True)
    seen = []

    async def look(form: dict[str, str]) -> None:
        seen.append((await bed.row()).lost)

    bed.endpoint.instead = look
    assert (await asyncio.wait_for(bed.vault.access_token(**bed.key), 30)).access_token == "access-2"
    assert (bed.endpoint.asked, left(), seen) == (["refresh-1"], 0, [0])


@pytest.mark.parametrize("expires_in", [10**15, 9223372036854775807, "9223372036854775807"])
async def test_a_token_that_is_said_to_live_longer_than_anybody_is_stored(bed: Bed, expires_in: Any) -> None:
    await bed.store()
    await bed.expire()
    bed.endpoint.refreshed = {"expires_in": expires_in}
    token = await bed.vault.access_token(**bed.key)
    assert (token.access_token, token.expires_at, bed.endpoint.asked) == ("access-2", None, ["refresh-1"])
    await bed.store(expires_in)
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-3"


async def test_a_call_that_is_cancelled_loses_no_rotated_token(bed: Bed) -> None:
    await bed.store()
    await bed.expire()
    gate = bed.endpoint.instead = Gate()
    query, begun = bed.vault._database._query, 0

    async def counted(statement: str, values: Any, reads: bool = False) -> Any:
        nonlocal begun
        begun += "begin_lease_of" in statement
        return await query(statement, values, reads)

    bed.vault._database._query = counted
    calls = [asyncio.ensure_future(bed.vault.access_token(**bed.key)) for _ in range(3)]
    await gate.reached.wait()
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)
    assert all(call.cancelled() for call in calls)
    gate.opened.set()
    await until("it is stored", lambda: ("refreshed", None) in bed.names())
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"
    assert (bed.endpoint.asked, begun) == (["refresh-1"], 1)


async def test_aclose_waits_for_a_refresh_and_what_the_provider_has_given_is_stored(bed: Bed) -> None:
    await bed.store()
    await bed.expire()
    gate = bed.endpoint.instead = Gate()
    waiting = asyncio.ensure_future(bed.vault.access_token(**bed.key))
    await gate.reached.wait()
    closing = asyncio.ensure_future(bed.urlmode.aclose())
    # Longer than PostgreSQL is waited for.
    await asyncio.sleep(2.5)
    assert not closing.done()
    gate.opened.set()
    await closing
    with pytest.raises(UrlModeClosedError):
        await waiting
    with pytest.raises(UrlModeClosedError):
        await bed.vault.access_token(**bed.key)
    assert (await bed.open_vault().access_token(**bed.key)).access_token == "access-2"
    assert bed.endpoint.asked == ["refresh-1"]


async def test_a_request_is_repeated_only_where_nothing_was_sent(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bed.endpoint.oauth["reuse_within"] = "never"
    await bed.store()
    await bed.expire()
    bed.endpoint.instead = answering(0, {})
    with pytest.raises(AccountReconnectError, match="refresh_lost"):
        await bed.vault.access_token(**bed.key)
    assert len(bed.endpoint.asked) == 1  # it had arrived
    await bed.store()
    await bed.expire()
    bed.endpoint.instead = None
    from http.client import HTTPConnection

    connect, attempts = HTTPConnection.connect, 0

    def unreachable(self: HTTPConnection) -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise ConnectionRefusedError
        connect(self)

    monkeypatch.setattr(HTTPConnection, "connect", unreachable)
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-3"
    assert (attempts, len(bed.endpoint.asked)) == (2, 2)


async def test_nothing_that_is_said_has_a_token(bed: Bed, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await bed.store()
    errors = []
    for answer in [answering(400, {"error": "refresh-1"}), answering(500, b"refresh-1"), answering(400, {"error": "invalid_grant"})]:
        await bed.expire()
        bed.endpoint.instead = answer
        with pytest.raises((AccountUnavailableError, AccountReconnectError)) as error:
            await bed.vault.access_token(**bed.key)
        errors.append(f"{error.value!r} {vars(error.value)}")
    said = "\n".join([*errors, *map(repr, bed.events), caplog.text])
    for secret in ("refresh-1", "access-1", "secret-of-the-client"):
        assert secret not in said
