/* SPDX-License-Identifier: MIT */
/* Compiles a part of a description, and gives it its keys. */
#include <stdlib.h>
#include <string.h>

#include "description/part_load.h"
#include "description/scheme_load.h"

/* A value of the delivery, which is optional. */
static bool
load_optional(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *node, const char *key, const struct um_expr_scope *scope)
{
	return json_object_get(node, key) == NULL
		|| um_expr_load_found(expr, at, node, key, scope);
}

/* A value of the delivery, or the token in its address. */
static bool
load_elicitation(struct um_spec_part *part, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope, bool is_return)
{
	const char *text = json_string_value(
		json_object_get(node, "elicitation"));

	part->by_address = !is_return && text != NULL
		&& strcmp(text, "webhookUrl") == 0;
	return part->by_address
		|| load_optional(&part->elicitation, at, node, "elicitation",
			scope);
}

static bool
load_payload(struct um_spec_part *part, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope)
{
	struct um_expr from = { 0 };
	bool ok;

	if (json_object_get(node, "payload") == NULL)
		return true;
	ok = um_expr_load(&from, at, node, "payload", scope);
	if (ok && from.kind == UM_EXPR_FORM)
		part->payload.part = UM_PAYLOAD_FORM;
	else if (ok && from.kind == UM_EXPR_MULTIPART)
		part->payload.part = UM_PAYLOAD_MULTIPART;
	else if (ok && from.kind != UM_EXPR_BODY)
		ok = um_conf_member_error(at, "payload",
			"is not a body, form or multipart value");
	if (ok) {
		part->payload.field = from.text;
		from.text = NULL;
	}
	um_expr_free(&from);
	return ok;
}

static bool
load_schemes(struct um_spec_part *part, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope)
{
	struct um_conf_loc list = um_conf_member(at, "verify");
	json_t *schemes = json_object_get(node, "verify");
	size_t len = json_array_size(schemes);
	bool ok = true;

	if (!json_is_array(schemes) || len > UM_SCHEMES_MAX)
		return um_conf_error(&list,
			"is not a list of at most %d schemes", UM_SCHEMES_MAX);
	for (size_t i = 0; i < len; i++) {
		struct um_conf_loc here = um_conf_element(&list, i);
		struct um_scheme *scheme = &part->schemes[i];

		part->schemes_len++;
		ok = um_scheme_load(scheme, &here, json_array_get(schemes, i),
			     scope)
			&& ok;
		part->of_items |= scheme->of_items;
	}
	return ok;
}

static bool
load_timestamp(struct um_spec_part *part, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope,
	bool knows_schemes)
{
	static const char *const keys[] = { "from", "as", "past", "future",
		NULL };
	/* In the order of enum um_timestamp_form. */
	static const char *const forms[] = { "unix", "unix_ms", "rfc3339",
		NULL };
	struct um_conf_loc here = um_conf_member(at, "timestamp");
	struct um_expr_scope inner = *scope;
	json_t *timestamp = json_object_get(node, "timestamp");
	bool signs = false;
	long long past, future;
	unsigned form;

	if (timestamp == NULL)
		return true;
	/* The age of what has only a token is not checked beside signatures. */
	for (size_t i = 0; i < part->schemes_len; i++)
		signs |= !part->schemes[i].is_token;
	inner.has_params = signs;
	inner.has_claims = signs;
	for (size_t i = 0; i < part->schemes_len; i++) {
		if (part->schemes[i].is_token)
			continue;
		inner.has_params &= part->schemes[i].fields.len != 0;
		inner.has_claims &= part->schemes[i].is_jwt;
	}
	/* Nothing follows from a scheme that is wrong itself. */
	inner.has_params |= !knows_schemes;
	inner.has_claims |= !knows_schemes;
	if (!um_conf_check_keys(&here, timestamp, keys)
		|| !um_expr_load(&part->timestamp, &here, timestamp, "from",
			&inner)
		|| !um_conf_get_choice(&here, timestamp, "as", forms, &form)
		|| !um_conf_get_integer(&here, timestamp, "past", 1,
			UM_TOLERANCE_MAX, &past)
		|| !um_conf_get_integer(&here, timestamp, "future", 1,
			UM_TOLERANCE_MAX, &future))
		return false;
	part->timestamp_form = (enum um_timestamp_form)form;
	part->past_ms = past * 1000;
	part->future_ms = future * 1000;
	return true;
}

static bool
load_events(struct um_spec_part *part, const struct um_conf_loc *at,
	const json_t *node)
{
	part->payload.has_events = json_object_get(node, "events") != NULL;
	return !part->payload.has_events
		|| um_expr_load_pointer(&part->payload.events, at, node,
			"events");
}

/* JSON in a form needs the form. */
static unsigned
with_payload(const struct um_spec_part *part, unsigned needs)
{
	if ((needs & UM_NEED_JSON) == 0)
		return needs;
	if (part->payload.part == UM_PAYLOAD_FORM)
		needs |= UM_NEED_FORM;
	if (part->payload.part == UM_PAYLOAD_MULTIPART)
		needs |= UM_NEED_MULTIPART;
	return needs;
}

static unsigned
needs_of_schemes(const struct um_spec_part *part)
{
	unsigned needs = part->of_items ? UM_NEED_JSON : 0;

	for (size_t i = 0; i < part->schemes_len; i++) {
		const struct um_scheme *scheme = &part->schemes[i];

		needs |= um_expr_needs(&scheme->from);
		for (size_t j = 0; j < scheme->parts_len; j++)
			needs |= um_expr_needs(&scheme->parts[j]);
	}
	return needs;
}

static unsigned
needs_of_conditions(const struct um_conditions *conditions)
{
	unsigned needs = 0;

	for (size_t i = 0; i < conditions->len; i++)
		needs |= um_expr_needs(&conditions->condition[i].from);
	return needs;
}

static unsigned
needs_of_time(const struct um_subscription_time *time)
{
	return um_expr_needs(&time->from) | needs_of_conditions(&time->when);
}

static unsigned
needs_of_subscription(const struct um_subscription_spec *spec)
{
	return um_expr_needs(&spec->id) | um_expr_needs(&spec->account)
		| um_expr_needs(&spec->payment) | needs_of_time(&spec->at)
		| um_expr_needs(&spec->own_id) | um_expr_needs(&spec->status)
		| needs_of_time(&spec->until)
		| needs_of_time(&spec->trial_until)
		| needs_of_time(&spec->cancel_at)
		| needs_of_conditions(&spec->paused);
}

static unsigned
needs_of_events(const struct um_spec_part *part)
{
	const struct um_expr *const values[] = { &part->timestamp,
		&part->origin.live, &part->origin.account, &part->identity,
		&part->type, &part->elicitation, &part->amount, &part->currency,
		&part->reference, &part->checkout, &part->tax,
		&part->time.from };
	unsigned needs = part->payload.has_events ? UM_NEED_JSON : 0;

	needs |= needs_of_subscription(&part->subscription);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		needs |= um_expr_needs(values[i]);
	for (size_t i = 0; i < part->rules_len; i++)
		needs |= um_expr_needs(&part->rules[i].amount)
			| um_expr_needs(&part->rules[i].reference)
			| um_expr_needs(&part->rules[i].checkout)
			| um_expr_needs(&part->rules[i].refund)
			| um_expr_needs(&part->rules[i].state)
			| um_expr_needs(&part->rules[i].evidence_due.from)
			| needs_of_conditions(&part->rules[i].when);
	return needs;
}

static unsigned
needs_of_challenge(const struct um_challenge *challenge)
{
	unsigned needs = needs_of_conditions(&challenge->when);

	for (size_t i = 0; i < challenge->len; i++)
		needs |= um_expr_needs(&challenge->piece[i].value);
	return needs;
}

/* Decides what is parsed before the signature is verified, and what after it. */
static void
set_needs(struct um_spec_part *part)
{
	unsigned events = with_payload(part, needs_of_events(part));
	unsigned challenge = with_payload(part,
		needs_of_challenge(&part->challenge));

	part->events_max = part->payload.has_events ? UM_EVENTS_MAX : 1;
	part->uses_json = (events & UM_NEED_JSON) != 0;
	part->challenge_needs = challenge;
	if (!part->challenge.is_get)
		events |= challenge;
	part->signature_needs = with_payload(part, needs_of_schemes(part));
	if (part->of_items)
		part->signature_needs |= events;
	part->event_needs = events & ~part->signature_needs;
}

bool
um_spec_part_load(struct um_spec_part *part, const struct um_conf_loc *at,
	json_t *node, const struct um_provider_env *env, bool is_return)
{
	/* In the order of enum um_trust. */
	static const char *const trusts[] = { "body", "fields", "part", "token",
		"nothing", NULL };
	struct um_expr_scope scope = { .constant = env->constant,
		.arg = env->arg,
		.has_items = json_object_get(node, "events") != NULL };
	unsigned trust = 0;
	bool ok, knows_schemes;

	*part = (struct um_spec_part){ 0 };
	/* Each is tried, so that all that is wrong is said at once. */
	ok = load_payload(part, at, node, &scope);
	ok = load_events(part, at, node) && ok;
	knows_schemes = load_schemes(part, at, node, &scope);
	ok = load_timestamp(part, at, node, &scope, knows_schemes) && ok;
	ok = knows_schemes && ok;
	ok = um_conf_get_choice(at, node, "trust", trusts, &trust) && ok;
	ok = um_spec_part_load_origin(part, at, node, &scope, env) && ok;
	ok = load_optional(&part->identity, at, node, "identity", &scope) && ok;
	ok = load_optional(&part->type, at, node, "type", &scope) && ok;
	ok = load_elicitation(part, at, node, &scope, is_return) && ok;
	ok = um_spec_part_load_amount(part, at, node, &scope) && ok;
	ok = load_optional(&part->reference, at, node, "reference", &scope)
		&& ok;
	ok = load_optional(&part->checkout, at, node, "checkout", &scope) && ok;
	ok = load_optional(&part->tax, at, node, "tax", &scope) && ok;
	ok = um_spec_part_load_time(&part->time, at, node, "time", &scope,
		     false)
		&& ok;
	ok = um_spec_part_load_subscription(part, at, node, &scope) && ok;
	ok = um_spec_part_load_outcomes(part, at, node, &scope) && ok;
	if (!is_return)
		ok = um_spec_part_load_challenge(part, at, node, &scope) && ok;
	if (!ok)
		return false;
	part->trust = (enum um_trust)trust;
	part->takes_no_payments = env->takes_no_payments;
	/* What nothing signs is only known by its address. */
	part->by_address |= part->trust == UM_TRUST_NOTHING && !is_return;
	set_needs(part);
	if (!um_spec_part_check_trust(part, at))
		return false;
	return um_spec_part_take_keys(part, at, env, is_return);
}
