/* SPDX-License-Identifier: MIT */
/* Compiles `amount` and `currency` of a description. */
#ifndef UM_AMOUNT_LOAD_H
#define UM_AMOUNT_LOAD_H

#include <stdbool.h>

#include "core/conf.h"
#include "description/expr_load.h"
#include "webhook/spec_part.h"

/* `at` and `node` are the part. Both are optional, but only together. */
bool um_amount_load(struct um_spec_part *part, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope);

#endif
