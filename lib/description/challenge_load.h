/* SPDX-License-Identifier: MIT */
/* Compiles the `challenge` of a description. */
#ifndef UM_CHALLENGE_LOAD_H
#define UM_CHALLENGE_LOAD_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"
#include "description/expr_load.h"
#include "webhook/challenge.h"

/* `node` may be NULL: there is none. Free the challenge in every case. */
bool um_challenge_load(struct um_challenge *challenge,
	const struct um_conf_loc *at, json_t *node,
	const struct um_expr_scope *scope);

#endif
