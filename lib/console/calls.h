/* SPDX-License-Identifier: MIT */
/*
 * What the console asks the database: one statement a page, whose row has a JSON text
 * in each column, so that a page is of one moment. Each is bounded by the functions,
 * and by the session's statement_timeout.
 */
#ifndef UM_CONSOLE_CALLS_H
#define UM_CONSOLE_CALLS_H

#include "postgres/call.h"

/* waiting, ended by hour, ended by day, counted until, checks */
extern const struct um_call um_console_overview_call;
/* what was found: of a text */
extern const struct um_call um_console_search_call;
/* elicitation, payments, subscriptions, timeline: of an id */
extern const struct um_call um_console_elicitation_call;
/* rows: of what, provider, tenant, since, until, after, most */
extern const struct um_call um_console_list_call;
/* names; provider, ended by day, events, refusals: of a name, or NULL */
extern const struct um_call um_console_provider_call;
/* a payment with its state: of an elicitation, a provider and a reference */
extern const struct um_call um_console_payment_call;
/* outcome as text: of provider, reference, decision, refund, user, note, state */
extern const struct um_call um_console_decide_call;

/* All of them; NULL ends the list. */
extern const struct um_call *const um_console_calls[];

#define UM_CONSOLE_FOUND_MAX 25  /* rows of a search */
#define UM_CONSOLE_EVENTS_MAX 80 /* of a timeline */

#endif
