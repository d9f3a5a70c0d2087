"""The command of the package: `python -m urlmode`."""

from __future__ import annotations

import argparse
import sys

from ._commands import contract_texts as texts
from ._commands.new import LIST, new
from ._core.version import VERSION

_HELP = f"""usage: python -m urlmode new [FRAMEWORK] [FOLDER]
       python -m urlmode check [--provider NAME] [--json]
       python -m urlmode migrate [--frameworks] [--deployment NAME] [--dry-run]
       python -m urlmode --version

migrate brings a database up to date: see migrate --help.

check looks for what is wrong with the setup of a server: see check --help.

{texts.example_written("new writes")}

  server.py         a whole server, with tools that connect an account, take a payment, and
                    ask on a page
  app.py            what belongs to your application: replace it with your own
  .env.example      the variables that they read
  requirements.txt  the packages that they import

{texts.EXAMPLE_STAYS} {texts.EXAMPLE_LIST}

{LIST}"""


def main(arguments: list[str]) -> int:
    if arguments in (["--help"], ["-h"], ["new", "--help"], ["new", "-h"]):
        print(_HELP, end="")
        return 0
    if arguments[:1] == ["check"]:
        return _check(arguments[1:])
    if arguments[:1] == ["migrate"]:
        from ._commands.migrate import migrate

        return migrate(arguments[1:])
    if arguments == ["--version"]:
        print(f"urlmode {VERSION}")
        return 0
    if arguments == ["new"]:
        print(LIST, end="")
        return 0
    if len(arguments) not in (2, 3) or arguments[0] != "new":
        print(_HELP, end="", file=sys.stderr)
        return 2
    return new(*arguments[1:])


def _check(arguments: list[str]) -> int:
    from ._commands import check  # the driver, which an example does not need

    parser = argparse.ArgumentParser("python -m urlmode check", add_help=False, allow_abbrev=False)
    for name in ("--json", "--help"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("--provider")
    given = parser.parse_args(arguments)
    if given.help:
        print(texts.CHECK_HELP, end="")
        return 0
    return check.check(provider=given.provider, as_json=given.json)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
