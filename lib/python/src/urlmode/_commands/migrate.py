"""`python -m urlmode migrate`: what sql/migrate does with psql."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from .._core.contract_database import FUNCTIONS_VERSION
from .._core.contract_limits import DEPLOYMENT_MAX, MIGRATION_TRIES
from .._core.contract_statements import FIND_SCHEMA, READ_MIGRATIONS
from .._core.shipped import shipped_file
from . import contract_texts as texts

_DEPLOYMENT = re.compile(f"[a-z][a-z0-9]{{0,{DEPLOYMENT_MAX - 1}}}")

Connection = psycopg.Connection[tuple[Any, ...]]


class _MigrateError(Exception):
    pass


def _folder() -> Path:
    """In a checkout they are in a folder of its own."""
    shipped = shipped_file("sql")
    return shipped if shipped.is_dir() else shipped.parents[1] / "sql"


def _read(name: str) -> str:
    # Its digest is that of the bytes.
    return (_folder() / name).read_bytes().decode()


def _names(folder: str) -> list[str]:
    return [f"{folder}/{file.name}" for file in sorted((_folder() / folder).glob("[0-9]*.sql"))]


def _migrations(frameworks: bool) -> dict[str, str]:
    """The SQL of each by its name."""
    files = _names("tables") + (_names("frameworks/tables") if frameworks else [])
    return {file.replace("frameworks/tables/", "frameworks/").removeprefix("tables/"): _read(file) for file in files}


def migration_digests() -> dict[str, str]:
    """SHA-256 of each of them by its name."""
    return {name: hashlib.sha256(sql.encode()).hexdigest() for name, sql in _migrations(True).items()}


def _with_names(sql: str, names: dict[str, str]) -> str:
    """With these names in place of :"cgi" and :'cgi', as psql puts them there."""
    return re.sub(r"""(?<!:):(["'])(\w+)\1""", lambda found: found[1] + names[found[2]] + found[1], sql)


def _connect(url: str) -> Connection:
    # The files set roles and settings of a transaction: no statement is prepared.
    return psycopg.connect(url, autocommit=True, prepare_threshold=None, application_name="urlmode migrate")


def _applied(connection: Connection) -> list[str]:
    return [name for name, _ in connection.execute(READ_MIGRATIONS)]


def make_schema(url: str) -> None:
    """Applies all of them to a new database."""
    with _connect(url) as connection:
        _Migrate(connection, 1, lambda _: None).apply(False, "", False)


class _Migrate:
    def __init__(self, connection: Connection, tries: int, applied: Callable[[str], None]) -> None:
        self._connection = connection
        self._applied = applied
        self._tries = self._left = tries

    def apply(self, frameworks: bool, deployment: str, revoke_others: bool) -> None:
        self._execute("", "SET client_min_messages = warning")
        digests = json.dumps(migration_digests())
        names = self._whose(deployment) | {"revoke_others": str(revoke_others).lower(), "digests": digests}
        self._file("begin.sql", names)
        frameworks = frameworks or any(name.startswith("frameworks/") for name in _applied(self._connection))
        for name, sql in _migrations(frameworks).items():
            if self._once(name, _with_names(sql, names), names):
                self._applied(name)
        self._file("logins.sql", names)
        files = [*_names("functions"), *(_names("frameworks/functions") if frameworks else []), "end.sql"]
        self._transaction("functions/", lambda: self._replace(files, names))

    def _whose(self, deployment: str) -> dict[str, str]:
        roles = _read("roles.sql")
        select = roles[roles.index("\nSELECT ") : roles.index(" \\gset")]
        row = self._connection.execute(_with_names(select, {"deployment": deployment}).encode()).fetchone()
        assert row is not None
        prefix, owner = row
        logins = re.findall(r"^\\set (\w+) :prefix (\w+)$", roles, re.MULTILINE)
        return {"deployment": deployment, "prefix": prefix, "owner": owner} | {role: prefix + suffix for role, suffix in logins}

    def _once(self, name: str, sql: str, names: dict[str, str]) -> bool:
        """Whether it was missing."""
        missing = True

        def apply() -> None:
            nonlocal missing
            missing = name not in _applied(self._connection)
            if missing:
                if re.search(r"\burlmode\.elicitation\b", sql):
                    self._execute("lock.sql", _read("lock.sql"))
                self._execute(name, sql)
                self._execute("applied.sql", _with_names(_read("applied.sql"), names | {"file": name}))

        self._transaction(name, apply)
        return missing

    def _file(self, name: str, names: dict[str, str]) -> None:
        self._transaction(name, lambda: self._execute(name, _with_names(_read(name), names)))

    def _replace(self, files: list[str], names: dict[str, str]) -> None:
        for file in files:
            self._execute(file, _with_names(_read(file), names))

    def _execute(self, name: str, sql: str) -> None:
        try:
            self._connection.execute(sql.encode())
        except (errors.LockNotAvailable, errors.DeadlockDetected):
            raise
        except psycopg.Error as error:
            hint = error.diag.message_hint
            text = f"{name}: {error.diag.message_primary or error}"
            raise _MigrateError(f"{text}. {hint}" if hint else text) from None

    def _transaction(self, name: str, statements: Callable[[], object]) -> None:
        while True:
            try:
                with self._connection.transaction():
                    self._connection.execute(_read("turn.sql").encode())
                    statements()
                return
            except (errors.LockNotAvailable, errors.DeadlockDetected):
                pass
            self._left -= 1
            tried = self._tries - self._left
            _warn(texts.migration_waited(name, tried, self._tries))
            for (line,) in self._connection.execute(_read("blockers.sql").encode()):
                _warn(f"  {line}")
            if self._left == 0:
                raise _MigrateError(texts.MIGRATION_GAVE_UP)
            time.sleep(min(tried, 5))


def _warn(line: str) -> None:
    print(f"migrate: {line}", file=sys.stderr, flush=True)


def _own_version() -> int:
    found = re.search(r"functions_version\(\).*?\tSELECT (\d+)", _read("functions/000_version.sql"), re.DOTALL)
    assert found
    return int(found[1])


def _list(connection: Connection, frameworks: bool) -> bool:
    """Whether migrate would not refuse this database."""
    ((has_migrations, has_version),) = connection.execute(FIND_SCHEMA)
    applied: dict[str, str | None] = dict(connection.execute(READ_MIGRATIONS).fetchall()) if has_migrations else {}
    digests = migration_digests()
    changed = [name for name, digest in applied.items() if digest and digests.get(name, digest) != digest]
    for name in changed:
        print(texts.migration_changed(name))
    ((version,),) = connection.execute(FUNCTIONS_VERSION) if has_version else [(0,)]
    own = _own_version()
    for name in _migrations(frameworks or any(each.startswith("frameworks/") for each in applied)):
        if name not in applied:
            print(texts.migration_missing(name))
    if version < own:
        print(texts.functions_older(own))
    if version > own:
        print(texts.functions_newer(version, own))
    return not changed and version <= own


def migrate(arguments: list[str]) -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser("python -m urlmode migrate", add_help=False, allow_abbrev=False)
    for name in ("--help", "--frameworks", "--revoke-others", "--dry-run"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("--deployment")
    parser.add_argument("--tries", default=str(MIGRATION_TRIES))
    given = parser.parse_args(arguments)
    if given.help:
        print(texts.MIGRATE_HELP, end="")
        return 0
    if not re.fullmatch(r"[1-9]\d{0,3}", given.tries):
        parser.error(texts.TRIES_NUMBER)
    if given.deployment is not None and not _DEPLOYMENT.fullmatch(given.deployment):
        parser.error(texts.DEPLOYMENT_NAME)
    if given.revoke_others and given.deployment is None:
        parser.error(texts.REVOKE_NEEDS_DEPLOYMENT)
    url = os.environ.get("URLMODE_ADMIN_DATABASE_URL", "")
    if not url:
        parser.error("set URLMODE_ADMIN_DATABASE_URL to the database, with a user who can create roles and a schema")
    try:
        conninfo_to_dict(url)
    except psycopg.Error:
        # The error of libpq may quote a password.
        parser.error("URLMODE_ADMIN_DATABASE_URL must be a PostgreSQL URL, postgresql://user:password@host:port/database")
    try:
        with _connect(url) as connection:
            connection.add_notice_handler(lambda notice: _warn(notice.message_primary or ""))
            if given.dry_run:
                return 0 if _list(connection, given.frameworks) else 1
            _Migrate(connection, int(given.tries), lambda name: print(name, flush=True)).apply(given.frameworks, given.deployment or "", given.revoke_others)
    except (_MigrateError, psycopg.Error) as error:
        _warn(str(error))
        return 1
    return 0
