/* SPDX-License-Identifier: MIT */
/*
 * Where an event comes from: the provider's live mode or its test mode, and
 * which of its accounts (`live` and `account` of a description). The site's
 * configuration says which mode and accounts count (`mode` and `accounts`).
 */
#ifndef UM_ORIGIN_H
#define UM_ORIGIN_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"
#include "core/strlist.h"
#include "webhook/delivery.h"
#include "webhook/event.h"
#include "webhook/expr.h"
#include "webhook/provider_env.h"

/* Zeroed to begin with: no event says where it comes from. */
struct um_origin {
	struct um_expr live;
	struct um_strlist live_is; /* its values in live mode */
	struct um_expr account;
	bool takes_test; /* the site's mode is "test" */
	struct um_strlist accounts;
};

/*
 * Compiles `live` and `account` of `node`, which may both be absent, and copies
 * the site's mode and accounts. Free it in every case.
 */
bool um_origin_load(struct um_origin *origin, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope,
	const struct um_provider_env *env);
void um_origin_free(struct um_origin *origin);

/*
 * Replaces the effect of an event that is of the other mode or of an account
 * that is not configured. An event that does not say its mode or account counts
 * as one of the site's own. False if what it says is not a text.
 */
bool um_origin_apply(const struct um_origin *origin,
	struct um_parsed_delivery *parsed, enum um_effect *effect);

#endif
