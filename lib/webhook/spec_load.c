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
		for (size_t j = 0; j < rule->conditions_len; j++) {
			um_expr_free(&rule->condition[j].from);
			um_strlist_free(&rule->condition[j].is);
		}
	}
	free(part->rules);
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
	um_expr_free(&part->attempt);
	*part = (struct um_spec_part){ 0 };
}

/* An expression that is optional. */
static bool
load_optional(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *node, const char *key, const struct um_expr_scope *scope)
{
	return json_object_get(node, key) == NULL
		|| um_expr_load(expr, at, node, key, scope);
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

	if (!json_is_array(schemes) || len > UM_SCHEMES_MAX)
		return um_conf_error(&list,
			"is not a list of at most %d schemes", UM_SCHEMES_MAX);
	for (size_t i = 0; i < len; i++) {
		struct um_conf_loc here = um_conf_element(&list, i);
		struct um_scheme *scheme = &part->schemes[i];

		part->schemes_len++;
		if (!um_scheme_load(scheme, &here, json_array_get(schemes, i),
			    scope))
			return false;
		part->of_items |= scheme->of_items;
	}
	return true;
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
		inner.has_params &= part->schemes[i].field != NULL;
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
load_condition(struct um_condition *condition, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "from", "is", "present", NULL };
	struct um_conf_loc place = um_conf_member(at, "is");
	const json_t *is, *present;

	if (!um_conf_check_keys(at, node, keys)
		|| !um_expr_load(&condition->from, at, node, "from", scope))
		return false;
	is = json_object_get(node, "is");
	present = json_object_get(node, "present");
	if ((is == NULL) == (present == NULL))
		return um_conf_error(at, "must have either `is` or `present`");
	if (is != NULL)
		return um_conf_get_strlist(&condition->is, &place, is, true);
	condition->present = json_is_true(present);
	return json_is_boolean(present)
		|| um_conf_member_error(at, "present", "is not true or false");
}

static bool
load_rule(struct um_outcome_rule *rule, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "type", "when", "means", "because",
		NULL };
	static const char *const words[] = { "ignore", "paid", "accepted",
		"failed", "cancelled", "expired", "processing", "recheck",
		"attempt_failed", "refunded", NULL };
	static const enum um_effect effects[] = { UM_EFFECT_IGNORE,
		UM_EFFECT_PAID, UM_EFFECT_PAID, UM_EFFECT_FAILED,
		UM_EFFECT_CANCELLED, UM_EFFECT_EXPIRED, UM_EFFECT_PROCESSING,
		UM_EFFECT_RECHECK, UM_EFFECT_ATTEMPT_FAILED,
		UM_EFFECT_REFUNDED };
	struct um_conf_loc types = um_conf_member(at, "type");
	struct um_conf_loc list = um_conf_member(at, "when");
	const json_t *type, *when;
	const char *because;
	unsigned word;

	if (!um_conf_check_keys(at, node, keys)
		|| !um_conf_get_choice(at, node, "means", words, &word)
		|| !um_conf_get_text(at, node, "because", false, &because))
		return false;
	rule->effect = effects[word];
	type = json_object_get(node, "type");
	if (type != NULL
		&& !um_conf_get_strlist(&rule->types, &types, type, true))
		return false;
	when = json_object_get(node, "when");
	if (when == NULL)
		return true;
	if (json_array_size(when) == 0
		|| json_array_size(when) > UM_CONDITIONS_MAX)
		return um_conf_error(&list,
			"is not a list of 1 to %d conditions",
			UM_CONDITIONS_MAX);
	for (size_t i = 0; i < json_array_size(when); i++) {
		struct um_conf_loc here = um_conf_element(&list, i);

		rule->conditions_len++;
		if (!load_condition(&rule->condition[i], &here,
			    json_array_get(when, i), scope))
			return false;
	}
	return true;
}

static bool
load_rules(struct um_spec_part *part, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope)
{
	struct um_conf_loc list = um_conf_member(at, "outcomes");
	const json_t *rules = json_object_get(node, "outcomes");
	size_t len = json_array_size(rules);

	if (len == 0 || len > UM_RULES_MAX)
		return um_conf_error(&list, "is not a list of 1 to %d outcomes",
			UM_RULES_MAX);
	part->rules = calloc(len, sizeof(part->rules[0]));
	if (part->rules == NULL)
		return um_conf_error(&list, "out of memory");
	part->rules_len = len;
	for (size_t i = 0; i < len; i++) {
		struct um_conf_loc here = um_conf_element(&list, i);
		struct um_outcome_rule *rule = &part->rules[i];

		if (!load_rule(rule, &here, json_array_get(rules, i), scope))
			return false;
		if (rule->types.len != 0 && part->type.kind == UM_EXPR_NONE)
			return um_conf_member_error(&here, "type",
				"cannot be used, because the description has "
				"no `type`");
		if (rule->types.len == 0 && rule->conditions_len == 0
			&& i + 1 != len)
			return um_conf_error(&here,
				"always applies, so that the outcomes after it "
				"are never reached");
	}
	return true;
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
		&part->reference, &part->attempt };
	bool needs = part->has_events;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		needs |= um_expr_uses(values[i], UM_EXPR_JSON);
	for (size_t i = 0; i < part->rules_len; i++)
		for (size_t j = 0; j < part->rules[i].conditions_len; j++)
			needs |= um_expr_uses(&part->rules[i].condition[j].from,
				UM_EXPR_JSON);
	return needs;
}

static bool
take_secret(struct um_spec_part *part, const struct um_conf_loc *at,
	const char *secret, size_t number)
{
	for (size_t i = 0; i < part->schemes_len; i++) {
		const char *reason;

		if (!um_scheme_wants(&part->schemes[i], secret))
			continue;
		reason = um_scheme_take(&part->schemes[i], secret);
		return reason == NULL
			|| um_conf_error(at,
				"secret %zu of the configuration %s", number,
				reason);
	}
	return um_conf_error(at,
		part->schemes_len == 0
			? "the description does not verify signatures, so that "
			  "secret %zu of the configuration is not used"
			: "secret %zu of the configuration does not begin with "
			  "the `prefix` of any scheme",
		number);
}

static bool
take_certificate(struct um_spec_part *part, const struct um_conf_loc *at,
	const char *path, bool used)
{

	for (size_t i = 0; i < part->schemes_len; i++) {
		struct um_scheme *scheme = &part->schemes[i];
		const char *reason;

		if (scheme->key_form != UM_KEY_CERTIFICATE || path == NULL)
			continue;
		used = true;
		reason = um_verifier_add_certificates(scheme->verifier, path);
		if (reason != NULL)
			return um_conf_error(at, "the certificate %.96s %s",
				path, reason);
	}
	return used || path == NULL
		|| um_conf_error(at,
			"the configuration has a certificate, but no scheme "
			"uses one");
}

static bool
take_keys(struct um_spec_part *part, const struct um_conf_loc *at,
	const struct um_provider_env *env, bool is_return)
{
	bool own = is_return && env->return_secrets_len != 0;
	const char *const *secrets = own ? env->return_secrets : env->secrets;
	size_t len = own ? env->return_secrets_len : env->secrets_len;
	struct um_conf_loc here = um_conf_member(at, "verify");
	size_t keys = 0;

	for (size_t i = 0; i < len; i++)
		if (!take_secret(part, &here, secrets[i], i + 1))
			return false;
	/* The return part need not use the certificate of the webhook. */
	if (!take_certificate(part, &here, env->certificate, is_return))
		return false;
	for (size_t i = 0; i < part->schemes_len; i++)
		keys += um_verifier_count_keys(part->schemes[i].verifier);
	return part->schemes_len == 0 || keys != 0
		|| um_conf_error(&here,
			"the configuration has no secret or "
			"certificate for it");
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
	unsigned trust;

	*part = (struct um_spec_part){ 0 };
	if (!load_payload(part, at, node, &scope)
		|| !load_events(part, at, node)
		|| !load_schemes(part, at, node, &scope)
		|| !load_timestamp(part, at, node, &scope)
		|| !um_conf_get_choice(at, node, "believed", trusts, &trust)
		|| !um_origin_load(&part->origin, at, node, &scope, env)
		|| !load_optional(&part->identity, at, node, "identity", &scope)
		|| !load_optional(&part->type, at, node, "type", &scope)
		|| !load_optional(&part->elicitation, at, node, "elicitation",
			&scope)
		|| !load_amount(part, at, node, &scope)
		|| !load_optional(&part->reference, at, node, "reference",
			&scope)
		|| !load_optional(&part->attempt, at, node, "attempt", &scope)
		|| !load_rules(part, at, node, &scope))
		return false;
	part->trust = (enum um_trust)trust;
	part->uses_json = needs_json(part);
	return um_spec_part_check_trust(part, at)
		&& take_keys(part, at, env, is_return);
}
