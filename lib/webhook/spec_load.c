/* SPDX-License-Identifier: MIT */
/* Compiles a part of a description, and gives it its keys. */
#include <stdlib.h>
#include <string.h>

#include "webhook/spec_part.h"

void
um_spec_part_free(struct um_spec_part *part)
{
	for (size_t i = 0; i < part->schemes_len; i++)
		um_scheme_free(&part->schemes[i]);
	for (size_t i = 0; i < part->rules_len; i++) {
		struct um_outcome_rule *rule = &part->rules[i];

		um_strlist_free(&rule->types);
		um_conditions_free(&rule->when);
		um_expr_free(&rule->amount);
	}
	free(part->rules);
	um_challenge_free(&part->challenge);
	free(part->payload.field);
	um_pointer_free(&part->events);
	um_expr_free(&part->timestamp);
	um_origin_free(&part->origin);
	um_expr_free(&part->identity);
	um_expr_free(&part->type);
	um_expr_free(&part->elicitation);
	um_expr_free(&part->amount);
	um_expr_free(&part->currency);
	um_expr_free(&part->reference);
	*part = (struct um_spec_part){ 0 };
}

/* A value of the delivery, which is optional. */
static bool
load_optional(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *node, const char *key, const struct um_expr_scope *scope)
{
	return json_object_get(node, key) == NULL
		|| um_expr_load_found(expr, at, node, key, scope);
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
	const json_t *node, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "from", "as", "past", "future",
		NULL };
	/* In the order of enum um_timestamp_form. */
	static const char *const forms[] = { "unix", "unix_ms", "rfc3339",
		NULL };
	struct um_conf_loc here = um_conf_member(at, "timestamp");
	struct um_expr_scope inner = *scope;
	json_t *timestamp = json_object_get(node, "timestamp");
	long long past, future;
	unsigned form;

	if (timestamp == NULL)
		return true;
	inner.has_params = part->schemes_len != 0;
	for (size_t i = 0; i < part->schemes_len; i++)
		inner.has_params &= part->schemes[i].fields.len != 0;
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
load_amount(struct um_spec_part *part, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "from", "as", NULL };
	/* In the order of enum um_amount_form. */
	static const char *const forms[] = { "minor", "decimal", NULL };
	struct um_conf_loc here = um_conf_member(at, "amount");
	json_t *amount = json_object_get(node, "amount");
	unsigned form;

	if ((amount == NULL) != (json_object_get(node, "currency") == NULL))
		return um_conf_member_error(at,
			amount == NULL ? "amount" : "currency",
			"is missing: `amount` and `currency` must be given "
			"together");
	if (amount == NULL)
		return true;
	if (!um_conf_check_keys(&here, amount, keys)
		|| !um_expr_load(&part->amount, &here, amount, "from", scope)
		|| !um_conf_get_choice(&here, amount, "as", forms, &form))
		return false;
	part->amount_form = (enum um_amount_form)form;
	return um_expr_load(&part->currency, at, node, "currency", scope);
}

static bool
load_events(struct um_spec_part *part, const struct um_conf_loc *at,
	const json_t *node)
{
	const json_t *events = json_object_get(node, "events");
	const char *text = json_string_value(events);

	part->has_events = events != NULL;
	return events == NULL
		|| (text != NULL && strlen(text) == json_string_length(events)
			&& um_pointer_compile(&part->events, text))
		|| um_conf_member_error(at, "events", "is not a JSON pointer");
}

static bool
needs_json(const struct um_spec_part *part)
{
	const struct um_expr *const values[] = { &part->timestamp,
		&part->origin.live, &part->origin.account, &part->identity,
		&part->type, &part->elicitation, &part->amount, &part->currency,
		&part->reference };
	bool needs = part->has_events;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		needs |= um_expr_uses(values[i], UM_EXPR_JSON);
	for (size_t i = 0; i < part->rules_len; i++) {
		const struct um_outcome_rule *rule = &part->rules[i];

		needs |= um_expr_uses(&rule->amount, UM_EXPR_JSON);
		for (size_t j = 0; j < rule->when.len; j++)
			needs |= um_expr_uses(&rule->when.condition[j].from,
				UM_EXPR_JSON);
	}
	return needs;
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
		.address = is_return ? "return_url" : "notification_url",
		.has_items = json_object_get(node, "events") != NULL };
	struct um_conf_loc challenge = um_conf_member(at, "challenge");
	unsigned trust = 0;
	bool ok;

	*part = (struct um_spec_part){ 0 };
	/* Each is tried, so that all that is wrong is said at once. */
	ok = load_payload(part, at, node, &scope);
	ok = load_events(part, at, node) && ok;
	ok = load_schemes(part, at, node, &scope) && ok;
	ok = load_timestamp(part, at, node, &scope) && ok;
	ok = um_conf_get_choice(at, node, "believed", trusts, &trust) && ok;
	ok = um_origin_load(&part->origin, at, node, &scope, env) && ok;
	ok = load_optional(&part->identity, at, node, "identity", &scope) && ok;
	ok = load_optional(&part->type, at, node, "type", &scope) && ok;
	ok = load_optional(&part->elicitation, at, node, "elicitation", &scope)
		&& ok;
	ok = load_amount(part, at, node, &scope) && ok;
	ok = load_optional(&part->reference, at, node, "reference", &scope)
		&& ok;
	ok = um_spec_part_load_outcomes(part, at, node, &scope) && ok;
	if (!is_return)
		ok = um_challenge_load(&part->challenge, &challenge,
			     json_object_get(node, "challenge"), &scope)
			&& ok;
	if (!ok)
		return false;
	part->trust = (enum um_trust)trust;
	part->uses_json = needs_json(part);
	return um_spec_part_check_trust(part, at)
		&& um_spec_part_take_keys(part, at, env, is_return);
}
