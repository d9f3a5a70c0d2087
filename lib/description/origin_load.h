/* SPDX-License-Identifier: MIT */
/* Compiles `live` and `account` of a description. */
#ifndef UM_ORIGIN_LOAD_H
#define UM_ORIGIN_LOAD_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"
#include "description/expr_load.h"
#include "description/provider_env.h"
#include "webhook/origin.h"

/*
 * Compiles the members of `node`, which may both be absent, and copies the
 * site's mode and accounts. Free the origin in every case.
 */
bool um_origin_load(struct um_origin *origin, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope,
	const struct um_provider_env *env);

#endif
