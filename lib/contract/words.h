/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
#ifndef UM_CONTRACT_WORDS_H
#define UM_CONTRACT_WORDS_H

/* what the user does in the browser */
#define UM_KIND_WORDS "oauth", "payment", "signature", "input", "approval"

/* one of the three actions of the protocol */
#define UM_ACTION_WORDS "accept", "decline", "cancel"

/* an action without an outcome */
#define UM_END_ACTION_WORDS "decline", "cancel"

/* the status of a payment or refund at its provider */
#define UM_ENTRY_STATUS_WORDS "paid", "processing", "failed", "cancelled"

/* how the claim of a payment ends that `unclaimed` lists */
#define UM_CLAIM_END_WORDS "delivered", "refunded"

/* how the amount that is paid must match */
#define UM_MATCH_WORDS "exact", "at-least", "checkout"

#endif
