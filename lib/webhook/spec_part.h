/* SPDX-License-Identifier: MIT */
/*
 * How one kind of delivery is verified and what it means: a description is
 * one for the webhook, and perhaps one for the browser's return.
 */
#ifndef UM_SPEC_PART_H
#define UM_SPEC_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/conf.h"
#include "core/strlist.h"
#include "core/timestamp.h"
#include "webhook/amount.h"
#include "webhook/delivery.h"
#include "webhook/event.h"
#include "webhook/expr.h"
#include "webhook/provider_env.h"
#include "webhook/scheme.h"

#define UM_SCHEMES_MAX 4
#define UM_RULES_MAX 64
#define UM_CONDITIONS_MAX 8
#define UM_TOLERANCE_MAX 604800 /* seconds: a week */

/* How far a delivery that was let in is believed. */
enum um_trust {
	UM_TRUST_BODY,   /* the whole body is signed */
	UM_TRUST_FIELDS, /* everything that decides is signed */
	UM_TRUST_PART,   /* something is signed, and it does not decide */
	UM_TRUST_TOKEN,  /* the sender knows a secret */
	UM_TRUST_NOTHING,
};

struct um_condition {
	struct um_expr from;
	struct um_strlist is; /* one of these; or, where there are none: */
	bool present;         /* it is there, or it is not */
};

/* Of these types (none: any), where every condition holds. */
struct um_outcome_rule {
	struct um_strlist types;
	struct um_condition condition[UM_CONDITIONS_MAX];
	size_t conditions_len;
	enum um_effect effect;
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

	bool has_events;
	struct um_pointer events;
	bool of_items; /* each event is verified by itself */

	struct um_expr identity, type, elicitation, amount, currency, reference;
	enum um_amount_form amount_form;
	bool uses_json;
	struct um_outcome_rule *rules;
	size_t rules_len;
};

/*
 * Compiles the members of `node` that make up a reader, and gives it the
 * keys. The caller has looked that no other members are there. Free it in
 * every case.
 */
bool um_spec_part_load(struct um_spec_part *part, const struct um_conf_loc *at,
	json_t *node, const struct um_provider_env *env, bool is_return);
void um_spec_part_free(struct um_spec_part *part);

/*
 * Steps of that. Whether what the description claims to be proven is proven
 * by each of its schemes, whatever was delivered.
 */
bool um_spec_part_prove(const struct um_spec_part *part,
	const struct um_conf_loc *at);

/* As um_spec_read(); `max` events. */
enum um_verdict um_spec_part_read(const struct um_spec_part *part,
	const struct um_delivery *delivery, struct um_event *events, size_t max,
	size_t *len);

#endif
