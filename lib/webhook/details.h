/* SPDX-License-Identifier: MIT */
/*
 * The details of an event: what only some events say. The database gets them as
 * one JSON object (lib/PROTOCOL.md, "Details of events"), and most events have
 * none.
 */
#ifndef UM_DETAILS_H
#define UM_DETAILS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

#define UM_STATE_MAX 64 /* bytes of what a provider calls a state */
#define UM_ALSO_MAX 200 /* bytes of the other name of a payment */

#define UM_SUBSCRIPTION_ID_MAX 200

/* What a subscription is, and its words for the database. */
#define UM_SUBSCRIPTION_WORDS(X)                                               \
	X(UM_SUBSCRIPTION_TRIALING, "trialing")                                \
	X(UM_SUBSCRIPTION_ACTIVE, "active")                                    \
	X(UM_SUBSCRIPTION_PAST_DUE, "past_due")                                \
	X(UM_SUBSCRIPTION_CANCELLED, "cancelled")                              \
	X(UM_SUBSCRIPTION_PAUSED, "paused")                                    \
	X(UM_SUBSCRIPTION_ENDED, "ended")

enum um_subscription_status {
#define X(name, word) name,
	UM_SUBSCRIPTION_WORDS(X)
#undef X
		UM_SUBSCRIPTION_UNKNOWN, /* the event does not say it */
};

#define UM_SUBSCRIPTION_STATUSES UM_SUBSCRIPTION_UNKNOWN

/* The subscription that an event is about. Zeroed: it is about none. */
struct um_subscription {
	bool is_told;
	char id[UM_SUBSCRIPTION_ID_MAX + 1]; /* or "", of a first payment */
	char account[UM_SUBSCRIPTION_ID_MAX + 1];
	char payment[UM_SUBSCRIPTION_ID_MAX + 1];
	int64_t at_ms;   /* the provider's time of the event, or 0 */
	int64_t late_ms; /* 0: the default */
	enum um_subscription_status status;
	/* Unix milliseconds; 0: there is none, if the event says it. */
	bool says_until, says_trial_until, says_cancel_at, says_paused;
	int64_t until_ms, trial_until_ms, cancel_at_ms;
	bool paused;
};

/* The word of a status, or NULL for UNKNOWN. */
const char *um_subscription_word(enum um_subscription_status status);

/* Zeroed to begin with: the event says none of it. */
struct um_details {
	/* The provider's time of the event, in Unix seconds; 0: not known. */
	int64_t occurred_at;
	/*
	 * Of a refund: "cancellation", "dispute", "dispute_won" or
	 * "dispute_lost", in the description; NULL: it is nothing but a refund.
	 * Of RENEWED: "extra_charge"; NULL: it pays for a period.
	 */
	const char *kind;
	/* Of a refund or dispute: what the provider calls its state, or "". */
	char state[UM_STATE_MAX + 1];
	/* Of a dispute: until when it takes evidence, as above; 0: unknown. */
	int64_t evidence_due_at;
	char also[UM_ALSO_MAX + 1]; /* of NAMED: the other name, or "" */
	bool checkout_paid;         /* of PAID: the whole checkout is paid */
	/* Of PAID: how much of the amount is tax, in its units. */
	bool has_tax;
	int64_t tax;
	struct um_subscription subscription;
};

/* Appends the JSON object, or nothing where there are no details. */
void um_details_put(struct um_buf *out, const struct um_details *details);

#endif
