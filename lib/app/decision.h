/* SPDX-License-Identifier: MIT */
/* What the result of an approval says. */
#ifndef UM_DECISION_H
#define UM_DECISION_H

#include "app/exchange.h"
#include "form/definition.h"

/*
 * Appends the object: who has decided, the comment if there is one, when, and
 * of a fresh sign-in when and how it was made.
 */
void um_decision_put(struct um_buf *json, const struct um_context *context,
	const struct um_exchange *ex, const struct um_definition *definition,
	struct um_str comment);

/*
 * Of a fresh sign-in, says when and how it was made: in the line of the log, and
 * for the operator in the event that the decision is.
 */
void um_decision_note(struct um_exchange *ex, const struct um_context *context);

#endif
