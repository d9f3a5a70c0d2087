/* SPDX-License-Identifier: MIT */
/* Reads one event of a delivery that is verified. */
#ifndef UM_EVENT_READ_H
#define UM_EVENT_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "webhook/event.h"
#include "webhook/event_value.h"
#include "webhook/spec_part.h"

/*
 * Reads the event with this number, from 0. `is_ambiguous`: its signature could
 * also be one of other values. False where something that decides is not
 * readable. Of an event of the other mode, or of an account that is not
 * configured, nothing else decides; of one that is ignored, or not about an
 * elicitation of ours, nothing but its type and its outcome does.
 */
bool um_event_read(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source, size_t number, bool is_ambiguous,
	struct um_misread *misread);

/*
 * Makes *outcome the number of the first outcome that applies to an event of
 * this type, or rules_len. False where one cannot be judged.
 */
bool um_event_outcome(size_t *outcome, const struct um_spec_part *part,
	const struct um_source *source, const char *type,
	struct um_misread *misread);

/* What an event says to which the outcome with this number applies. */
const struct um_expr *um_event_amount(const struct um_spec_part *part,
	size_t outcome);
const struct um_expr *um_event_checkout(const struct um_spec_part *part,
	size_t outcome);

#endif
