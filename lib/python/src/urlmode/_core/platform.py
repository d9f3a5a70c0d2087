"""What the package needs around it, in one sentence each."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("urlmode does not run on Windows itself: use it in WSL, or call the program api over HTTP from there")

try:
    import psycopg as psycopg
except ImportError as error:
    raise ImportError("urlmode needs libpq: install it, or urlmode with its extra, urlmode[binary]") from error


def missing(module: str, extra: str) -> ImportError:
    return ImportError(f"{module} needs urlmode with its extra, urlmode[{extra}]")
