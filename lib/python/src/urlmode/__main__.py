"""The command of the package: `python -m urlmode`."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from ._core import contract_texts as texts
from ._core.shipped import shipped_file
from ._core.version import DISTRIBUTION, VERSION

# The frameworks, with their examples, the extras that these need, and what they are.
_FRAMEWORKS = {
    "sdk": ("sdk.py", "mcp,oauth", "the official Python SDK 1.x and 2.x"),
    "paid": ("paid.py", "mcp,oauth", texts.PAID_EXAMPLE),
    "fastmcp": ("fastmcp_server.py", "fastmcp,oauth", "FastMCP 2, 3 and 4"),
}
_LIST = "".join(f"  {name:<9}{of}\n" for name, (_, _, of) in _FRAMEWORKS.items())
_HELP = f"""usage: python -m urlmode new [FRAMEWORK] [FOLDER]
       python -m urlmode check [--provider NAME] [--json]
       python -m urlmode migrate [--frameworks] [--deployment NAME] [--dry-run]
       python -m urlmode --version

migrate brings a database up to date: see migrate --help.

check looks for what is wrong with the setup of a server: see check --help.

new writes the example server of a framework into a folder, this one by default:

  server.py         a whole server, with tools that connect an account, take a payment, and
                    ask on a page
  app.py            what belongs to your application: replace it with your own
  .env.example      the variables that they read
  requirements.txt  the packages that they import

A file that exists stays as it is. Without FRAMEWORK it lists them:

{_LIST}"""


def main(arguments: list[str]) -> int:
    if arguments in (["--help"], ["-h"], ["new", "--help"], ["new", "-h"]):
        print(_HELP, end="")
        return 0
    if arguments[:1] == ["check"]:
        return _check(arguments[1:])
    if arguments[:1] == ["migrate"]:
        from ._core.migrate import migrate

        return migrate(arguments[1:])
    if arguments == ["--version"]:
        print(f"urlmode {VERSION}")
        return 0
    if arguments == ["new"]:
        print(_LIST, end="")
        return 0
    if len(arguments) not in (2, 3) or arguments[0] != "new":
        print(_HELP, end="", file=sys.stderr)
        return 2
    if arguments[1] not in _FRAMEWORKS:
        print(texts.no_example(arguments[1], ", ".join(_FRAMEWORKS)), file=sys.stderr)
        return 2
    try:
        _write_example(arguments[1], Path(*arguments[2:]))
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def _check(arguments: list[str]) -> int:
    from ._core import check  # the driver, which an example does not need

    parser = argparse.ArgumentParser("python -m urlmode check", add_help=False, allow_abbrev=False)
    for name in ("--json", "--help"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("--provider")
    given = parser.parse_args(arguments)
    if given.help:
        print(check.HELP, end="")
        return 0
    return check.check(provider=given.provider, as_json=given.json)


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
        return f"{DISTRIBUTION}[{extras}] @ {Path(__file__).parents[2].as_uri()}"
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
