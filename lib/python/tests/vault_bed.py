"""An account in a vault, at a provider that the test commands."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypedDict

import psycopg
import pytest
from conftest import OpenUrlMode, owner, required
from psycopg.rows import namedtuple_row
from token_endpoint import TokenEndpoint

from urlmode import UrlMode
from urlmode.vault import Account, AccountEvent, Connected, Vault

PROVIDER = "github"


class Key(TypedDict):
    subject: str
    provider: str


def key_line(kid: int) -> str:
    return f"{kid} {base64.b64encode(secrets.token_bytes(32)).decode()}\n"


class Bed:
    def __init__(self, admin: psycopg.AsyncConnection[Any], endpoint: TokenEndpoint, open_urlmode: OpenUrlMode, file: Path) -> None:
        self.admin = admin
        self.endpoint = endpoint
        self.keys_file = file
        self.events: list[AccountEvent] = []
        self.subject = owner()["subject"]
        self.key: Key = {"subject": self.subject, "provider": PROVIDER}
        self._open_urlmode = open_urlmode
        self.urlmode = open_urlmode()
        self.vault = self.open_vault(self.urlmode)

    def open_vault(self, urlmode: UrlMode | None = None) -> Vault:
        """That of another instance, if no other is given."""
        return Vault(
            urlmode or self._open_urlmode(), keys_file=self.keys_file, providers={PROVIDER: self.endpoint.provider},
            on_event=self.events.append,
        )  # fmt: skip

    async def store(self, expires_in: float | None = None, account: str | None = "acme", **tokens: Any) -> str:
        granted = {name: value for name, value in {**self.endpoint.grant(expires_in), **tokens}.items() if value is not None}
        scopes = granted["scope"].split()
        return await self.vault.store(Connected(
            elicitation_id="", tokens=granted, account=account and Account(id=account) or None, scopes=scopes, requested=scopes,
            claims=None, returned={}, variables={},
        ), **self.key)  # fmt: skip

    async def change(self, assignments: str) -> None:
        await self.admin.execute(f"UPDATE urlmode.account SET {assignments} WHERE subject = %s".encode(), [self.subject])

    async def expire(self) -> None:
        await self.change("expires_at = now(), refreshed_at = now() - interval '1 hour', pause_until = NULL")

    async def row(self) -> Any:
        cursor = self.admin.cursor(row_factory=namedtuple_row)
        await cursor.execute("SELECT * FROM urlmode.account WHERE subject = %s", [self.subject])
        return await cursor.fetchone()

    def fail(
        self, function: str, times: int, *, after: bool = False, error: Exception = psycopg.OperationalError("the connection is lost"),
    ) -> Callable[[], int]:
        """The connection breaks when this function is called, before or after it was carried out, or it has another error.
        Returns how often that is yet to come."""
        query, left = self.vault._database._query, times

        async def failing(statement: str, values: Any, reads: bool = False) -> Any:
            nonlocal left
            fails = function in statement and left > 0
            if not fails:
                return await query(statement, values, reads)
            left -= 1
            if after:
                await query(statement, values, reads)
            raise error

        self.vault._database._query = failing
        return lambda: left

    def names(self) -> list[tuple[str, Any]]:
        """What was told, and why."""
        return [(event.name, event.reason or event.detail or event.revoked) for event in self.events if event.name != "connected"]


@pytest.fixture
async def endpoint(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TokenEndpoint]:
    endpoint = TokenEndpoint()
    server = await endpoint.start()
    monkeypatch.setattr("urlmode._accounts.provider.read_description", lambda name: endpoint.oauth)
    yield endpoint
    server.close()


@pytest.fixture
async def bed(endpoint: TokenEndpoint, open_urlmode: OpenUrlMode, tmp_path: Path) -> AsyncIterator[Bed]:
    file = tmp_path / "vault-keys"
    file.write_text(key_line(7))
    file.chmod(0o600)
    async with await psycopg.AsyncConnection.connect(required("URLMODE_ADMIN_DATABASE_URL"), autocommit=True) as admin:
        yield Bed(admin, endpoint, open_urlmode, file)


class Gate:
    """Holds a request up until it is opened."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self, form: dict[str, str]) -> None:
        self.reached.set()
        await self.opened.wait()


def answering(status: int, content: Any, times: int = 1_000) -> Callable[[dict[str, str]], Awaitable[tuple[int, Any] | None]]:
    """Status 0 ends the connection."""
    left = times

    async def answer(form: dict[str, str]) -> tuple[int, Any] | None:
        nonlocal left
        left -= 1
        return (status, content) if left >= 0 else None

    return answer
