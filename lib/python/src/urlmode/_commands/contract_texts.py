"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

CHECK_DATABASE_ADVICE = "correct URLMODE_DATABASE_URL, or start PostgreSQL"


def check_login_advice(login: str) -> str:
    return f"connect as {login}, or as a member of it"


CHECK_WALK_ADVICE = "the log of PostgreSQL says why; urlmode check on a callback host finds the cause"

CHECK_CALLBACK_ADVICE = "correct URLMODE_BASE_URL, or start the callback programs and nginx"


def check_keys(kid: int, count: int) -> str:
    return f"key {kid} seals; of {count} that open"


CHECK_STANDBY_ADVICE = "this is a standby: connect to the primary"


def check_clock(seconds: str) -> str:
    return f"PostgreSQL's clock is {seconds} seconds ahead of this host's"


CHECK_NO_SCHEMA = "there is no schema urlmode"


def check_changed(names: str) -> str:
    return f"not as it was applied: {names}"


CHECK_CHANGED_ADVICE = "urlmode migrate says the way out"


def check_role(role: str) -> str:
    return f"{role} does not have the settings of urlmode_server"


CHECK_NOT_HEARD = "the end of an elicitation was written, and its notification does not come"

CHECK_HEARD = "an elicitation is created and ended, and its end is heard"


def check_done_page(url: str, status: int) -> str:
    return f"{url}/done answers {status}, not as urlmode does"


CHECK_NGINX_ADVICE = "compare nginx with nginx/README.md"

CHECK_SAME_KEYS = "the callback programs have the key that seals here"

CHECK_OTHER_KEYS = "the callback programs do not open what is sealed here"

CHECK_OTHER_KEYS_ADVICE = "copy their keys file"


def check_no_provider(provider: str) -> str:
    return f"the callback programs have no provider {provider}"


CHECK_NO_PROVIDER_ADVICE = "compare with their configuration"

CHECK_OTHER_ANSWER = "the callback programs answer otherwise than expected"

TRIES_NUMBER = "--tries needs a number from 1 to 9999"

DEPLOYMENT_NAME = "a deployment has a name of 1 to 16 of a-z and 0-9, which begins with a letter"

REVOKE_NEEDS_DEPLOYMENT = "--revoke-others needs --deployment, whose logins stay"


def migration_waited(file: str, tried: int, tries: int) -> str:
    return f"{file} has waited too long for a lock, and has changed nothing (try {tried} of {tries})"


MIGRATION_GAVE_UP = "gave up. Try again when these transactions have ended; pg_terminate_backend(PROCESS) ends one"


def migration_changed(file: str) -> str:
    return f"{file} is not as it was applied, and migrate would refuse"


def migration_missing(file: str) -> str:
    return f"{file} would be applied"


def functions_older(version: int) -> str:
    return f"functions of version {version} would be applied"


def functions_newer(version: int, own: int) -> str:
    return f"the functions are newer, of version {version}, and would not be replaced by version {own}"


def no_example(framework: str, others: str) -> str:
    return f"there is no example for {framework}, but for {others}"


def paid_example(sdk: str) -> str:
    return f"{sdk}: a report that is sold once, credits, and a subscription"


def example_written(writes: str) -> str:
    return f"{writes} the example server of a framework into a folder, this one by default:"


EXAMPLE_STAYS = "A file that exists stays as it is."

EXAMPLE_LIST = "Without FRAMEWORK it lists them:"

FILE_STAYS = "exists, and stays as it is"

CHECK_HELP = """usage: python -m urlmode check [--provider NAME] [--json]

Looks at what an MCP server needs: the database, its schema and the role, the
clock, the keys file, and whether the callback programs answer at the base URL
and have the same keys. With the login of the server it creates an elicitation
of its own, ends it, hears of that, and deletes it. URLMODE_DATABASE_URL,
URLMODE_KEYS_FILE and URLMODE_BASE_URL are those of the server. Says of each
what it found and what to do.

  --provider NAME  a provider of the callback programs' configuration, for a
                   link that they open; by default the one that they have for
                   this
  --json           one JSON object, with the status and an array of findings

Status: 0 nothing is wrong, 1 warnings, 2 errors.
"""

MIGRATE_HELP = """usage: python -m urlmode migrate [--frameworks] [--deployment NAME]
                                 [--revoke-others] [--tries N] [--dry-run]

Applies the migrations of the package, in order and each once, to the database
that URLMODE_ADMIN_DATABASE_URL names; its user must be able to create roles and
a schema. Each migration is one transaction. Then replaces the functions, in one
transaction; newer functions than those of the package are an error, and so is a
migration that is not as it was applied.

A transaction waits half a second for a lock, because reads and writes of the
table wait behind it. Then it gives way, names the processes that hold the lock,
and tries again, 20 times or N. Two runs at the same time wait for each other.
Stops at the first other error. What was applied before it stays, also when the
lock did not become free.

  --frameworks       also the schema urlmode_frameworks, which FrontMCP and
                     mcp-lite need; later runs know that it is there
  --deployment NAME  the logins are urlmode_NAME_cgi and so on; for the name
                     default urlmode_cgi. A database that has other ones gets
                     these beside them
  --revoke-others    these logins alone can use this database from now on
  --tries N          how often a transaction waits for its locks
  --dry-run          say what would be applied, and change nothing; the status
                     is 1 if migrate would refuse
"""
