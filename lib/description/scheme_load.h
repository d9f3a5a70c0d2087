/* SPDX-License-Identifier: MIT */
/* Compiles a scheme, and says what its signature proves. */
#ifndef UM_SCHEME_LOAD_H
#define UM_SCHEME_LOAD_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"
#include "description/expr_load.h"
#include "webhook/scheme.h"

/* Compiles a scheme, without its keys. Free it in every case. */
bool um_scheme_load(struct um_scheme *scheme, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope);

/*
 * Whether a right signature proves the value of `expr`: everything in it is a
 * constant or is signed, and the signed text cannot be split into other values.
 * Nothing needs to separate a `timestamp` from a JSON body, because neither
 * could continue the other.
 */
bool um_scheme_proves(const struct um_scheme *scheme,
	const struct um_expr *expr, const struct um_payload *payload,
	const struct um_expr *timestamp);

#endif
