"""What is wrong around the package is said in one sentence: what the machine, the database, the application or the network lacks."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import psycopg_pool
import pytest
from conftest import ACCOUNT, OpenUrlMode, owner, required

import urlmode as package
from urlmode import ElicitationTimeoutError, Expected, UrlMode
from urlmode._commands.migrate import migrate

SOURCE = Path(package.__file__).parents[1]


@pytest.mark.parametrize(
    ("lacks", "imports", "said"),
    [
        ("mcp", "urlmode.mcp", "urlmode.mcp needs urlmode with its extra, urlmode[mcp]"),
        ("fastmcp", "urlmode.fastmcp", "urlmode.fastmcp needs urlmode with its extra, urlmode[fastmcp]"),
        ("authlib", "urlmode.vault", "urlmode.vault needs urlmode with its extra, urlmode[oauth]"),
        ("joserfc", "urlmode.oauth", "urlmode.oauth needs urlmode with its extra, urlmode[oauth]"),
        ("opentelemetry", "urlmode.otel", "urlmode.otel needs opentelemetry-api"),
        ("psycopg", "urlmode", "urlmode needs libpq: install it, or urlmode with its extra, urlmode[binary]"),
        (None, "urlmode", "urlmode does not run on Windows itself: use it in WSL, or call the program api over HTTP from there"),
    ],
)
def test_what_the_machine_lacks(lacks: str | None, imports: str, said: str) -> None:
    without = "sys.platform = 'win32'" if lacks is None else f"sys.modules[{lacks!r}] = None"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {without}; import {imports}"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SOURCE)}
    )
    assert done.stderr.splitlines()[-1] == f"ImportError: {said}"


async def test_what_the_database_lacks(open_urlmode: OpenUrlMode) -> None:
    elsewhere = urlunsplit(urlsplit(required("URLMODE_DATABASE_URL"))._replace(path="/postgres"))
    migrate = "run urlmode migrate of the same version"
    for url, error, said in (
        (elsewhere, psycopg.errors.InvalidSchemaName, migrate),
        (required("URLMODE_PROGRAMS_DATABASE_URL"), psycopg.errors.InsufficientPrivilege, "connect as the role of MCP servers, urlmode_server"),
    ):
        urlmode, me = open_urlmode(database_url=url), owner()
        for call in (urlmode.create(**ACCOUNT, **me), urlmode.unclaimed(), urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", **me)):
            with pytest.raises(error, match=f": .*{said}$"):
                await call


async def test_a_database_that_is_down_is_the_cause_of_a_timeout(open_urlmode: OpenUrlMode) -> None:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    urlmode = open_urlmode(database_url=f"postgresql://u:p@127.0.0.1:{port}/d")
    with pytest.raises(ElicitationTimeoutError) as timeout:
        await urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", subject="a", timeout=1)
    assert isinstance(timeout.value.__cause__, psycopg.OperationalError) and "refused" in str(timeout.value.__cause__)


def test_what_the_application_lacks(keys_file: Path) -> None:
    settings: dict[str, Any] = {"keys_file": keys_file, "base_url": "https://callback.example"}
    with psycopg_pool.ConnectionPool("postgresql://h/d", open=False) as pool:
        pool.close()
        with pytest.raises(TypeError, match=r"AsyncConnectionPool, not a synchronous pool; urlmode\.sync takes a database_url"):
            UrlMode(pool=pool, **settings)  # type: ignore[arg-type]
    urlmode = UrlMode(database_url="postgresql://h/d", **settings)
    with pytest.raises(RuntimeError, match="no running event loop of asyncio here: trio has none; urlmode.sync needs none"):
        urlmode.unclaimed().send(None)  # as any other loop runs it


async def test_milliseconds_in_the_place_of_seconds(urlmode: UrlMode) -> None:
    payment: dict[str, Any] = {"provider": "stripe", "kind": "payment", "item": "i", "expected": Expected(5, "EUR"), "target_url": "https://c.example"}
    for ttl in (300_000, 86_401.0):
        with pytest.raises(ValueError, match=f"ttl must be a timedelta if it is longer than a day: a number is seconds, and {ttl:g} may be milliseconds"):
            await urlmode.create(**payment, **owner(), ttl=ttl)
    with pytest.raises(ValueError, match="timeout must be a timedelta"):
        await urlmode.wait_for_completion("6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11", subject="a", timeout=300_000)
    asked = await urlmode.create(**payment, **owner(), ttl=timedelta(days=3))
    assert asked.url
    with pytest.raises(ValueError, match="client_id must have 1 to"):
        await urlmode.create(**ACCOUNT, **owner(), client_id="")


def test_a_url_that_is_none_says_no_password(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("URLMODE_ADMIN_DATABASE_URL", "postgres//admin:a-secret@db.example/mcp")
    with pytest.raises(SystemExit):
        migrate([])
    said = capsys.readouterr().err
    assert "must be a PostgreSQL URL" in said and "a-secret" not in said
