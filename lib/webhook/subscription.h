/* SPDX-License-Identifier: MIT */
/*
 * What an event says of a subscription (`subscription` of a description): the
 * first payment and the renewals name it, and events of its own say what it is.
 */
#ifndef UM_SUBSCRIPTION_H
#define UM_SUBSCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/strlist.h"
#include "core/timestamp.h"
#include "webhook/condition.h"
#include "webhook/details.h"
#include "webhook/expr.h"

/* A time of the delivery, which counts if the conditions hold. */
struct um_subscription_time {
	struct um_expr from;
	enum um_timestamp_form form;
	struct um_conditions when;
};

/* Compiled. Zeroed to begin with: the description has none. */
struct um_subscription_spec {
	bool given;
	struct um_expr id; /* in payments */
	struct um_expr account;
	struct um_expr payment; /* the reference of the first payment */
	struct um_subscription_time at;
	int64_t late_ms; /* 0: the database's default */
	/* In events of its own. */
	struct um_expr own_id, status;
	struct um_strlist words[UM_SUBSCRIPTION_STATUSES];
	struct um_subscription_time until, trial_until, cancel_at;
	struct um_conditions paused; /* any of them */
};

void um_subscription_spec_free(struct um_subscription_spec *spec);

/* Why a subscription cannot be read: a key of the description, and the place. */
struct um_subscription_misread {
	const char *place;
	const struct um_pointer *at;
	const char *reason;
};

/*
 * Reads what an event says. `is_own`: it is one of the subscription itself;
 * otherwise one of a payment, and *out stays as it is where it names none. False
 * where a value that decides cannot be read.
 */
bool um_subscription_read(struct um_subscription *out,
	const struct um_subscription_spec *spec, const struct um_source *source,
	bool is_own, struct um_subscription_misread *misread);

#endif
