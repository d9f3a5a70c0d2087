"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

NONCE_BYTES = 12
TAG_BYTES = 16
DIGEST_BYTES = 16
LINK_MAC_BYTES = 14
TICKET_COOKIE = "__Host-urlmode-ticket"
LINK_INFO = "urlmode link v1"
STATE_INFO = "urlmode state v1"
TICKET_INFO = "urlmode ticket v1"
RESULT_INFO = "urlmode result v1"
EVENT_RESULT_INFO = "urlmode result v2"
OUTCOME_INFO = "urlmode outcome v1"
EVENT_OUTCOME_INFO = "urlmode outcome v2"
FULFILLED_INFO = "urlmode fulfilled v1"
ROUND_INFO = "urlmode round v1"
TASK_INFO = "urlmode task v1"
VERIFIER_INFO = "urlmode verifier v1"
FORM_INFO = "urlmode form v1"
PROBLEM_INFO = "urlmode problem v1"
ACCOUNT_INFO = "urlmode account v1"
REQUEST_STATE_INFO = "urlmode request state v1"
BINDING_LABEL = "urlmode binding v1"
BROWSER_LABEL = "urlmode browser v1"
REQUEST_LABEL = "urlmode request v1"
CLIENT_LABEL = "urlmode client v1"
TENANT_BINDING_LABEL = "urlmode binding v2"
