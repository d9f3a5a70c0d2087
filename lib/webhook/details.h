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

/* Zeroed to begin with: the event says none of it. */
struct um_details {
	/* The provider's time of the event, in Unix seconds; 0: not known. */
	int64_t occurred_at;
	/*
	 * Of a refund: "cancellation", "dispute", "dispute_won" or
	 * "dispute_lost", in the description; NULL: it is nothing but a refund.
	 */
	const char *kind;
	/* Of a refund or dispute: what the provider calls its state, or "". */
	char state[UM_STATE_MAX + 1];
	/* Of a dispute: until when it takes evidence, as above; 0: unknown. */
	int64_t evidence_due_at;
	bool checkout_paid; /* of PAID: the whole checkout is paid */
};

/* Appends the JSON object, or nothing where there are no details. */
void um_details_put(struct um_buf *out, const struct um_details *details);

#endif
