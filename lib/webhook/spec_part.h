/* SPDX-License-Identifier: MIT */
/*
 * A part of a description, compiled: how one kind of delivery is verified, and
 * what its events are.
 */
#ifndef UM_SPEC_PART_H
#define UM_SPEC_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/strlist.h"
#include "core/timestamp.h"
#include "webhook/amount.h"
#include "webhook/challenge.h"
#include "webhook/condition.h"
#include "webhook/delivery.h"
#include "webhook/event.h"
#include "webhook/expr.h"
#include "webhook/scheme.h"
#include "webhook/subscription.h"

#define UM_SCHEMES_MAX 4
#define UM_RULES_MAX 64

/* How much a right signature proves (`trust`). */
enum um_trust {
	UM_TRUST_BODY,   /* the whole body is signed */
	UM_TRUST_FIELDS, /* every value that decides is signed */
	UM_TRUST_PART,   /* only values that do not decide are signed */
	UM_TRUST_TOKEN,  /* the sender knows a secret */
	UM_TRUST_NOTHING,
};

/*
 * Where an event comes from: the provider's live mode or its test mode, and
 * which of its accounts (`live` and `account` of a description). The site's
 * configuration says which mode and accounts count (`mode` and `accounts`).
 */
struct um_origin {
	struct um_expr live;
	struct um_strlist live_is; /* its values in live mode */
	struct um_expr account;
	bool takes_test; /* the site's mode is "test" */
	struct um_strlist accounts;
};

/* A time that an event says. */
struct um_time {
	struct um_expr from; /* may be none */
	enum um_timestamp_form form;
};

/* Applies to these types (none: any) if all conditions hold. */
struct um_outcome_rule {
	struct um_strlist types;
	struct um_conditions when;
	enum um_effect effect;
	bool checkout_paid; /* its events say that the whole checkout is paid */
	/* In place of the part's; they may be none. */
	bool has_amount, has_reference, has_checkout;
	struct um_expr amount, reference, checkout;
	struct um_expr refund; /* of a refund with a reference of its own */
	const char *kind;      /* of a refund: as in um_details */
	struct um_expr state;
	struct um_time evidence_due;
	struct um_expr also; /* of NAMED */
};

/* Zeroed to begin with. */
struct um_spec_part {
	struct um_payload payload;

	struct um_scheme schemes[UM_SCHEMES_MAX];
	size_t schemes_len;
	struct um_expr timestamp;
	enum um_timestamp_form timestamp_form;
	int64_t past_ms, future_ms;
	enum um_trust trust;

	bool of_items; /* each event is signed by itself */
	/* The token in the webhook's address names the elicitation. */
	bool by_address;
	/* Of a provider of another kind than payment: for its author. */
	bool takes_no_payments;

	/*
	 * What is parsed before the signature is verified, and what after it
	 * (enum um_need). Where each event is signed by itself, all is before.
	 */
	unsigned signature_needs, event_needs;
	unsigned challenge_needs; /* of a GET, which nothing signs */

	struct um_origin origin;
	struct um_expr identity, type, elicitation, amount, currency, reference,
		checkout, tax;
	struct um_time time; /* of the event; of a refund it is told */
	struct um_amount_units amount_units;
	struct um_subscription_spec subscription;
	bool uses_json;
	size_t events_max; /* in one delivery */
	struct um_outcome_rule *rules;
	size_t rules_len;
	struct um_challenge challenge;
};

void um_spec_part_free(struct um_spec_part *part);

#endif
