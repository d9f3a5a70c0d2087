/* SPDX-License-Identifier: MIT */
/* Compiles a scheme, gives it its keys, and says what its signature proves. */
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
 * How many characters of the secret are the prefix of this scheme's keys; -1 if
 * it has another prefix, or the keys are certificates.
 */
int um_scheme_prefix_len(const struct um_scheme *scheme, const char *secret);
/* Whether a secret could be one of both, because they have the same prefix. */
bool um_scheme_has_prefix_of(const struct um_scheme *scheme,
	const struct um_scheme *other);
/* Adds a secret as a key. OK, or why it is refused. */
enum um_verify_error um_scheme_take(struct um_scheme *scheme,
	const char *secret);

/*
 * Whether a right signature proves the value of `expr`: everything in it is a
 * constant or is signed, and the signed text cannot be split into other values.
 * Nothing needs to separate a `timestamp` from a JSON body, because neither
 * could continue the other.
 */
bool um_scheme_proves(const struct um_scheme *scheme,
	const struct um_expr *expr, const struct um_payload *payload,
	const struct um_expr *timestamp);

/* The same for the whole body, byte for byte. */
bool um_scheme_proves_body(const struct um_scheme *scheme,
	const struct um_payload *payload, const struct um_expr *timestamp);

#endif
