/* SPDX-License-Identifier: MIT */
/*
 * Where an event comes from: the provider's live mode or its test mode, and
 * which of its accounts (`live` and `account` of a description). The site's
 * configuration says which mode and accounts count (`mode` and `accounts`).
 */
#ifndef UM_ORIGIN_H
#define UM_ORIGIN_H

#include <stdbool.h>

#include "core/strlist.h"
#include "webhook/event.h"
#include "webhook/expr.h"

/* Zeroed to begin with: no event says where it comes from. */
struct um_origin {
	struct um_expr live;
	struct um_strlist live_is; /* its values in live mode */
	struct um_expr account;
	bool takes_test; /* the site's mode is "test" */
	struct um_strlist accounts;
};

void um_origin_free(struct um_origin *origin);

/*
 * Replaces the effect of an event that is of the other mode or of an account
 * that is not configured. An event that does not name its mode or account is
 * treated as one of the site. Returns NULL, or the key whose value is not a text.
 */
const char *um_origin_apply(const struct um_origin *origin,
	const struct um_source *source, enum um_effect *effect);

#endif
