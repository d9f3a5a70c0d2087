/* SPDX-License-Identifier: MIT */
/* Conditions over the values of a delivery: `when` in a description. */
#ifndef UM_CONDITION_H
#define UM_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "core/conf.h"
#include "core/strlist.h"
#include "webhook/delivery.h"
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

/* Compiles a list. Free the conditions in every case. */
bool um_conditions_load(struct um_conditions *conditions,
	const struct um_conf_loc *at, const json_t *list,
	const struct um_expr_scope *scope);
void um_conditions_free(struct um_conditions *conditions);

bool um_conditions_hold(const struct um_conditions *conditions,
	struct um_parsed_delivery *parsed);

/* Whether two conditions of one value can both hold. */
bool um_condition_agrees(const struct um_condition *a,
	const struct um_condition *b);

/* Whether all of `a` hold wherever all of `b` do. */
bool um_conditions_follow(const struct um_conditions *a,
	const struct um_conditions *b);

#endif
