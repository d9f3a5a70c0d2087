"""The code of an account is exchanged: by one of the calls at once, and what comes is in the vault or revoked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from account_app import App
from conftest import Callback, until
from vault_bed import Bed, Gate, answering, bed, endpoint

from urlmode import UrlModeClosedError
from urlmode._core.contract_limits import CLAIM_ATTEMPTS

__all__ = ["bed", "endpoint"]

CLAIM_ID = "9b8f0c1e-6a55-4c0f-8d7e-2f1a3b4c5d6e"


async def test_of_calls_at_once_on_two_instances_one_exchanges_the_code_and_all_have_the_token(bed: Bed, callback: Callback) -> None:
    apps = [App(bed, callback), App(bed, callback, vault=bed.open_vault())]
    gate = bed.endpoint.instead = Gate()
    for app in apps:
        app.connects = False
    async with apps[0].client, apps[1].client:
        calls = [asyncio.ensure_future(apps[n % 2].use()) for n in range(6)]
        await until("all are asked", lambda: sum(app.asked for app in apps) == 6)
        await apps[0].come_back()
        await gate.reached.wait()
        asyncio.get_running_loop().call_later(1, gate.opened.set)
        assert await asyncio.gather(*calls) == ["access-1 of acme"] * 6
    assert bed.endpoint.codes == ["a-code"]


async def test_where_the_exchange_fails_every_call_that_has_waited_says_so(bed: Bed, callback: Callback) -> None:
    apps = [App(bed, callback), App(bed, callback, vault=bed.open_vault())]
    bed.endpoint.instead = answering(400, {"error": "invalid_grant"})
    for app in apps:
        app.connects = False
    async with apps[0].client, apps[1].client:
        calls = [asyncio.ensure_future(apps[n % 2].use()) for n in range(4)]
        await until("all are asked", lambda: sum(app.asked for app in apps) == 4)
        await apps[0].come_back()
        for text in await asyncio.gather(*calls):
            assert text.startswith("Not done: the provider did not grant access")
        assert (await apps[0].elicitation()).exchange == "exchange_refused"
    assert (bed.endpoint.codes, await apps[0].names()) == (["a-code"], [])


@pytest.mark.parametrize(
    "change", ["scopes = scopes", "state = 'reconnect', reason = 'invalid_grant'", "account = 'renamed'"],
)
async def test_two_calls_need_an_account_and_the_user_connects_another_one(bed: Bed, callback: Callback, change: str) -> None:
    """The needed one lacks a scope, must be connected again, or is not there: neither call runs its body."""
    apps = [App(bed, callback), App(bed, callback, vault=bed.open_vault())]
    bed.endpoint.scope = "read"
    await bed.store()
    await bed.change(change)
    bed.endpoint.account, bed.endpoint.scope = "other", "read admin"
    for app in apps:
        app.connects = False
    async with apps[0].client, apps[1].client:
        calls = [asyncio.ensure_future(app.use(account="acme", required_scopes=["admin"])) for app in apps]
        await until("both are asked", lambda: sum(app.asked for app in apps) == 2)
        await apps[0].come_back()
        for text in await asyncio.gather(*calls):
            assert text.startswith("Not done: another account was connected")
    assert bed.endpoint.codes == ["a-code"]


async def test_a_call_that_has_waited_needs_a_scope_that_the_other_one_only_asked_for(bed: Bed, callback: Callback) -> None:
    apps = [App(bed, callback), App(bed, callback)]
    bed.endpoint.scope = "read"
    gate = bed.endpoint.instead = Gate()
    async with apps[0].client, apps[1].client:
        first = asyncio.ensure_future(apps[0].use(scopes=["read", "admin"]))
        await gate.reached.wait()
        second = asyncio.ensure_future(apps[1].use(required_scopes=["admin"]))
        asyncio.get_running_loop().call_later(0.5, gate.opened.set)
        assert await first == "access-1 of acme"
        assert await second == "Not done: not everything was granted that is needed (admin)."


async def test_a_user_who_is_forgotten_while_a_code_is_exchanged(bed: Bed, callback: Callback) -> None:
    """No account appears, and what came is revoked."""
    app = App(bed, callback)
    gate = bed.endpoint.instead = Gate()
    async with app.client:
        using = asyncio.ensure_future(app.use())
        await gate.reached.wait()
        await bed.vault.forget_subject(subject=bed.subject)
        gate.opened.set()
        assert "does not exist for this subject" in await using
    assert (await app.names(), bed.endpoint.alive) == ([], set())
    (event,) = bed.events
    assert (event.name, event.account, event.detail, event.revoked) == ("not_stored", "acme", "ELICITATION_NOT_FOUND", True)


@pytest.mark.parametrize(
    ("prepare", "detail"),
    [
        (lambda endpoint: setattr(endpoint, "scope", " ".join(f"a-long-scope-{n}" for n in range(1_000))), "23514"),
        (lambda endpoint: setattr(endpoint, "account", "x" * 70_000), "ValueError"),
        (lambda endpoint: setattr(endpoint, "account", "a\0b"), "ValueError"),
    ],
)
async def test_tokens_of_a_code_that_cannot_be_stored_are_revoked_unless_the_account_has_others(
    bed: Bed, callback: Callback, prepare: Callable[[Any], None], detail: str
) -> None:
    app = App(bed, callback)
    prepare(bed.endpoint)
    async with app.client:
        await app.use()
        assert (bed.endpoint.revoked, bed.endpoint.alive, await app.names()) == (["refresh-1", "access-1"], set(), [])
        assert (bed.events[0].name, bed.events[0].detail, bed.events[0].revoked) == ("not_stored", detail, True)
        assert (await app.elicitation()).exchange == "exchange_failed"
        account, bed.endpoint.account = bed.endpoint.account, "acme"
        await bed.store(scope="read")
        bed.endpoint.account = account
        await app.use(scopes=["more"])
    assert bed.events[-1].revoked is (account != "acme")
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"


@pytest.mark.parametrize(
    ("claim", "values", "gives_back", "says"),
    [
        ("(urlmode.begin_lease(id, binding, NULL, 60000, 600000, %s)).outcome", [CLAIM_ID], True, "access-1 of acme"),
        ("urlmode.claim(id, binding)", [], False, "Not done: another call has already used the outcome."),
    ],
)
async def test_another_call_has_claimed_an_account_and_exchanges_no_code(
    bed: Bed, callback: Callback, monkeypatch: pytest.MonkeyPatch, claim: str, values: list[str], gives_back: bool, says: str
) -> None:
    """The call that waits for it goes on at once where that gives the account back, and otherwise waits for nothing."""
    app, claims = App(bed, callback), bed.urlmode._claims
    claimed: list[Any] = []
    looks: list[str | None] = []
    begin, read = claims.begin, claims.read_exchange
    at = f"FROM urlmode.elicitation WHERE subject = '{bed.subject}'"

    async def begin_after(*given: Any, **named: Any) -> Any:
        if not claimed:
            cursor = await bed.admin.execute(f"SELECT {claim} {at}".encode(), values)
            claimed.extend(await cursor.fetchall())
        return await begin(*given, **named)

    async def look(key: Any) -> str | None:
        looks.append(await read(key))
        return looks[-1]

    monkeypatch.setattr(claims, "begin", begin_after)
    monkeypatch.setattr(claims, "read_exchange", look)
    async with app.client:
        using = asyncio.ensure_future(app.use())
        await until("it waits for that call", lambda: looks != [])
        if gives_back:
            await bed.admin.execute(f"SELECT urlmode.release_unsent(id, binding, %s) {at}".encode(), values)
        assert await using == says
    assert (claimed, len(bed.endpoint.codes)) == ([("claimed",)], 1 if gives_back else 0)
    assert looks[-1] is None and (gives_back or len(looks) == CLAIM_ATTEMPTS)


async def test_while_postgresql_is_away_the_tokens_of_a_code_are_kept_in_memory(bed: Bed, callback: Callback) -> None:
    left = bed.fail("store_exchanged", 3)
    app = App(bed, callback)
    async with app.client:
        assert await app.use() == "access-1 of acme"
    assert (left(), bed.endpoint.codes, bed.endpoint.revoked) == (0, ["a-code"], [])


async def test_a_call_that_is_cancelled_while_its_code_is_exchanged_loses_no_token(bed: Bed, callback: Callback) -> None:
    app = App(bed, callback)
    gate = bed.endpoint.instead = Gate()
    async with app.client:
        using = asyncio.ensure_future(app.use())
        await gate.reached.wait()
        using.cancel()
        await asyncio.wait({using})
        await until("it has ended", lambda: app.errors != [])
        gate.opened.set()
        await until("it is stored", lambda: [event.name for event in bed.events] == ["connected"])
        assert await app.use() == "access-1 of acme"
    assert (app.asked, bed.endpoint.codes) == (1, ["a-code"])


async def test_aclose_waits_for_the_exchange_of_a_code_and_what_came_is_stored(bed: Bed, callback: Callback) -> None:
    app = App(bed, callback)
    gate = bed.endpoint.instead = Gate()
    async with app.client:
        using = asyncio.ensure_future(app.use())
        await gate.reached.wait()
        closing = asyncio.ensure_future(bed.urlmode.aclose())
        await asyncio.sleep(2.5)
        assert not closing.done()
        gate.opened.set()
        await closing
        await using
    assert isinstance(app.errors[0], UrlModeClosedError)
    assert (await bed.open_vault().access_token(**bed.key)).access_token == "access-1"
    assert bed.endpoint.revoked == []
