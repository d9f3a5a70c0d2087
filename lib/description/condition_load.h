/* SPDX-License-Identifier: MIT */
/* Compiles conditions, and compares them with each other. */
#ifndef UM_CONDITION_LOAD_H
#define UM_CONDITION_LOAD_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"
#include "description/expr_load.h"
#include "webhook/condition.h"

/* Compiles a list. Free the conditions in every case. */
bool um_conditions_load(struct um_conditions *conditions,
	const struct um_conf_loc *at, const json_t *list,
	const struct um_expr_scope *scope);

/* Whether two conditions of one value can both hold. */
bool um_condition_agrees(const struct um_condition *a,
	const struct um_condition *b);

/* Whether all of `a` hold wherever all of `b` do. */
bool um_conditions_follow(const struct um_conditions *a,
	const struct um_conditions *b);

#endif
