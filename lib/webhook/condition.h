/* SPDX-License-Identifier: MIT */
/* Conditions over the values of a delivery: `when` in a description. */
#ifndef UM_CONDITION_H
#define UM_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/strlist.h"
#include "webhook/expr.h"

#define UM_CONDITIONS_MAX 8

/* All of them must hold; none always do. Zeroed to begin with. */
struct um_conditions {
	size_t len;
	struct um_condition {
		struct um_expr from;
		/* The value is one of these; if there are none: */
		struct um_strlist is;
		bool present; /* the value is there, or it is not */
	} condition[UM_CONDITIONS_MAX];
};

void um_conditions_free(struct um_conditions *conditions);

enum um_holding {
	UM_HOLDS,
	UM_HOLDS_NOT,
	UM_HOLDS_UNKNOWN, /* the value of one cannot be read */
};

/*
 * UNKNOWN only where the conditions before that one hold. Its value is then
 * *unread, which the caller frees in every case.
 */
enum um_holding um_conditions_hold(const struct um_conditions *conditions,
	const struct um_source *source, struct um_value *unread);

#endif
