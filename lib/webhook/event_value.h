/* SPDX-License-Identifier: MIT */
/* The values of an event, fit for rows and logs, and why one is not. */
#ifndef UM_EVENT_VALUE_H
#define UM_EVENT_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "webhook/expr.h"
#include "webhook/spec_part.h"

/* Why an event is not readable, without a value. */
struct um_misread {
	const char *place;           /* a key of the description */
	const struct um_pointer *at; /* where in the JSON, or NULL */
	const char *reason;
	bool is_unreadable; /* and not readable, but no fit text */
};

/* Always false. */
bool um_event_refuse(struct um_misread *misread, const char *place,
	const struct um_pointer *at, const char *reason);

/*
 * A value of the delivery, which the caller frees. *unfit says why it may not go
 * into rows and logs, or is NULL: it must be shorter than `size`, and have no
 * control character.
 */
enum um_found um_event_value(struct um_value *value, const struct um_expr *expr,
	const struct um_source *source, size_t size, const char **unfit);

/* Why a value that is BAD is not readable. */
const char *um_event_reason(const struct um_value *value);

/*
 * A value as a C string, "" where it is absent. BAD where it is not fit for rows
 * and logs.
 */
enum um_found um_event_text(const struct um_expr *expr,
	const struct um_source *source, char *out, size_t size,
	const char *place, struct um_misread *misread);

/* The same, but a value that is readable and not fit is left out. */
bool um_event_fit(const struct um_expr *expr, const struct um_source *source,
	char *out, size_t size, const char *place, struct um_misread *misread);

#endif
