/* SPDX-License-Identifier: MIT */
/* What only some events say, beside what each is judged by (webhook/event_read.h). */
#ifndef UM_EVENT_DETAILS_H
#define UM_EVENT_DETAILS_H

#include <stdbool.h>
#include <stddef.h>

#include "webhook/event.h"
#include "webhook/event_value.h"
#include "webhook/spec_part.h"

/* It decides nothing, so what cannot be read as a tax is left out. */
void um_event_read_tax(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source);

/*
 * Of what went back: when, what it is, and how it stands. Of a payment with two
 * names, the other one. `outcome` is the number of the outcome that applies.
 */
bool um_event_read_details(struct um_event *event,
	const struct um_spec_part *part, const struct um_source *source,
	size_t outcome, struct um_misread *misread);

/* Which subscription it is of, if it is a payment or an event of one. */
bool um_event_read_subscription(struct um_event *event,
	const struct um_spec_part *part, const struct um_source *source,
	struct um_misread *misread);

#endif
