/* SPDX-License-Identifier: MIT */
/*
 * A part of a description, compiled: how one kind of delivery is verified and
 * what it means. One part is for the webhook, and perhaps one for the browser's
 * return.
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
#include "webhook/challenge.h"
#include "webhook/condition.h"
#include "webhook/delivery.h"
#include "webhook/event.h"
#include "webhook/expr.h"
#include "webhook/origin.h"
#include "webhook/provider_env.h"
#include "webhook/scheme.h"

#define UM_SCHEMES_MAX 4
#define UM_RULES_MAX 64
#define UM_TOLERANCE_MAX 604800 /* seconds: a week */

/* How much a right signature proves (`believed`). */
enum um_trust {
	UM_TRUST_BODY,   /* the whole body is signed */
	UM_TRUST_FIELDS, /* every value that decides is signed */
	UM_TRUST_PART,   /* only values that do not decide are signed */
	UM_TRUST_TOKEN,  /* the sender knows a secret */
	UM_TRUST_NOTHING,
};

/* Applies to these types (none: any) if all conditions hold. */
struct um_outcome_rule {
	struct um_strlist types;
	struct um_conditions when;
	enum um_effect effect;
	bool has_amount; /* in place of the part's; it may be none */
	struct um_expr amount;
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
	bool of_items; /* each event is signed by itself */

	struct um_origin origin;
	struct um_expr identity, type, elicitation, amount, currency, reference;
	enum um_amount_form amount_form;
	bool uses_json;
	struct um_outcome_rule *rules;
	size_t rules_len;
	struct um_challenge challenge;
};

/*
 * Compiles a part from the members of `node`, and gives it its keys. The caller
 * has checked that there are no unknown members. Free it in every case.
 */
bool um_spec_part_load(struct um_spec_part *part, const struct um_conf_loc *at,
	json_t *node, const struct um_provider_env *env, bool is_return);
void um_spec_part_free(struct um_spec_part *part);

/* A step of that: compiles `outcomes`. */
bool um_spec_part_load_outcomes(struct um_spec_part *part,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope);

/* A step of that: gives the schemes their keys. */
bool um_spec_part_take_keys(struct um_spec_part *part,
	const struct um_conf_loc *at, const struct um_provider_env *env,
	bool is_return);

/*
 * A step of that: refuses a part whose `believed` claims more than each of its
 * schemes proves.
 */
bool um_spec_part_check_trust(struct um_spec_part *part,
	const struct um_conf_loc *at);

/* As um_spec_read(), for at most `max` events. */
enum um_verdict um_spec_part_read(const struct um_spec_part *part,
	const struct um_delivery *delivery, struct um_event *events, size_t max,
	size_t *len);

/*
 * The number of the first outcome that applies to an event of this type, or
 * rules_len.
 */
size_t um_spec_part_find_outcome(const struct um_spec_part *part,
	struct um_parsed_delivery *parsed, const char *type);

/* The amount of an event to which the outcome with this number applies. */
const struct um_expr *um_spec_part_amount(const struct um_spec_part *part,
	size_t number);

struct um_spec;

/* The part of a description for its webhook. */
const struct um_spec_part *um_spec_webhook(const struct um_spec *spec);

/* As um_spec_challenge(). */
enum um_verdict um_spec_part_challenge(const struct um_spec_part *part,
	const struct um_delivery *delivery);

#endif
