"""`python -m urlmode check`: what a server's login sees of its setup, and what it names."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import psycopg
import pytest
from conftest import required


def check(*arguments: str, **changes: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "urlmode", "check", *arguments], capture_output=True, text=True, env={**os.environ, **changes}
    )
    assert done.stderr == "" or done.returncode == 2
    return done.returncode, done.stdout + done.stderr


def wrong(*arguments: str, **changes: str) -> dict[str, str]:
    """What is not well, by its check."""
    status, out = check("--json", *arguments, **changes)
    said: Any = json.loads(out)
    assert (status, said["status"], said["errors"]) == (2, "error", 1)
    return {one["check"]: one["message"] for one in said["findings"] if one["severity"] != "ok"}


def test_nothing_is_wrong_and_what_is_wrong_is_named(tmp_path: Path) -> None:
    status, out = check()
    assert status == 0, out
    assert [line.split()[:2] for line in out.splitlines()[:-1]] == [
        ["ok", name] for name in ("keys", "database", "schema", "walk", "callback", "same_keys")
    ]
    assert out.endswith("\n0 errors, 0 warnings, 0 skipped\n")
    database, keys = required("URLMODE_DATABASE_URL"), tmp_path / "keys"

    keys.write_text("9 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")
    keys.chmod(0o600)
    assert "do not open what is sealed here" in wrong(URLMODE_KEYS_FILE=str(keys))["same_keys"]
    keys.chmod(0o604)
    found = wrong(URLMODE_KEYS_FILE=str(keys))
    assert ("run chmod o= on it" in found["keys"], found["same_keys"]) == (True, "not compared")
    assert wrong(URLMODE_KEYS_FILE="")["keys"] == "URLMODE_KEYS_FILE is not set"
    assert "Connection refused" in wrong(URLMODE_DATABASE_URL="postgresql://a:b@127.0.0.1:1/c")["database"]
    found = wrong(URLMODE_DATABASE_URL=database.rpartition("/")[0] + "/template1")
    assert found == {"schema": "there is no schema urlmode"}
    assert "Connection refused" in wrong(URLMODE_BASE_URL="http://127.0.0.1:1")["callback"]
    assert wrong("--provider", "nobody")["same_keys"] == "the callback programs have no provider nobody"


class Own:
    """A database of its own, in the cluster of the tests."""

    def __init__(self) -> None:
        self.name = f"check_{uuid.uuid4().hex}"
        self.admin_url, self.server_url = (
            required(each).rpartition("/")[0] + f"/{self.name}" for each in ("URLMODE_ADMIN_DATABASE_URL", "URLMODE_DATABASE_URL")
        )

    def migrate(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "urlmode", "migrate", *arguments]
        env = {**os.environ, "URLMODE_ADMIN_DATABASE_URL": self.admin_url}
        return subprocess.run(command, capture_output=True, text=True, env=env).stderr

    def login(self, role: str) -> str:
        with psycopg.connect(self.admin_url, autocommit=True) as database:
            database.execute(f"ALTER ROLE {role} LOGIN PASSWORD 'of the test'".encode())
        return f"postgresql://{role}:of%20the%20test@{self.server_url.rpartition('@')[2]}"


@pytest.fixture
def own() -> Iterator[Own]:
    made = Own()
    with psycopg.connect(required("URLMODE_ADMIN_DATABASE_URL"), autocommit=True) as cluster:
        cluster.execute(f"CREATE DATABASE {made.name}".encode())
        try:
            yield made
        finally:
            cluster.execute(f"DROP DATABASE {made.name} WITH (FORCE)".encode())


def test_a_migration_that_is_not_as_it_was_applied_is_named_with_the_way_out(own: Own) -> None:
    assert own.migrate() == ""
    with psycopg.connect(own.admin_url, autocommit=True) as database:
        database.execute("UPDATE urlmode.migration SET digest = repeat('0', 64) WHERE name = '045_refresh.sql'")
        assert wrong(URLMODE_DATABASE_URL=own.server_url) == {"schema": "not as it was applied: 045_refresh.sql"}
        assert "-> urlmode migrate says the way out\n" in check(URLMODE_DATABASE_URL=own.server_url)[1]
        way = re.search("UPDATE urlmode.migration SET digest = NULL WHERE name = '.*'", own.migrate())
        assert way
        database.execute(way[0].encode())
    assert own.migrate() == ""
    assert check(URLMODE_DATABASE_URL=own.server_url)[0] == 0


def test_another_deployment_has_a_login_of_its_own(own: Own) -> None:
    deployment = f"c{uuid.uuid4().hex[:12]}"
    roles = [f"urlmode_{deployment}_{each}" for each in ("server", "operator", "cgi", "owner")]
    try:
        assert own.migrate("--deployment", deployment) == ""
        assert check(URLMODE_DATABASE_URL=own.login(roles[0])) == (0, ANY)
        status, out = check(URLMODE_DATABASE_URL=own.login(roles[1]))
        assert status == 2 and "no right to execute " in out
        assert f"-> connect as {roles[0]}, or as a member of it\n" in out
    finally:
        with psycopg.connect(own.admin_url, autocommit=True) as database:
            for role in roles:
                database.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())


def test_its_command_line() -> None:
    status, out = check("--help")
    assert status == 0 and out.startswith("usage: python -m urlmode check [--provider NAME] [--json]\n")
    assert check("--colour")[0] == 2
