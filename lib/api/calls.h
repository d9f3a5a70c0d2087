/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* The functions of the database that the methods call, and the places of their columns. */
#ifndef UM_API_CALLS_H
#define UM_API_CALLS_H

#include "postgres/call.h"

/* All of them; NULL ends the list. */
extern const struct um_call *const um_api_calls[];

extern const struct um_call um_call_abandon;

extern const struct um_call um_call_answer_recheck;

extern const struct um_call um_call_begin_ask;

extern const struct um_call um_call_begin_lease;
enum um_begin_lease_column {
	UM_BEGIN_LEASE_OUTCOME,
	UM_BEGIN_LEASE_CLAIMED_REFERENCE,
	UM_BEGIN_LEASE_FENCE,
	UM_BEGIN_LEASE_LEASED_MS,
};

extern const struct um_call um_call_begin_lease_fulfilled;
enum um_begin_lease_fulfilled_column {
	UM_BEGIN_LEASE_FULFILLED_OUTCOME,
	UM_BEGIN_LEASE_FULFILLED_CLAIMED_REFERENCE,
	UM_BEGIN_LEASE_FULFILLED_FENCE,
	UM_BEGIN_LEASE_FULFILLED_LEASED_MS,
	UM_BEGIN_LEASE_FULFILLED_FULFILLED,
};

extern const struct um_call um_call_begin_recheck;
enum um_begin_recheck_column {
	UM_BEGIN_RECHECK_LEASE,
	UM_BEGIN_RECHECK_RECHECKS,
	UM_BEGIN_RECHECK_EVENT_TYPE,
	UM_BEGIN_RECHECK_UNPROVEN_REFERENCES,
	UM_BEGIN_RECHECK_PROVIDER,
	UM_BEGIN_RECHECK_EXPECTED,
	UM_BEGIN_RECHECK_CHECKOUT,
};

extern const struct um_call um_call_claim_outcome;
enum um_claim_outcome_column {
	UM_CLAIM_OUTCOME_OUTCOME,
	UM_CLAIM_OUTCOME_CLAIMED_REFERENCE,
	UM_CLAIM_OUTCOME_LEASED_MS,
};

extern const struct um_call um_call_confirm_claim;

extern const struct um_call um_call_continue_lease;
enum um_continue_lease_column {
	UM_CONTINUE_LEASE_OUTCOME,
	UM_CONTINUE_LEASE_CLAIMED_REFERENCE,
	UM_CONTINUE_LEASE_NEXT_FENCE,
};

extern const struct um_call um_call_create_elicitation;
enum um_create_elicitation_column {
	UM_CREATE_ELICITATION_EXPIRES_AT,
	UM_CREATE_ELICITATION_OUTCOME,
};

extern const struct um_call um_call_end_ask;

extern const struct um_call um_call_end_check;

extern const struct um_call um_call_end_exchange;

extern const struct um_call um_call_end_recheck;

extern const struct um_call um_call_expire;

extern const struct um_call um_call_find_created;
enum um_find_created_column {
	UM_FIND_CREATED_CONTENT,
	UM_FIND_CREATED_EXPIRES_AT,
	UM_FIND_CREATED_LINK_KID,
};

extern const struct um_call um_call_fulfil_lease;

extern const struct um_call um_call_mark_shown;

extern const struct um_call um_call_page_of_entitlements_since;
enum um_page_of_entitlements_since_column {
	UM_PAGE_OF_ENTITLEMENTS_SINCE_ITEM,
	UM_PAGE_OF_ENTITLEMENTS_SINCE_CURSOR,
};

extern const struct um_call um_call_page_of_ledger_since;
enum um_page_of_ledger_since_column {
	UM_PAGE_OF_LEDGER_SINCE_OUTCOME,
	UM_PAGE_OF_LEDGER_SINCE_WAIT_MS,
	UM_PAGE_OF_LEDGER_SINCE_ITEM,
	UM_PAGE_OF_LEDGER_SINCE_CURSOR,
};

extern const struct um_call um_call_page_of_paid;
enum um_page_of_paid_column {
	UM_PAGE_OF_PAID_PAID,
	UM_PAGE_OF_PAID_ITEM,
	UM_PAGE_OF_PAID_CURSOR,
};

extern const struct um_call um_call_page_of_refunds;
enum um_page_of_refunds_column {
	UM_PAGE_OF_REFUNDS_ITEM,
	UM_PAGE_OF_REFUNDS_CURSOR,
};

extern const struct um_call um_call_page_of_unclaimed;
enum um_page_of_unclaimed_column {
	UM_PAGE_OF_UNCLAIMED_ITEM,
	UM_PAGE_OF_UNCLAIMED_CURSOR,
};

extern const struct um_call um_call_purge;

extern const struct um_call um_call_purge_results;

extern const struct um_call um_call_read_waiting;
enum um_read_waiting_column {
	UM_READ_WAITING_ID,
	UM_READ_WAITING_PROVIDER,
	UM_READ_WAITING_KIND,
	UM_READ_WAITING_STATUS,
	UM_READ_WAITING_ACTION,
	UM_READ_WAITING_REASON,
	UM_READ_WAITING_LATE,
	UM_READ_WAITING_RESULT,
	UM_READ_WAITING_VERIFIER,
	UM_READ_WAITING_CLOSES_IN_MS,
	UM_READ_WAITING_FAILED_ATTEMPTS,
	UM_READ_WAITING_AWAITS_RECHECK,
	UM_READ_WAITING_RECHECK_IN_MS,
	UM_READ_WAITING_PAYMENT_REFERENCE,
	UM_READ_WAITING_AMOUNT,
	UM_READ_WAITING_CURRENCY,
	UM_READ_WAITING_EXPIRES_AT,
};

extern const struct um_call um_call_release_claim;

extern const struct um_call um_call_renew_lease;

extern const struct um_call um_call_resume_for;
enum um_resume_for_column {
	UM_RESUME_FOR_ID,
	UM_RESUME_FOR_STATUS,
	UM_RESUME_FOR_EXPIRES_AT,
	UM_RESUME_FOR_LINK_KID,
};

extern const struct um_call um_call_settle;

extern const struct um_call um_call_take_check;
enum um_take_check_column {
	UM_TAKE_CHECK_LEASE,
	UM_TAKE_CHECK_RESULT,
	UM_TAKE_CHECK_LEFT_MS,
};

#endif
