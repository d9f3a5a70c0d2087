"""Accounts are listed and disconnected, their tokens are sealed anew, and a user is forgotten."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from conftest import Callback, OpenUrlMode, owner, until
from vault_bed import PROVIDER, Bed, Gate, answering, bed, endpoint, key_line

from urlmode import (
    AccountNotConnectedError,
    AccountSealError,
    ElicitationNotFoundError,
    Expected,
    KeysFileError,
    UnclaimedPaymentsError,
    UnclaimedReference,
    UrlMode,
)
from urlmode.oauth import OAuthClient
from urlmode.vault import Connected, Disconnected, KeyInUse, Provider, Resealed, Vault

__all__ = ["bed", "endpoint"]


async def begin_refresh(bed: Bed) -> tuple[Gate, asyncio.Future[Any]]:
    """A refresh that the provider answers when the gate is opened."""
    await bed.store()
    await bed.expire()
    gate = bed.endpoint.instead = Gate()
    using = asyncio.ensure_future(bed.vault.access_token(**bed.key))
    await gate.reached.wait()
    bed.endpoint.instead = None
    return gate, using


async def test_accounts_are_listed_without_tokens_the_last_one_first(bed: Bed) -> None:
    for account in ("one", "two", None):
        await bed.store(account=account)
    listed = await bed.vault.list_accounts(subject=bed.subject)
    assert [one.account for one in listed] == ["default", "two", "one"]
    assert "access" not in repr(listed).replace("access_token", "")
    assert await bed.vault.list_accounts(subject=bed.subject, provider="another") == []
    assert (await bed.vault.access_token(**bed.key)).account == "default"
    assert (await bed.vault.access_token(**bed.key, account="two")).access_token == "access-2"
    assert [event.scopes for event in bed.events] == [["read", "write"]] * 3


async def test_disconnect_revokes_and_deletes_also_where_it_cannot_revoke(bed: Bed) -> None:
    await bed.store()
    assert await bed.vault.disconnect(**bed.key) == Disconnected(True)
    assert bed.endpoint.revoked == ["refresh-1", "access-1"]
    with pytest.raises(AccountNotConnectedError):
        await bed.vault.disconnect(**bed.key)
    await bed.store()
    await bed.change("tokens = tokens || '\\x00'::bytea")
    assert await bed.vault.disconnect(**bed.key) == Disconnected(False, "ACCOUNT_SEAL")
    await bed.store()
    elsewhere = Vault(bed.urlmode, keys_file=bed.keys_file, providers={})
    assert await elsewhere.disconnect(**bed.key) == Disconnected(False, "not_configured")
    await bed.store()
    del bed.endpoint.oauth["revocation_endpoint"]
    assert await bed.vault.disconnect(**bed.key) == Disconnected(False, "no_endpoint")
    assert await bed.vault.list_accounts(**bed.key) == []
    assert bed.names() == [("disconnected", True), ("disconnected", False), ("disconnected", False)]


async def test_a_revocation_that_is_refused_is_said(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    await bed.store()
    monkeypatch.setattr(bed.endpoint, "_answer", lambda path, form: answering(503, {"error": "busy"})(form))
    assert await bed.vault.disconnect(**bed.key) == Disconnected(False, "busy, status 503")


async def test_an_account_that_is_connected_anew_while_its_old_tokens_are_revoked(bed: Bed) -> None:
    await bed.store()

    async def connect(token: str) -> None:
        if token == "refresh-1":
            await bed.store()

    bed.endpoint.before_revoking = connect
    assert await bed.vault.disconnect(**bed.key) == Disconnected(True)
    assert bed.endpoint.revoked == ["refresh-1", "access-1", "refresh-2", "access-2"]
    assert (await bed.row(), bed.endpoint.alive) == (None, set())


async def test_the_deletion_of_revoked_tokens_is_repeated_while_postgresql_is_away(bed: Bed) -> None:
    await bed.store()
    left = bed.fail("delete_account", 2)
    assert await bed.vault.disconnect(**bed.key) == Disconnected(True)
    assert (left(), await bed.row()) == (0, None)


async def test_a_body_that_stores_the_account_of_a_user_who_was_forgotten_stores_nothing(bed: Bed) -> None:
    elicitation = await bed.urlmode.create(
        subject=bed.subject, provider=PROVIDER, kind="oauth", target_url="https://provider.example/authorize?client_id=a"
    )
    connected = Connected(
        elicitation_id=elicitation.elicitation_id, tokens=bed.endpoint.grant(), account=None, scopes=[], requested=[], claims=None,
        returned={}, variables={},
    )  # fmt: skip
    assert await bed.vault.store(connected, **bed.key) == "default"
    await bed.vault.forget_subject(subject=bed.subject)
    with pytest.raises(ElicitationNotFoundError):
        await bed.vault.store(connected, **bed.key)
    assert await bed.row() is None


async def test_of_two_at_once_one_disconnects_and_a_call_that_is_cancelled_goes_on(bed: Bed) -> None:
    await bed.store()
    reached, opened = asyncio.Event(), asyncio.Event()

    async def hold(token: str) -> None:
        reached.set()
        await opened.wait()

    bed.endpoint.before_revoking = hold
    ends = [asyncio.ensure_future(vault.disconnect(**bed.key)) for vault in (bed.vault, bed.open_vault())]
    await reached.wait()
    assert (await bed.vault.access_token(**bed.key, valid_for=0)).access_token == "access-1"  # until it is deleted
    for end in ends:
        end.cancel()
    await asyncio.wait(ends)
    opened.set()
    await until("it is disconnected", lambda: bed.names() == [("disconnected", True)])
    assert (await bed.row(), bed.endpoint.revoked) == (None, ["refresh-1", "access-1"])


async def test_keys_which_are_needed_sealing_anew_and_a_key_that_is_missing(bed: Bed) -> None:
    old = bed.keys_file.read_text()
    for n in range(130):
        await bed.store(account=f"account-{n}")
    # Only those of this test: the others are sealed with the keys of theirs.
    await bed.admin.execute("DELETE FROM urlmode.account WHERE subject <> %s", [bed.subject])
    assert await bed.vault.keys_in_use() == [KeyInUse(7, 130)]
    await bed.admin.execute("""UPDATE urlmode.account SET tokens = set_byte(tokens, 40, get_byte(tokens, 40) # 1)
        WHERE account LIKE 'account-1__'""")  # thirty of them
    bed.keys_file.write_text(key_line(8) + old)
    await asyncio.sleep(1.1)  # The file is looked at once a second.
    assert await bed.vault.reseal() == Resealed(100, 30)
    assert await bed.vault.keys_in_use() == [KeyInUse(7, 30), KeyInUse(8, 100)]
    assert bed.names() == [("unopened", "they are not genuine")] * 30
    assert (await bed.vault.access_token(**bed.key, account="account-0")).access_token == "access-1"
    bed.keys_file.write_text(key_line(9))
    await asyncio.sleep(1.1)
    with pytest.raises(AccountSealError) as error:
        await bed.vault.access_token(**bed.key, account="account-0")
    assert str(error.value) == f"the tokens of an account at {PROVIDER} cannot be opened: the vault's keys file has no key 8"
    assert error.value.reason == "the vault's keys file has no key 8"


async def test_a_user_is_forgotten_but_not_while_a_payment_is_unclaimed(bed: Bed, callback: Callback) -> None:
    me = owner()
    me["subject"] = bed.subject
    await bed.store()
    elicitation = await bed.urlmode.create(
        provider="stripe", kind="payment", item="report:42", target_url="https://checkout.example/pay", expected=Expected(1050, "EUR"), **me
    )
    reference = await callback.paid(elicitation.elicitation_id)
    with pytest.raises(UnclaimedPaymentsError) as error:
        await bed.vault.forget_subject(subject=bed.subject)
    assert error.value.payments == [UnclaimedReference(elicitation.elicitation_id, "stripe", reference, 1050, "EUR")]
    assert len(await bed.vault.list_accounts(**bed.key)) == 1
    await bed.urlmode.claim(elicitation.elicitation_id, **me)
    await bed.vault.forget_subject(subject=bed.subject)
    assert await bed.row() is None


async def test_an_error_of_the_function_that_is_told_ends_no_call(bed: Bed) -> None:
    def fail(event: object) -> None:
        raise RuntimeError("the disk is full")

    told = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(str(context["exception"])))
    vault = Vault(bed.urlmode, keys_file=bed.keys_file, providers={PROVIDER: bed.endpoint.provider}, on_event=fail)
    await bed.store()
    assert await vault.disconnect(**bed.key) == Disconnected(True)
    await until("it is told", lambda: told == ["the disk is full"])


PROVIDERS = {PROVIDER: Provider(client=OAuthClient("a"))}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"keys_file": "/nowhere", "providers": PROVIDERS}, "/nowhere: No such file"),
        ({"providers": PROVIDERS}, "keys_file must be a str or a path"),
        ({"keys": key_line(1), "keys_file": "a", "providers": PROVIDERS}, "keys and keys_file cannot be used together"),
        ({"keys": key_line(1), "providers": None}, "providers must be a mapping"),
        ({"keys": key_line(1), "providers": {"github": OAuthClient("a")}}, r"providers\['github'\] must be a Provider"),
        ({"keys": key_line(1), "providers": {"Git Hub": PROVIDERS[PROVIDER]}}, "provider must be a name"),
        ({"keys": key_line(1), "providers": {"github": Provider(client=OAuthClient("a"), scopes=cast(Any, "repo"))}}, "scopes must be a list"),
        ({"keys": key_line(1), "providers": {"github": Provider(client="a")}}, r"client must be an OAuthClient"),  # type: ignore[arg-type]
        ({"keys": key_line(1), "providers": PROVIDERS, "on_event": "print"}, "on_event must be"),
        ({"keys": key_line(1), "providers": PROVIDERS, "on_event": asyncio.sleep}, "on_event must be a plain function"),
    ],
)
async def test_a_vault_that_cannot_be(urlmode: UrlMode, given: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError, KeysFileError), match=message):
        Vault(urlmode, **given)


async def test_a_vault_with_a_key_that_callback_hosts_have(open_urlmode: OpenUrlMode) -> None:
    shared = key_line(1)
    urlmode = open_urlmode(keys=shared + key_line(2))
    with pytest.raises(KeysFileError, match="^keys: the vault must have keys of its own") as error:
        Vault(urlmode, keys=key_line(4) + shared.replace("1 ", "3 ", 1), providers=PROVIDERS)
    assert shared.split()[1] not in str(error.value)
    Vault(urlmode, keys=key_line(1), providers=PROVIDERS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"subject": "", "provider": PROVIDER}, "subject must have 1 to 512 bytes"),
        ({"subject": "a\0", "provider": PROVIDER}, "subject must be valid Unicode text without NUL"),
        ({"subject": "a", "provider": "another"}, "providers has no another"),
        ({"subject": "a", "provider": PROVIDER, "account": ""}, "account must have 1 to 512 bytes"),
        ({"subject": "a", "provider": PROVIDER, "valid_for": -1}, "valid_for must be from 0 to 86400 seconds"),
        ({"subject": "a", "provider": PROVIDER, "valid_for": "1"}, "valid_for must be a number of seconds"),
    ],
)
async def test_a_call_that_cannot_be(urlmode: UrlMode, given: dict[str, Any], message: str) -> None:
    vault = Vault(urlmode, keys=key_line(1), providers=PROVIDERS)
    with pytest.raises((TypeError, ValueError), match=message):
        await vault.access_token(**given)
    with pytest.raises(TypeError, match="connected must be a Connected"):
        await vault.store({}, subject="a", provider=PROVIDER)  # type: ignore[arg-type]


async def test_what_aclose_leaves(open_urlmode: OpenUrlMode, tmp_path: Path) -> None:
    urlmode = open_urlmode()
    vault = Vault(urlmode, keys=key_line(1), providers=PROVIDERS)
    await urlmode.aclose()
    for call in (vault.keys_in_use(), vault.reseal(), vault.list_accounts(subject="a"), vault.forget_subject(subject="a")):
        with pytest.raises(Exception, match="this UrlMode is closed"):
            await call
