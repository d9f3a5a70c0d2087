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


PAID_EXAMPLE = "SDK 2.x: a report that is sold once, credits, and a subscription"

FILE_STAYS = "exists, and stays as it is"
