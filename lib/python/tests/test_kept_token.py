"""An account is connected again, and the answer has no refresh token."""

from __future__ import annotations

import asyncio

import pytest
from vault_bed import Bed, Gate, bed, endpoint

from urlmode import AccountReconnectError

__all__ = ["bed", "endpoint"]


async def test_an_account_is_connected_again_without_a_refresh_token(bed: Bed) -> None:
    """The one that there is stays, and is used."""
    await bed.store()
    await bed.store(refresh_token=None)
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"
    await bed.expire()
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-3"
    assert bed.endpoint.asked == ["refresh-1"]


@pytest.mark.parametrize(
    "change",
    ["scopes = '{read}'", "state = 'reconnect', reason = 'invalid_grant'", "tokens = tokens || '\\x00'"],
)
async def test_an_old_refresh_token_that_is_not_worth_keeping(bed: Bed, change: str) -> None:
    """It is for less than was granted now, was refused, or cannot be opened."""
    await bed.store()
    await bed.change(change)
    await bed.store(refresh_token=None)
    await bed.expire()
    with pytest.raises(AccountReconnectError, match="expired"):
        await bed.vault.access_token(**bed.key)
    assert bed.endpoint.asked == []


async def test_a_refresh_token_that_is_kept_is_the_one_that_a_refresh_under_way_brings(bed: Bed) -> None:
    await bed.store()
    await bed.expire()
    gate = bed.endpoint.instead = Gate()
    refreshed = asyncio.ensure_future(bed.vault.access_token(**bed.key))
    await gate.reached.wait()
    stored = asyncio.ensure_future(bed.store(refresh_token=None))
    asyncio.get_running_loop().call_later(0.5, gate.opened.set)
    await asyncio.gather(refreshed, stored)
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-2"
    await bed.expire()
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-4"
    assert bed.endpoint.asked == ["refresh-1", "refresh-3"]
