"""New tokens that cannot be stored."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from vault_bed import Bed, bed, endpoint

from urlmode import AccountReconnectError, AccountUnavailableError

__all__ = ["bed", "endpoint"]

REPLACED = [
    ({"more": "x" * 70_000}, "ACCOUNT_SIZE"),
    ({"scope": " ".join(f"a-long-scope-{n}" for n in range(1_000))}, "23514"),
    ({"scope": "read\0"}, "DataError"),
]


@pytest.mark.parametrize("sqlstate", ["28000", "28P01", "3D000", "XX000", "25P02", "P0001", "0A000"])
async def test_an_error_that_is_not_about_the_tokens_refuses_none(bed: Bed, sqlstate: str) -> None:
    """Such as that of a login while a password is changed."""
    await bed.store()
    await bed.expire()
    left = bed.fail("store_refreshed", 2, error=psycopg.errors.lookup(sqlstate)("not now"))
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"
    assert (bed.names(), bed.endpoint.revoked, left()) == ([("refreshed", None)], [], 0)


@pytest.mark.parametrize("sqlstate", ["22001", "23514", "42501", "3F000"])
async def test_an_error_about_the_tokens_refuses_them(bed: Bed, sqlstate: str) -> None:
    await bed.store()
    await bed.expire()
    bed.fail("store_refreshed", 1, error=psycopg.errors.lookup(sqlstate)("never"))
    with pytest.raises(AccountReconnectError, match="not_stored"):
        await bed.vault.access_token(**bed.key)
    assert bed.endpoint.revoked == ["refresh-2", "access-2"]


@pytest.mark.parametrize(("refreshed", "detail"), REPLACED)
async def test_new_tokens_that_cannot_be_stored_and_the_old_one_is_replaced(
    bed: Bed, refreshed: dict[str, Any], detail: str
) -> None:
    """The refresh token that the provider has replaced is not sent again."""
    await bed.store()
    await bed.expire()
    bed.endpoint.refreshed = refreshed
    for _ in range(2):
        with pytest.raises(AccountReconnectError, match="not_stored"):
            await bed.vault.access_token(**bed.key)
    row = await bed.row()
    assert (bed.endpoint.asked, row.leased_until, row.sent) == (["refresh-1"], None, False)
    assert bed.names() == [("reconnect", "not_stored"), ("not_stored", detail)]
    assert (bed.endpoint.revoked, bed.events[-1].revoked) == (["refresh-2", "access-2"], True)


@pytest.mark.parametrize(("refreshed", "detail"), REPLACED)
async def test_new_tokens_that_cannot_be_stored_and_the_old_one_stays_good(
    bed: Bed, refreshed: dict[str, Any], detail: str
) -> None:
    await bed.store()
    await bed.expire()
    bed.endpoint.rotates = False
    bed.endpoint.refreshed = refreshed
    with pytest.raises(AccountUnavailableError) as error:
        await bed.vault.access_token(**bed.key)
    assert error.value.detail == detail
    await bed.expire()
    bed.endpoint.refreshed = {}
    await bed.vault.access_token(**bed.key)
    assert bed.endpoint.asked == ["refresh-1", "refresh-1"]


async def test_new_tokens_that_cannot_be_stored_are_not_revoked_where_there_are_newer_ones(bed: Bed) -> None:
    await bed.store()
    await bed.expire()

    async def connect(form: dict[str, str]) -> None:
        await bed.store()

    bed.endpoint.instead = connect
    bed.endpoint.refreshed = {"more": "x" * 70_000}
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"
    assert (bed.endpoint.revoked, bed.events[-1].name, bed.events[-1].revoked) == ([], "not_stored", False)
