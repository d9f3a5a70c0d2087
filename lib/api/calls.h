/* SPDX-License-Identifier: MIT */
/* The functions of the database that the methods call. */
#ifndef UM_API_CALLS_H
#define UM_API_CALLS_H

#include "postgres/call.h"

extern const struct um_call um_call_abandon;
extern const struct um_call um_call_answer_recheck;
extern const struct um_call um_call_begin_lease;
extern const struct um_call um_call_begin_recheck;
extern const struct um_call um_call_claim;
extern const struct um_call um_call_confirm_claim;
extern const struct um_call um_call_create;
extern const struct um_call um_call_end_check;
extern const struct um_call um_call_end_exchange;
extern const struct um_call um_call_end_recheck;
extern const struct um_call um_call_expire;
extern const struct um_call um_call_find_created;
extern const struct um_call um_call_fulfil_lease;
extern const struct um_call um_call_mark_read;
extern const struct um_call um_call_page_of_entitlements;
extern const struct um_call um_call_page_of_refunds;
extern const struct um_call um_call_page_of_unclaimed;
extern const struct um_call um_call_paid;
extern const struct um_call um_call_purge;
extern const struct um_call um_call_purge_results;
extern const struct um_call um_call_read_waiting;
extern const struct um_call um_call_release_claim;
extern const struct um_call um_call_renew_lease;
extern const struct um_call um_call_resume_for;
extern const struct um_call um_call_settle;
extern const struct um_call um_call_take_check;

/* All of them; NULL ends the list. */
extern const struct um_call *const um_api_calls[];

#endif
