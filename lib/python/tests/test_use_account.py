"""An account is used with its token, or connected first: what a user is asked for."""

from __future__ import annotations

import asyncio
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from account_app import App
from conftest import ROOT, Callback, required
from tool_app import MODES_AND_TASKS
from vault_bed import Bed, answering, bed, endpoint

from urlmode import AccountNotConnectedError

__all__ = ["bed", "endpoint"]


@pytest.mark.parametrize("mode", MODES_AND_TASKS)
async def test_the_user_connects_once_and_every_call_after_that_has_the_token(bed: Bed, callback: Callback, mode: str) -> None:
    app = App(bed, callback, mode)
    async with app.client:
        assert await app.use() == "access-1 of acme"
        assert (app.asked, (await app.elicitation()).exchange) == (1, "")
        assert await app.use() == "access-1 of acme"
    assert (app.asked, bed.endpoint.codes, bed.endpoint.asked) == (1, ["a-code"], [])
    (listed,) = await bed.vault.list_accounts(**bed.key)
    assert (listed.scopes, listed.requested_scopes) == (["read", "write"], ["read"])


async def test_tokens_of_an_account_that_is_not_named_replace_none(
    bed: Bed, callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are revoked, but not where others could be revoked with them."""
    monkeypatch.setattr("urlmode._accounts.provider.ACCOUNT_AGAIN_S", 0.01)
    bed.endpoint.oauth["account"] = {"endpoint": bed.endpoint.oauth["token_endpoint"].replace("/token", "/me"), "id": "/id"}
    bed.endpoint.me = 503, {}
    refused = "Not done: the provider could not be asked for access (status_503)."
    app = App(bed, callback)
    async with app.client:
        assert await app.use() == refused
        assert (await app.names(), (await app.elicitation()).exchange) == ([], "exchange_failed")
        assert bed.endpoint.revoked == ["refresh-1", "access-1"]
        await bed.store()
        bed.endpoint.scope = "read write more"
        assert await app.use(required_scopes=["more"]) == refused
        assert (await app.names(), len(bed.endpoint.revoked)) == (["acme"], 2)
        bed.endpoint.me = 200, {"id": "acme"}
        assert await app.use(required_scopes=["more"]) == "access-4 of acme"
        assert await app.names() == ["acme"]


async def test_a_token_that_has_expired_is_refreshed_and_one_that_is_refused_connected_again(bed: Bed, callback: Callback) -> None:
    app = App(bed, callback)
    async with app.client:
        await app.use()
        await bed.expire()
        assert await app.use() == "access-2 of acme"
        await bed.expire()

        async def refuse(form: dict[str, str]) -> tuple[int, Any] | None:
            return (400, {"error": "invalid_grant"}) if "refresh_token" in form else None

        bed.endpoint.instead = refuse
        assert await app.use() == "access-3 of acme"
    assert (app.asked, bed.endpoint.asked) == (2, ["refresh-1", "refresh-2"])


async def test_a_body_that_says_that_the_api_refuses_its_token_runs_once_more_with_another_and_then_the_user_is_asked(
    bed: Bed, callback: Callback
) -> None:
    app = App(bed, callback)
    async with app.client:
        await app.use()
        app.given, app.good = [], {"access-2"}
        assert (await app.use(), app.given, app.asked) == ("access-2 of acme", ["access-1", "access-2"], 1)
        app.given, app.good = [], {"access-3"}
        assert (await app.use(), app.given, app.asked) == ("access-3 of acme", ["access-2", "access-3"], 2)
        app.given, app.good = [], set()
        assert "must be connected again: refused" in await app.use()
    assert app.given == ["access-3", "access-4", "access-5", "access-6"]
    assert bed.endpoint.asked == ["refresh-1", "refresh-3", "refresh-5"]


async def test_scopes_that_are_missing_are_asked_for_beside_those_that_there_are(bed: Bed, callback: Callback) -> None:
    bed.endpoint.scope = "read"
    app = App(bed, callback)
    async with app.client:
        await app.use()
        assert await app.scopes_asked() == "read"
        bed.endpoint.scope = "read admin"
        assert await app.use(scopes=["admin"]) == "access-2 of acme"
        assert await app.scopes_asked() == "read admin"
        assert await app.use(scopes=["admin"]) == "access-2 of acme"
        # The provider says it in other words: it was asked for, and is not asked for again.
        bed.endpoint.scope = "something else"
        for _ in range(2):
            assert await app.use(scopes=["files"]) == "access-3 of acme"
        assert app.asked == 3
        refused = await app.use(required_scopes=["admin"])
        assert refused == "Not done: not everything was granted that is needed (admin)."
        assert await app.use() == "access-3 of acme"
        bed.endpoint.scope = "admin"
        assert await app.use(required_scopes=["admin"]) == "access-5 of acme"


async def test_a_call_that_looked_for_the_account_just_before_another_one_connected_it_asks_nobody(
    bed: Bed, callback: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = bed.vault.access_token
    looks = 0

    async def access_token(**wanted: Any) -> Any:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise AccountNotConnectedError("demo")
        return await look(**wanted)

    app = App(bed, callback)
    async with app.client:
        await app.use()
        connected = (await app.elicitation()).id
        monkeypatch.setattr(bed.vault, "access_token", access_token)
        assert await app.use() == "access-1 of acme"
        assert (app.asked, (await app.elicitation()).id) == (1, connected)


async def test_another_account_than_the_one_that_is_needed_is_kept_and_not_used_for_it(bed: Bed, callback: Callback) -> None:
    app = App(bed, callback)
    async with app.client:
        await app.use()
        bed.endpoint.account = "other"
        assert (await app.use(account="third")).startswith("Not done: another account was connected")
        assert await app.names() == ["other", "acme"]
        assert await app.use(account="acme") == "access-1 of acme"
        assert await app.use() == "access-2 of other"


async def test_a_provider_that_is_away_is_an_error_of_the_call_and_the_user_is_asked_for_nothing(bed: Bed, callback: Callback) -> None:
    await bed.store()
    await bed.expire()
    bed.endpoint.instead = answering(503, b"of-the-test")
    app = App(bed, callback)
    async with app.client:
        assert "cannot be refreshed just now: invalid_response, status 503, text/html" in await app.use()
    assert app.asked == 0


NODE = """
import { UrlMode } from '%(lib)s/node/src/index.js';
import { Vault } from '%(lib)s/node/src/vault.js';
import { useAccount } from '%(lib)s/node/src/adapters/sdk2.js';
import { linkCall } from '%(lib)s/node/test/support/calls.js';
const { url, keysFile, subject, scopes, account } = JSON.parse(process.argv[1]);
const urlmode = new UrlMode({ databaseUrl: url, keysFile, baseUrl: 'https://callback.example' });
const client = { id: 'a', secret: 's' };
const vault = new Vault(urlmode, { keys: '9 ' + 'A'.repeat(43), providers: { github: { client, scopes } } });
const { server, call } = linkCall();
const result = await useAccount({ vault, server, call, subject, account, provider: 'github', message: 'Please.', roundTimeout: 1 }, () => {});
console.log(result.structuredContent.elicitation.elicitationId);
await urlmode.close();
"""


@pytest.mark.parametrize(("scopes", "account"), [(["read"], None), ([], "acme")])
async def test_a_call_goes_on_with_what_one_in_node_has_begun(
    bed: Bed, callback: Callback, keys_file: Path, scopes: list[str], account: str | None
) -> None:
    bed.endpoint.provider = replace(bed.endpoint.provider, scopes=scopes)
    app = App(bed, callback, vault=bed.open_vault())
    given = {"url": required("URLMODE_DATABASE_URL"), "keysFile": str(keys_file), "subject": bed.subject, "scopes": scopes}
    settings = json.dumps({**given, **({"account": account} if account else {})})
    command = ["node", "--input-type=module", "-e", NODE % {"lib": ROOT / "lib"}, settings]
    begun = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert begun.returncode == 0, begun.stderr
    async with app.client:
        assert await app.use(account=account) == "access-1 of acme"
    cursor = await bed.admin.execute("SELECT id::text FROM urlmode.elicitation WHERE subject = %s", [bed.subject])
    assert await cursor.fetchall() == [(begun.stdout.strip(),)]


async def test_what_cannot_be_is_named(bed: Bed, callback: Callback) -> None:
    app = App(bed, callback)
    async with app.client:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"scopes": "read"}, "scopes must be a list of scopes"),
            ({"required_scopes": ["a b"]}, "required_scopes must be a list of scopes"),
            ({"variables": {"tenant": "a"}}, "variables.tenant is not one of this description"),
            ({"parameters": {"state": "a"}}, "parameters.state comes from elsewhere"),
            ({"account": ""}, "account must have 1 to 512 bytes"),
        ]
        for options, message in cases:
            assert message in await app.use(**options)
    assert app.asked == 0
