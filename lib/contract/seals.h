/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
#ifndef UM_CONTRACT_SEALS_H
#define UM_CONTRACT_SEALS_H

#define UM_NONCE_LEN 12
#define UM_TAG_LEN 16
#define UM_DIGEST_LEN 16
#define UM_LINK_MAC_LEN 14
#define UM_TICKET_COOKIE "__Host-urlmode-ticket"
#define UM_LINK_INFO "urlmode link v1"
#define UM_DELIVERY_INFO "urlmode delivery v1"
#define UM_CHECK_DELIVERY_INFO "urlmode check delivery v1"
#define UM_STATE_INFO "urlmode state v1"
#define UM_TICKET_INFO "urlmode ticket v1"
#define UM_FOLLOW_INFO "urlmode follow v1"
#define UM_SESSION_INFO "urlmode session v1"
#define UM_SIGNIN_INFO "urlmode signin v1"
#define UM_RESULT_INFO "urlmode result v1"
#define UM_EVENT_RESULT_INFO "urlmode result v2"
#define UM_OUTCOME_INFO "urlmode outcome v1"
#define UM_EVENT_OUTCOME_INFO "urlmode outcome v2"
#define UM_FULFILLED_INFO "urlmode fulfilled v1"
#define UM_VERIFIER_INFO "urlmode verifier v1"
#define UM_FORM_INFO "urlmode form v1"
#define UM_PROBLEM_INFO "urlmode problem v1"
#define UM_TYPED_INFO "urlmode typed v1"
#define UM_READER_INFO "urlmode reader v1"
#define UM_KEPT_INFO "urlmode kept v1"
#define UM_FRESH_INFO "urlmode fresh v1"
#define UM_CONSOLE_INFO "urlmode console v1"
#define UM_BINDING_LABEL "urlmode binding v1"
#define UM_BROWSER_LABEL "urlmode browser v1"
#define UM_NONCE_LABEL "urlmode nonce v1"
#define UM_REQUEST_LABEL "urlmode request v1"
#define UM_CLIENT_LABEL "urlmode client v1"
#define UM_TENANT_BINDING_LABEL "urlmode binding v2"
#define UM_CONTENT_LABEL "urlmode content v1"

#endif
