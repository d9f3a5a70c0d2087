"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations


def unavailable(why: str) -> str:
    return f"PostgreSQL does not answer: {why}"


UNAVAILABLE_NOT_SENT = "there is no connection to it. Nothing was changed"

UNAVAILABLE_NOT_ANSWERED = "it is not known whether this call was carried out"


def timed_out(id: str, when: str) -> str:
    return f"elicitation {id} was not completed {when}"


def open_still(id: str) -> str:
    return f"elicitation {id} is not completed yet"


def request_state(what: str) -> str:
    return (
        f"The requestState {what}. Call the tool again without requestState and inputResponses: that goes "
        "on with what the user has begun, or asks again."
    )


REQUEST_STATE_EXPIRED = "has expired"

REQUEST_STATE_FOREIGN = "does not belong to this call"

STATE_EXPIRED = "the state token has expired"

STATE_NOT_VALID = "the state token is not valid"

TOKEN_REFUSED = "the provider's API has refused the access token"


def deprecated(what: str, instead: str) -> str:
    return f"{what} is deprecated, and goes with the next major version; {instead}"


def unclaimed_payments(count: int) -> str:
    return f"{count} payments of this user are unclaimed: claim or refund them first"


def must_be_one_of(choices: str) -> str:
    return f"must be one of {choices}"


MUST_BE_OBJECT = "must be an object"

MUST_NOT_BE_EMPTY = "must not be empty"


def must_have_characters(least: int, most: int) -> str:
    return f"must have {least} to {most} characters"


def must_have_bytes_at_most(most: int) -> str:
    return f"must have at most {most} bytes"


def must_have_elements(least: int, most: int) -> str:
    return f"must have {least} to {most} elements"


MUST_NOT_OCCUR_TWICE = "must not occur twice"


def allowed_here(names: str) -> str:
    return f"is not allowed here. Allowed are {names}"


MUST_BE_CHOICE = "must be one of the choices"

MAX_BELOW_MIN = "must not be less than min"


def usual_max_below_min(most: int) -> str:
    return f"must not be less than min: it is {most}"


MUST_BE_IN_RANGE = "must be from min to max"


def must_have_length(least: int, most: int) -> str:
    return f"must have {least} to {most} characters, as the field says"


def must_have_format(format: str) -> str:
    return f"must have the format {format}"


NOT_FOR_LINES = "is not allowed for several lines"

MUST_BE_TRIMMED = "must not begin or end with a space"

MUST_BE_FIELD_NAME = "must begin with a letter and have at most 32 characters of a-z, 0-9 and _"

MUST_BE_EMAIL = "must be an email address"

MUST_BE_URL = "must be a URL with https or http"

MUST_BE_LINK = "must be a URL with https, without a user name, of at most 2048 bytes"

MUST_BE_SHORT = "must be a number of at most 15 digits"

HAS_CONTROLS = "must not have control characters"

HAS_DIRECTIONS = "must not have characters that change the direction of text"

MUST_BE_UNICODE = "must be valid Unicode text"


def form_too_large(most: int, size: int) -> str:
    return f"form must have at most {most} bytes as JSON, and has {size}"


def problem_too_large(most: int) -> str:
    return f"a Problem must have at most {most} bytes as JSON"


APPROVER_TWICE = "approver must not have a subject twice"


def must_have_bytes(least: int, most: int) -> str:
    return f"must have {least} to {most} bytes in UTF-8"


MUST_BE_TEXT = "must be valid Unicode text without NUL"

MUST_BE_FUNCTION = "must be a function"

MUST_BE_URLMODE = "urlmode must be a UrlMode"

PROVIDER_NAME = "provider must be a name from the configuration: at most 64 characters of a-z, 0-9, _ and -"

TENANT_NAME = "tenant must be at most 64 characters of a-z, 0-9, _ and -"

CONSUMER_NAME = "consumer must be 1 to 64 characters of a-z, 0-9, _ and -"

REASON_CODE = "reason must be a code of at most 64 characters of a-z, 0-9 and _"

DESCRIPTION_NAME = "must be the name of a shipped description, such as stripe"

CLIENT_NAME = "the name of a client"

MUST_BE_MINOR_UNITS = "must be a whole number of minor units (cents)"

MUST_BE_CURRENCY = "must be a currency of ISO 4217, such as EUR. Others, such as USDC, have no minor unit there to compare in"

EXPECTED_NOT_ALLOWED = "expected is only allowed for kind payment"

CHECKOUT_NOT_ALLOWED = "checkout is only allowed for kind payment"

SUBSCRIPTION_NOT_ALLOWED = "subscription is only allowed for kind payment"

SUBSCRIPTION_WITHOUT_PRICE = "subscription requires its first price: expected cannot be any"

ITEM_NOT_ALLOWED = "item is only allowed for kinds payment and signature"

ITEM_REQUIRED = "item is required for kinds payment and signature: what the user gets, such as report:42"

PKCE_NOT_ALLOWED = "pkce is only allowed for kind oauth"


def not_of_kind(provider: str, kind: str) -> str:
    return (
        f"provider {provider} cannot be of kind {kind}: its description has no events for it. An entry "
        "with another description needs another name"
    )


def no_checkout_in_events(provider: str) -> str:
    return f"expected.match cannot be checkout: the events of {provider} do not name the checkout that was paid"


def amount_step(step: int, provider: str, currency: str) -> str:
    return f"expected.amount must be a multiple of {step}: {provider} cannot charge a smaller part of {currency}"


def amount_too_large(provider: str) -> str:
    return f"expected.amount is more than {provider} can charge"


def result_too_large(most: int) -> str:
    return f"result must have at most {most} bytes as JSON"


PAYMENT_WITHOUT_PRICE = (
    "to accept a payment, amount (in minor units), currency and reference are required: what was "
    "paid, according to the provider"
)

UNDECIDED = "an approval is accepted by its approver alone, on its page"

TRACEPARENT_FORM = "traceparent must be one of W3C Trace Context, version 00"

MUST_BE_ABSOLUTE = "must be an absolute URL"

MUST_BE_ENCODED = "must be an absolute URL, with special characters percent-encoded"

MUST_BE_HTTPS = "must be https, or http on 127.0.0.1, localhost or [::1]"

HAS_USER_NAME = "must not contain a user name or password"

BASE_URL_PARTS = "base_url must consist of scheme, host and port only, without path, query or fragment"

TARGET_URL_FRAGMENT = "target_url must not have a fragment"

TARGET_URL_STATE = "target_url must not have a state: /connect adds it"

TARGET_URL_CHALLENGE = "target_url must not have a code_challenge: pkce adds it"

TARGET_URL_ASCII = "target_url must be ASCII, with other characters percent-encoded"

TARGET_URL_TOO_LONG = "target_url must have at most 8192 bytes"

ABOUT_TOO_DEEP = "about is nested too deeply"

ABOUT_SURROGATE = "a text of about has half a surrogate pair"

POOL_OR_URL = "pool and database_url cannot be used together"

KEYS_OR_FILE = "keys and keys_file cannot be used together"

KEY_LINE = "the line must be `<kid> <base64 of the key>`"

KEY_KID = "the kid must be a number from 0 to 255"

KEY_TOO_LONG = "the key must be base64 of at most 256 bytes"

KEY_TOO_SHORT = "the key must have at least 32 bytes"


def kid_twice(kid: int) -> str:
    return f"kid {kid} is used twice"


NO_KEY_IN_FILE = "the file contains no key"

NOT_A_FILE = "this is not a regular file"

FILE_NOT_PRIVATE = "other users may read or write it; run chmod o= on it"

FILE_NOT_READABLE = "the file cannot be read"


def keys_stay(error: str) -> str:
    return f"{error}; the keys stay as they were"


def no_such_key(kid: int) -> str:
    return f"the keys file has no key {kid}"


def no_such_vault_key(kid: int) -> str:
    return f"the vault's keys file has no key {kid}"


NOT_GENUINE = "it is not genuine"

NOT_A_JSON_OBJECT = "it is not a JSON object"


def ticket_cookie(cookie: str, ticket: str, seconds: int) -> str:
    return f"{cookie}={ticket}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Lax"


COMMITS_UNANSWERED = "commits are not answered"

LISTENER_LOST = "the listening connection is lost"

NO_NOTIFICATIONS = "notifications do not arrive, probably because of a pooler in transaction mode; PostgreSQL is polled"


def polling(cause: str) -> str:
    return f"{cause} at increasing intervals, so waits are resolved a little later"


CALLS_IN_PROGRESS = "10000 calls are in progress"


def waited_for_others(seconds: int) -> str:
    return f"the call has waited {seconds} s for others"


OWNER_IS_BUSY = "other calls of this owner create elicitations all the time"

WAITS_METRIC = "Calls that wait for an outcome."

OLDEST_WAIT_METRIC = "For how long the oldest of them has waited; 0: there is none."

WAITS_ENDED_METRIC = "Waits that have ended, by the action of the outcome, or by why there is none."

NOTIFICATIONS_METRIC = "Whether notifications of PostgreSQL arrive; 0: rows are polled, or nobody waits."

CONNECTIONS_LOST_METRIC = "Listening connections that were lost or not made, each followed by another attempt."

REFUND_OF_OTHER_END = "only a claim that ends as refunded has the reference of a refund"

CLAIM_ENDS = "a claim ends as delivered or refunded"

ACCOUNT_CLAIM_IS_FINAL = "the claim of an account is final"

ACCOUNT_IS_CONNECTED = "an account is connected: it is neither delivered nor refunded"

ENTRY_IS_FOREIGN = "does not name this elicitation or its checkout"

ENTRY_IS_TAKEN = "has paid for another elicitation"


def recheck_not_recorded(id: str, reference: str, why: str) -> str:
    return f"recheck of elicitation {id} did not record {reference}, which {why}"


def recheck_failed(id: str, provider: str, error: str) -> str:
    return f"recheck of elicitation {id} at {provider} has failed: {error}"


def recheck_overdue(id: str, seconds: int) -> str:
    return f"recheck of elicitation {id} has not answered within {seconds} s"


def verify_overdue(id: str) -> str:
    return f"verify of elicitation {id} took longer than its time limit"


CLAIMED_OTHERWISE = "a subscription was not claimed by its entitlement"


def no_account(provider: str, reason: str, detail: str, id: str) -> str:
    return f"no account was connected at {provider}: {reason} ({detail}), elicitation {id}"


def no_identity(provider: str, error: str) -> str:
    return f"{provider} did not say whose account was connected ({error})"


SECRET_BESIDE_KEY = "client.secret must not be given: clients of this provider have a key"

PRIVATE_KEY_REQUIRED = "client.private_key is required: clients of this provider have a key"

PRIVATE_KEY_NOT_ALLOWED = "client.private_key must not be given: clients of this provider have none"

PRIVATE_KEY_FORM = "client.private_key must be a private key as PEM, of RSA or of a curve of NIST"

SECRET_REQUIRED = "client.secret is required: this provider has no PKCE"

SECRET_NOT_ALLOWED = "client.secret must not be given: clients of this provider have none"

VARIABLE_UNKNOWN = "is not one of this description"

HTTPS_WITHOUT_QUERY = "an https URL without query and fragment"

MUST_BE_SCOPES = "must be a list of scopes, without spaces and commas in them"

VAULT_KEYS_ARE_SHARED = "the vault must have keys of its own, because the callback hosts, which face the internet, have the others"

REFUSED_IS_A_TOKEN = "refused must be an access token"

TASK_UNKEPT = "The result of the tool cannot be kept: call the tool without a task"

TASK_OWNER = "the owner of handle_tasks must be the one of the elicitation"

TASK_RESPONSE = "The response is too large"

TASK_NOT_FOUND = "Task not found"

TASK_NAME = "The header Mcp-Name and the taskId differ"

TASK_CAPABILITY = "Missing required client capability"
