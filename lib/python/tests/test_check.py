"""`python -m urlmode check`: what a server's login sees of its setup, and what it names."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import psycopg
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


def test_a_migration_that_is_not_as_it_was_applied_is_named_with_the_way_out() -> None:
    name, admin = f"check_{uuid.uuid4().hex}", required("URLMODE_ADMIN_DATABASE_URL")
    own = {each: required(each).rpartition("/")[0] + f"/{name}" for each in ("URLMODE_ADMIN_DATABASE_URL", "URLMODE_DATABASE_URL")}

    def migrate() -> str:
        command = [sys.executable, "-m", "urlmode", "migrate"]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **own}).stderr

    with psycopg.connect(admin, autocommit=True) as cluster:
        cluster.execute(f"CREATE DATABASE {name}".encode())
        try:
            assert migrate() == ""
            with psycopg.connect(own["URLMODE_ADMIN_DATABASE_URL"], autocommit=True) as database:
                database.execute("UPDATE urlmode.migration SET digest = repeat('0', 64) WHERE name = '045_refresh.sql'")
                assert wrong(**own) == {"schema": "not as it was applied: 045_refresh.sql"}
                assert "-> urlmode migrate says the way out\n" in check(**own)[1]
                way = re.search("UPDATE urlmode.migration SET digest = NULL WHERE name = '.*'", migrate())
                assert way
                database.execute(way[0].encode())
            assert migrate() == ""
            assert check(**own)[0] == 0
        finally:
            cluster.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def test_its_command_line() -> None:
    status, out = check("--help")
    assert status == 0 and out.startswith("usage: python -m urlmode check [--provider NAME] [--json]\n")
    assert check("--colour")[0] == 2
