"""`python -m urlmode new`: the example server of a framework, in a folder of its own."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from .._core.shipped import shipped_file
from .._core.version import DISTRIBUTION
from . import contract_texts as texts

# The frameworks, with their examples, the extras that these need, and what they are.
_FRAMEWORKS = {
    "sdk": ("sdk.py", "mcp,oauth", "the official Python SDK 1.x and 2.x"),
    "paid": ("paid.py", "mcp,oauth", texts.paid_example("SDK 2.x")),
    "fastmcp": ("fastmcp_server.py", "fastmcp,oauth", "FastMCP 2, 3 and 4"),
}
LIST = "".join(f"  {name:<9}{of}\n" for name, (_, _, of) in _FRAMEWORKS.items())


def new(framework: str, folder: str = ".") -> int:
    """Returns the status of the process."""
    if framework not in _FRAMEWORKS:
        print(texts.no_example(framework, ", ".join(_FRAMEWORKS)), file=sys.stderr)
        return 2
    try:
        _write_example(framework, Path(folder))
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def _write_example(framework: str, folder: Path) -> None:
    example, extra, _ = _FRAMEWORKS[framework]
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in (("server.py", example), ("app.py", "app.py"), (".env.example", ".env.example")):
        text = shipped_file(f"python/examples/{source}").read_text("utf-8")
        _write(folder / name, text.replace(example, "server.py"))
    _write(folder / "requirements.txt", f"{_requirement(f'binary,{extra}')}\nuvicorn\n")
    there = "" if folder == Path() else f"    cd {shlex.quote(str(folder))}\n"
    print(f"""
Then

{there}    pip install -r requirements.txt
    cp .env.example .env                # then write into it where the callback programs are
    set -a; . ./.env; set +a; python server.py            # the server prints its URL
""", end="")  # fmt: skip


def _requirement(extras: str) -> str:
    """This package, from where it was installed: what is on no index would be looked for there under a name that anybody can take."""
    try:
        here = distribution(DISTRIBUTION)
    except PackageNotFoundError:  # in a checkout of the repository
        return f"{DISTRIBUTION}[{extras}] @ {Path(__file__).parents[3].as_uri()}"
    direct = here.read_text("direct_url.json")
    return f"{DISTRIBUTION}[{extras}] @ {_direct_reference(json.loads(direct))}" if direct else f"{DISTRIBUTION}[{extras}]=={here.version}"


def _direct_reference(direct: dict[str, Any]) -> str:
    """PEP 440 has what PEP 610 keeps apart in one URL: the version control and the commit, and the folder in it."""
    url = str(direct["url"])
    if vcs := direct.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"{url}#subdirectory={folder}" if (folder := direct.get("subdirectory")) else url


def _write(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
        print(f"{file} is written")
    except FileExistsError:
        print(f"{file} {texts.FILE_STAYS}")
