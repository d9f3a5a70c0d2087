/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
#ifndef UM_CONTRACT_LIMITS_H
#define UM_CONTRACT_LIMITS_H

/* Characters of the name of a provider. */
#define UM_PROVIDER_MAX 64
/* Characters of the name of a tenant. */
#define UM_TENANT_MAX 64
/* Bytes of a subject. */
#define UM_SUBJECT_MAX 512
/* Bytes of a session. */
#define UM_SESSION_MAX 512
/* Bytes of a resume key. */
#define UM_RESUME_KEY_MAX 512
/* Bytes of an item, which a payment or signature is for. */
#define UM_ITEM_MAX 512
/* Bytes of the name of an MCP server. */
#define UM_NAME_MAX 200
/* Bytes of the id of an MCP client. */
#define UM_CLIENT_ID_MAX 2048
/* Bytes of a target URL. */
#define UM_TARGET_URL_MAX 8192
/* Characters of a reason. */
#define UM_REASON_MAX 64
/* Bytes of the reference of a payment. */
#define UM_REFERENCE_BYTES_MAX 800
/* Bytes of a sealed result. */
#define UM_RESULT_MAX 65536
/* Bytes of what a call returned, sealed: 16 MiB, its name and the seal. */
#define UM_FULFILLED_MAX 16777280
/* Bytes of a sealed outcome in a notification. Behind a larger one, the row is read. */
#define UM_NOTIFIED_MAX 2600
/* The largest whole number that numbers of JSON hold exactly everywhere (2^53 - 1), and so the largest amount. */
#define UM_SAFE_INTEGER 9007199254740991
/* Subjects who may decide. */
#define UM_APPROVERS_MAX 16
/* Bytes as JSON of what is wrong with a typed value. */
#define UM_PROBLEM_MAX 8192
/* Bytes of a link in a form. */
#define UM_LINK_MAX 2048
/* Digits of a number in a form: a double holds them. */
#define UM_DIGITS_MAX 15
/* Characters of the name of a field of a form. */
#define UM_FIELD_NAME_MAX 32
/* Bytes of a secret in a keys file, at least. */
#define UM_SECRET_MIN 32
/* Bytes of a secret in a keys file, at most. */
#define UM_SECRET_MAX 256
/* Bytes of a delivery to a webhook. */
#define UM_DELIVERY_BODY_MAX 4194304
/* How long a link can be opened. */
#define UM_TTL_MS 300000
/* The longest time that a link can be opened, and the longest wait: a year. */
#define UM_TTL_MAX_MS 31536000000
/* The longest grace of a description: so long after the expiry, the user and the provider may come back. */
#define UM_GRACE_MAX_S 31536000
/* How often `create` looks again, because another call has claimed the elicitation that it found. */
#define UM_RESUME_ATTEMPTS 3
/* The first pause while another call creates for the same owner. */
#define UM_BUSY_MIN_MS 2
/* The longest of these pauses. */
#define UM_BUSY_MAX_MS 100
/* How long a commit may be unanswered, before its connection is closed and the other hosts are asked which of them leads. It is never cancelled: PostgreSQL would commit what waits for a standby without it. */
#define UM_COMMIT_UNANSWERED_MS 10000
/* After how much silence TCP asks the other end of a connection whether it is alive, and how long it waits before it asks again. */
#define UM_KEEPALIVE_S 5
/* The shortest lease of a claim. */
#define UM_CLAIM_LEASE_MIN_MS 1000
/* The longest lease of a claim. */
#define UM_CLAIM_LEASE_MAX_MS 3600000
/* How long a renewal that failed waits for the next one, and how often a call looks that waits for another one. */
#define UM_CLAIM_RETRY_MS 500
/* Characters of the name of a consumer of the ledger. */
#define UM_CONSUMER_MAX 64
/* How long the lease lasts with which an instance reads the ledger for a consumer. It is renewed as often as that of a claim. */
#define UM_LEDGER_LEASE_MS 30000
/* Entries of the ledger that one statement reads. */
#define UM_LEDGER_PAGE_MAX 100
/* How long nobody else begins a recheck. A function that takes longer has failed. */
#define UM_RECHECK_LEASE_MS 60000
/* The longest that this can be. */
#define UM_RECHECK_AFTER_MAX_MS 86400000
/* How many payments, and how many refunds, a recheck can tell of. */
#define UM_ENTRIES_MAX 100
/* The shortest time for the check of a value. */
#define UM_VERIFY_MIN_MS 1000
/* The longest time for the check of a value. */
#define UM_VERIFY_MAX_MS 120000
/* How long a result is kept after it was read. */
#define UM_KEEP_RESULTS_MS 600000
/* How long the result of an unclaimed payment is kept. */
#define UM_KEEP_UNCLAIMED_MS 2592000000
/* How long rows are kept that are over. */
#define UM_RETENTION_MS 7776000000
/* How often an instance purges the results that are due. */
#define UM_PURGE_RESULTS_EVERY_MS 60000
/* How often an instance purges the rows that are over. */
#define UM_PURGE_ROWS_EVERY_MS 3600000
/* How long rows are collected before one statement marks them as read. */
#define UM_MARK_DELAY_MS 100

#endif
