"""The files of sql/, which make the schema in a new database. `urlmode migrate` and sql/migrate do so for one that is in use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg

from .shipped import shipped_file

_SUFFIX = re.compile(r"^\\set (\w+) :prefix (\w+)$", re.MULTILINE)
_NAME = re.compile(r"""(?<!:):(["'])(\w+)\1""")


def _folder() -> Path:
    """In the repository it is beside lib/."""
    folder = shipped_file("sql")
    return folder if folder.is_dir() else shipped_file("../sql")


async def make_schema(connection: psycopg.AsyncConnection[Any]) -> None:
    """Applies all of them, with the logins urlmode_cgi and so on, which are the cluster's."""
    folder = _folder()
    names = {"prefix": "urlmode", "owner": "urlmode_owner", "revoke_others": "false"}
    roles = (folder / "roles.sql").read_text("utf-8")
    names.update((role, names["prefix"] + suffix) for role, suffix in _SUFFIX.findall(roles))

    async def apply(*files: Path) -> None:
        for file in files:
            text = _NAME.sub(lambda found: found[1] + names[found[2]] + found[1], file.read_text("utf-8"))
            await connection.execute(text.encode())

    async with connection.transaction():
        await apply(folder / "begin.sql")
    for table in sorted((folder / "tables").glob("[0-9]*.sql")):
        async with connection.transaction():
            await apply(table)
            await connection.execute("RESET ROLE")
            await connection.execute("INSERT INTO urlmode.migration (name) VALUES (%s)", [table.name])
    async with connection.transaction():
        await apply(folder / "logins.sql")
    async with connection.transaction():
        await apply(*sorted((folder / "functions").glob("[0-9]*.sql")), folder / "end.sql")
