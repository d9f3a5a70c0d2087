"""The answer to a refresh is lost: nobody knows whether the provider has replaced the refresh token. A token is sent twice
at most, unless it stays good after its use."""

from __future__ import annotations

import asyncio
import socket
import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import psycopg
import pytest
from conftest import until
from token_endpoint import Reply
from vault_bed import Bed, answering, bed, endpoint

from urlmode import AccountNotConnectedError, AccountReconnectError, AccountUnavailableError
from urlmode._accounts.request import Answer, _within
from urlmode.vault import Disconnected

__all__ = ["bed", "endpoint"]

TOKENS = {"access_token": "access-9", "token_type": "bearer"}
# How the provider loses an answer.
LOST = ["it ends the connection", "it ends the answer", "it is slow", "a page", "another type", "no end"]


def lose(bed: Bed, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way == "it is slow":
        monkeypatch.setattr("urlmode._accounts.request.ACCOUNT_REQUEST_S", 1.0)
        bed.endpoint.instead = slow
    if way == "it ends the answer":
        bed.endpoint.kept_back = 100
    answers: dict[str, Reply] = {
        "it ends the connection": (0, {}), "it ends the answer": (200, TOKENS), "a page": (200, b"<p>Soon"),
        "another type": (200, {**TOKENS, "token_type": "mac"}), "no end": (200, b"x" * 2_000_000),
    }  # fmt: skip
    if way in answers:
        bed.endpoint.instead = answering(*answers[way])


async def slow(form: dict[str, str]) -> Reply:
    await asyncio.sleep(1.2)
    return 0, {}


async def state(bed: Bed) -> tuple[Any, ...]:
    row = await bed.row()
    return row.state, row.reason, row.lost, row.leased_until, row.sent


async def refuse(bed: Bed, detail: str | None = None) -> None:
    with pytest.raises(AccountUnavailableError, match=detail):
        await bed.vault.access_token(**bed.key)


async def use_valid(bed: Bed) -> None:
    """A call that asks for more than the token has, which is still valid."""
    await bed.change("expires_at = now() + interval '1 hour', refreshed_at = now() - interval '1 day'")
    assert (await bed.vault.access_token(**bed.key, valid_for=7_200)).access_token == "access-1"


@pytest.mark.parametrize("way", LOST)
async def test_the_same_token_is_sent_once_more_at_once_and_then_never_again(
    bed: Bed, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    await bed.store()
    lose(bed, monkeypatch, way)
    await use_valid(bed)
    assert (await state(bed), bed.endpoint.asked) == (("connected", "", 2, None, False), ["refresh-1"] * 2)
    for _ in range(3):
        await bed.expire()
        with pytest.raises(AccountReconnectError, match="refresh_lost"):
            await bed.vault.access_token(**bed.key)
    assert bed.endpoint.asked == ["refresh-1", "refresh-1"]
    assert [event.reason or event.name for event in bed.events] == ["connected", "failed", "failed", "refresh_lost"]
    await until("its requests have ended", lambda: bed.endpoint.serving == 0)


@pytest.mark.parametrize(("within", "sent"), [(60, 3), ("never", 1)])
@pytest.mark.parametrize("way", LOST)
async def test_the_window_of_the_provider_counts(
    bed: Bed, monkeypatch: pytest.MonkeyPatch, way: str, within: Any, sent: int
) -> None:
    bed.endpoint.oauth["reuse_within"] = within
    await bed.store()
    lose(bed, monkeypatch, way)
    await use_valid(bed)
    bed.endpoint.instead, bed.endpoint.kept_back = None, 0
    await bed.expire()
    if within == "never":
        with pytest.raises(AccountReconnectError, match="refresh_lost"):
            await bed.vault.access_token(**bed.key)
    else:
        assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"
    assert bed.endpoint.asked == ["refresh-1"] * sent
    await until("its requests have ended", lambda: bed.endpoint.serving == 0)


@pytest.mark.parametrize("way", LOST)
async def test_no_account_is_lost_where_refresh_tokens_stay_good(
    bed: Bed, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    bed.endpoint.oauth["refresh_token_stays_good"] = True
    await bed.store()
    lose(bed, monkeypatch, way)
    for _ in range(4):
        await bed.expire()
        await refuse(bed)
    assert (await state(bed), (await bed.row()).failures) == (("connected", "", 0, None, False), 4)
    bed.endpoint.instead, bed.endpoint.kept_back, bed.endpoint.rotates = None, 0, False
    await bed.expire()
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"
    assert bed.endpoint.asked == ["refresh-1"] * 5
    await until("its requests have ended", lambda: bed.endpoint.serving == 0)


async def test_a_process_that_dies_after_it_has_sent_a_token_that_stays_good_costs_no_account(bed: Bed) -> None:
    bed.endpoint.oauth["refresh_token_stays_good"] = True
    await bed.store()
    seen = []

    async def look(form: dict[str, str]) -> None:
        seen.append((await bed.row()).sent)

    bed.endpoint.instead = look
    for n in range(1, 4):
        await bed.expire()
        await bed.change("leased_until = now() - interval '1 s', lease = lease + 1")
        assert (await bed.vault.access_token(**bed.key)).access_token == f"access-{n + 1}"
    assert seen == [False] * 3


async def test_an_answer_that_is_lost_counts_once(bed: Bed) -> None:
    """Also if the answer of PostgreSQL to that is lost as well."""
    await bed.store()
    await bed.expire()

    async def lose_once(form: dict[str, str]) -> Reply:
        bed.endpoint.instead = None
        return 0, {}

    bed.endpoint.instead = lose_once
    left = bed.fail("end_refresh", 2, after=True)
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"
    assert (bed.endpoint.asked, left()) == (["refresh-1"] * 2, 0)


@pytest.mark.parametrize(
    ("status", "content"), [(400, {"error": "temporarily_unavailable"}), (429, {"error": "slow_down"}), (200, {"error": "server_error2"})]
)
async def test_an_error_is_a_failure_and_no_answer_that_is_lost(bed: Bed, status: int, content: Any) -> None:
    await bed.store()
    bed.endpoint.instead = answering(status, content)
    for _ in range(3):
        await bed.expire()
        await refuse(bed)
    assert (await state(bed), (await bed.row()).failures) == (("connected", "", 0, None, False), 3)
    assert len(bed.endpoint.asked) == 3


@pytest.mark.parametrize(
    ("status", "content", "kept_back"),
    [*((status, b"Soon", 0) for status in (408, 429, 500, 502, 503, 504, 520, 527)), (400, {}, 0), (302, {}, 0), (503, {}, 100),
     (500, {"error": "invalid_grant"}, 0)],
)  # fmt: skip
async def test_all_of_an_outage_count_as_one_answer_that_is_lost(bed: Bed, status: int, content: Any, kept_back: int) -> None:
    """The first is followed by another at once, and the next attempt waits a minute: it costs no account."""
    await bed.store()
    bed.endpoint.instead, bed.endpoint.kept_back = answering(status, content), kept_back
    for n in range(2, 5):
        await bed.expire()
        before = datetime.now(timezone.utc)
        await refuse(bed)
        assert timedelta(seconds=58) < (await bed.row()).pause_until - before < timedelta(seconds=90)
        await refuse(bed, "paused")
        assert (await state(bed), len(bed.endpoint.asked)) == (("connected", "", 1, None, False), n)
    bed.endpoint.instead, bed.endpoint.kept_back = None, 0
    await bed.expire()
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"
    assert (await bed.row()).lost == 0


async def test_an_outage_where_a_second_use_ends_the_family(bed: Bed) -> None:
    """The token is sent again, and not before a minute."""
    bed.endpoint.oauth["reuse_within"] = "never"
    await bed.store()
    bed.endpoint.instead = answering(503, b"Soon")
    for n in range(1, 4):
        await bed.expire()
        before = datetime.now(timezone.utc)
        await refuse(bed)
        assert (await bed.row()).pause_until - before > timedelta(seconds=58)
        assert (await state(bed), len(bed.endpoint.asked)) == (("connected", "", 0, None, False), n)


@pytest.mark.parametrize(
    ("status", "content", "said", "least", "most"),
    [(429, {"error": "slow_down"}, "120", 118, 150), (503, {}, "date", 116, 150), (503, {}, "86400", 3_590, 3_650),
     (429, {"error": "slow_down"}, "0", 0, 30), (503, {}, "soon", 58, 90)],
)  # fmt: skip
async def test_retry_after_is_respected(bed: Bed, status: int, content: Any, said: str, least: int, most: int) -> None:
    await bed.store()
    await bed.expire()
    bed.endpoint.instead = answering(status, content)
    date = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=120), usegmt=True)
    bed.endpoint.headers = {"Retry-After": date if said == "date" else said}
    before = datetime.now(timezone.utc)
    await refuse(bed)
    assert timedelta(seconds=least) <= (await bed.row()).pause_until - before <= timedelta(seconds=most)
    assert len(bed.endpoint.asked) == (2 if said == "soon" else 1), "nor is it asked at once"


async def test_a_gateway_fails_and_then_an_answer_is_lost(bed: Bed) -> None:
    await bed.store()
    await bed.expire()

    async def fail_once(form: dict[str, str]) -> Reply:
        bed.endpoint.instead = answering(0, {})
        return 502, {}

    bed.endpoint.instead = fail_once
    with pytest.raises(AccountReconnectError, match="refresh_lost"):
        await bed.vault.access_token(**bed.key)
    assert bed.endpoint.asked == ["refresh-1", "refresh-1"]


@pytest.mark.parametrize("has_grace", [False, True])
@pytest.mark.parametrize("status", [500, 502, 504])
async def test_an_error_after_the_provider_has_replaced_the_token(bed: Bed, status: int, has_grace: bool) -> None:
    """The old one is sent once more at once, and that decides: it works for a while, or the provider has ended the family."""
    await bed.store()
    await bed.expire()

    async def replace(form: dict[str, str]) -> Reply:
        bed.endpoint.grant()
        if not has_grace:
            bed.endpoint.alive.clear()
        bed.endpoint.instead = None
        return status, {}

    bed.endpoint.instead = replace
    if has_grace:
        assert (await bed.vault.access_token(**bed.key)).access_token == "access-3"
    else:
        for _ in range(2):
            with pytest.raises(AccountReconnectError, match="invalid_grant"):
                await bed.vault.access_token(**bed.key)
    assert bed.endpoint.asked == ["refresh-1", "refresh-1"]


async def test_what_comes_late_without_a_new_refresh_token_is_tried_with_the_old_one(bed: Bed) -> None:
    await bed.store()
    await bed.expire()

    async def late(form: dict[str, str]) -> Reply:
        bed.endpoint.instead = None
        # Another instance has begun meanwhile, and has found the account to be dead.
        await bed.change(
            "lease = lease + 1, sent_lease = lease + 1, leased_until = NULL, sent = false, "
            "state = 'reconnect', reason = 'refresh_lost'"
        )
        return 200, {**TOKENS, "expires_in": 3600}

    bed.endpoint.instead = late
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"
    assert (await state(bed), bed.endpoint.asked) == (("connected", "", 0, None, False), ["refresh-1", "refresh-1"])


async def test_a_connection_that_ends_before_tls_stands_has_sent_nothing(bed: Bed) -> None:
    await bed.store()
    ended = 0

    async def end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal ended
        ended += 1
        await reader.read(1)
        writer.close()

    server = await asyncio.start_server(end, "127.0.0.1", 0)
    bed.endpoint.oauth["token_endpoint"] = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/token"
    for n in range(1, 4):
        await bed.expire()
        await refuse(bed)
        assert (ended, await state(bed)) == (2 * n, ("connected", "", 0, None, False))
    server.close()


async def test_a_time_limit_while_it_connects_has_sent_nothing(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urlmode._accounts.request.ACCOUNT_REQUEST_S", 0.3)
    await bed.store()
    await bed.expire()
    with socket.create_server(("127.0.0.1", 0)) as server:  # which does not answer the handshake
        bed.endpoint.oauth["token_endpoint"] = f"https://127.0.0.1:{server.getsockname()[1]}/token"
        await refuse(bed)
    assert await state(bed) == ("connected", "", 0, None, False)


async def test_a_process_that_stood_still_while_the_limit_of_its_request_passed_reads_what_came() -> None:
    answer = Answer(200, "application/json", b"{}")
    asking: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
    within = asyncio.ensure_future(_within(asking, 0.2))
    await asyncio.sleep(0)
    time.sleep(0.5)
    asyncio.get_running_loop().call_later(0.3, asking.set_result, answer)
    assert await within is answer
    with pytest.raises(asyncio.TimeoutError):
        await _within(asyncio.get_running_loop().create_future(), 0.2)


async def test_a_renewal_whose_answer_is_lost_is_made_again(bed: Bed) -> None:
    """A token that is used all the time can be sent again."""
    url = bed.endpoint.oauth["token_endpoint"]
    request = {"endpoint": url, "parameters": {"refresh_token": "{access_token}"}}
    bed.endpoint.oauth["long_lived"] = {"exchange": request, "renewal": request}
    await bed.store(1_000, access_token="long", refresh_token="long")
    bed.endpoint.instead = answering(0, {})
    for _ in range(4):
        await bed.change("expires_at = now() + interval '400 s', refreshed_at = now() - interval '600 s', pause_until = NULL")
        assert (await bed.vault.access_token(**bed.key, valid_for=600)).access_token == "long"
    assert (bed.endpoint.asked, await state(bed)) == (["long"] * 4, ("connected", "", 0, None, False))


async def test_the_answer_to_a_deletion_is_lost_and_the_account_connected_anew(bed: Bed) -> None:
    await bed.store()
    query = bed.vault._database._query
    losses = 1

    async def losing(statement: str, values: Any, reads: bool = False) -> Any:
        nonlocal losses
        answer = await query(statement, values, reads)
        if "delete_account" in statement and losses > 0:
            losses -= 1
            await bed.store()
            raise psycopg.OperationalError("the connection is lost")
        return answer

    bed.vault._database._query = losing
    assert await bed.vault.disconnect(**bed.key) == Disconnected(True)
    assert (losses, bed.endpoint.revoked, bed.endpoint.alive) == (0, ["refresh-1", "access-1"], {"refresh-2", "access-2"})
    assert (await state(bed))[:1] == ("connected",)
    assert (await bed.row()).leased_until is None


async def test_who_has_waited_for_another_that_disconnects_leaves_alone_what_comes_after(bed: Bed) -> None:
    await bed.store()
    late = bed.open_vault()
    query, waits = late._database._query, asyncio.Event()

    async def watched(statement: str, values: Any, reads: bool = False) -> Any:
        answer = await query(statement, values, reads)
        if "begin_disconnect" in statement and answer[0][0] == "leased":
            waits.set()
        return answer

    late._database._query = watched
    waiting: list[asyncio.Task[Disconnected]] = []

    async def wait(token: str) -> None:
        if not waiting:
            waiting.append(asyncio.ensure_future(late.disconnect(**bed.key)))
        await waits.wait()

    bed.endpoint.before_revoking = wait
    await bed.vault.disconnect(**bed.key)
    await bed.store()
    with pytest.raises(AccountNotConnectedError):
        await waiting[0]
    assert bed.endpoint.revoked == ["refresh-1", "access-1"]
    assert (await state(bed))[:1] == ("connected",)
