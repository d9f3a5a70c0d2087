"""Tokens that are exchanged for long-lived ones, which are renewed with themselves."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import until
from vault_bed import PROVIDER, Bed, bed, endpoint

from urlmode import AccountReconnectError
from urlmode._vault.sealed_tokens import Place, open_tokens

__all__ = ["bed", "endpoint"]


async def test_long_lived_tokens_are_renewed_with_themselves_while_they_are_valid(bed: Bed) -> None:
    url = bed.endpoint.oauth["token_endpoint"]
    parameters = {"grant_type": "renew", "refresh_token": "{access_token}", "secret": "{client_secret}"}
    request = {"endpoint": url, "parameters": parameters}
    bed.endpoint.oauth["long_lived"] = {"exchange": request, "renewal": request}
    forms = []

    async def renew(form: dict[str, str]) -> tuple[int, Any]:
        forms.append(form)
        return 200, {"access_token": "longer", "expires_in": "5184000"}

    bed.endpoint.instead = renew
    await bed.store(refresh_token="access-1")
    half_over = "expires_at = now() + interval '29 days', refreshed_at = now() - interval '31 days'"
    await bed.change("expires_at = now() + interval '31 days', refreshed_at = now() - interval '29 days'")
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-1"
    await bed.change(half_over)
    assert (await bed.vault.access_token(**bed.key)).access_token == "access-1"
    await until("it is renewed in the background", lambda: ("refreshed", None) in bed.names())
    assert (await bed.vault.access_token(**bed.key)).access_token == "longer"
    assert forms == [{"grant_type": "renew", "refresh_token": "access-1", "secret": "secret-of-the-client"}]
    opened = open_tokens(bed.vault._keys, Place(bed.subject, PROVIDER, "acme"), (await bed.row()).tokens)
    assert (opened["refresh_token"], opened["expires_in"], opened["token_type"]) == ("longer", 5_184_000, "bearer")
    await bed.expire()
    with pytest.raises(AccountReconnectError, match="expired"):
        await bed.vault.access_token(**bed.key)
    assert len(forms) == 1
