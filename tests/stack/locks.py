# SPDX-License-Identifier: MIT
"""Lock files of Python that name only what differs from lib/python/requirements.txt.

    locks.py expand LOCK    prints it as pip reads it
    locks.py shorten LOCK   prints what pip-compile has written in the short form

In the short form a package without a version has the version and the hashes that it has there.
"""

import re
import sys
from pathlib import Path

BASE = Path(__file__).parents[2] / "lib/python/requirements.txt"
ENTRY = re.compile(r"^([\w.-]+).*\n(?:[ \t].*\n)*", re.MULTILINE)


def packages(lock: Path) -> dict[str, str]:
    return {entry[1]: entry[0] for entry in ENTRY.finditer(lock.read_text())}


def pinned(entry: str) -> tuple[str, ...]:
    return tuple(re.findall(r"==\S+|sha256:\w+", entry))


mode, lock = sys.argv[1], Path(sys.argv[2])
base = packages(BASE)


def converted(entry: re.Match[str]) -> str:
    known = base.get(entry[1])
    if mode == "expand":
        return entry[0] if "==" in entry[0] else known
    return f"{entry[1]}\n" if known and pinned(known) == pinned(entry[0]) else entry[0]


print(ENTRY.sub(converted, lock.read_text()), end="")
