"""Generated from lib/contract by `make contract`: change it there."""

from __future__ import annotations

NONCE_BYTES = 12
TAG_BYTES = 16
DIGEST_BYTES = 16
TICKET_COOKIE = "__Host-urlmode-ticket"
LINK_INFO = "urlmode link v1"
DELIVERY_INFO = "urlmode delivery v1"
STATE_INFO = "urlmode state v1"
TICKET_INFO = "urlmode ticket v1"
FOLLOW_INFO = "urlmode follow v1"
SESSION_INFO = "urlmode session v1"
SIGNIN_INFO = "urlmode signin v1"
RESULT_INFO = "urlmode result v1"
EVENT_RESULT_INFO = "urlmode result v2"
OUTCOME_INFO = "urlmode outcome v1"
EVENT_OUTCOME_INFO = "urlmode outcome v2"
FULFILLED_INFO = "urlmode fulfilled v1"
VERIFIER_INFO = "urlmode verifier v1"
FORM_INFO = "urlmode form v1"
PROBLEM_INFO = "urlmode problem v1"
TYPED_INFO = "urlmode typed v1"
READER_INFO = "urlmode reader v1"
KEPT_INFO = "urlmode kept v1"
ACCOUNT_INFO = "urlmode account v1"
CLIENT_RESPONSE_INFO = "urlmode client response v1"
REQUEST_STATE_INFO = "urlmode request state v1"
BINDING_LABEL = "urlmode binding v1"
BROWSER_LABEL = "urlmode browser v1"
NONCE_LABEL = "urlmode nonce v1"
REQUEST_LABEL = "urlmode request v1"
