/* SPDX-License-Identifier: MIT */
/* Compiles the outcomes of a description. */
#include <stdlib.h>
#include <string.h>

#include "description/condition_load.h"
#include "description/part_load.h"

/* A value in place of the part's; null: there is none. */
static bool
load_own(bool *has, struct um_expr *expr, const struct um_conf_loc *at,
	json_t *node, const char *key, const struct um_expr_scope *scope)
{
	const json_t *own = json_object_get(node, key);

	*has = own != NULL;
	return own == NULL || json_is_null(own)
		|| um_expr_load_found(expr, at, node, key, scope);
}

static bool
is_refund(enum um_effect effect)
{
	return effect == UM_EFFECT_REFUNDED
		|| effect == UM_EFFECT_REFUND_REVERSED
		|| effect == UM_EFFECT_DISPUTED;
}

/* What it is, beside the effect: of a refund or dispute, or of a renewal. */
static bool
load_kind(struct um_outcome_rule *rule, const struct um_conf_loc *at,
	json_t *node)
{
	static const char *const kinds[] = { "dispute", "dispute_won",
		"dispute_lost", "cancellation", "extra_charge", NULL };
	unsigned word;
	bool is_extra;

	rule->kind = NULL;
	if (json_object_get(node, "kind") == NULL)
		return true;
	if (!um_conf_get_choice(at, node, "kind", kinds, &word))
		return false;
	rule->kind = kinds[word];
	is_extra = strcmp(rule->kind, "extra_charge") == 0;
	if (is_extra ? rule->effect != UM_EFFECT_RENEWED
		     : !is_refund(rule->effect))
		return um_conf_member_error(at, "kind",
			is_extra ? "cannot be used: the effect is not `renewed`"
				 : "cannot be used: the effect is none of "
				   "`refunded`, `refund_reversed`, `disputed`");
	return true;
}

/* What only refunds and disputes have. */
static bool
load_refund(struct um_outcome_rule *rule, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope)
{
	static const char *const own[] = { "refund", "state", "evidence_due",
		NULL };

	for (size_t i = 0; own[i] != NULL; i++)
		if (json_object_get(node, own[i]) != NULL
			&& !is_refund(rule->effect))
			return um_conf_member_error(at, own[i],
				"cannot be used: the effect is none of "
				"`refunded`, `refund_reversed`, `disputed`");
	if (!load_kind(rule, at, node))
		return false;
	if (rule->effect == UM_EFFECT_DISPUTED
		&& json_object_get(node, "refund") == NULL)
		return um_conf_member_error(at, "refund",
			"is missing: which dispute is it?");
	if (rule->effect == UM_EFFECT_DISPUTED
		&& (rule->kind == NULL
			|| strcmp(rule->kind, "cancellation") == 0))
		return um_conf_member_error(at, "kind",
			"is not that of a dispute");
	return (json_object_get(node, "refund") == NULL
		       || um_expr_load_found(&rule->refund, at, node, "refund",
			       scope))
		&& (json_object_get(node, "state") == NULL
			|| um_expr_load_found(&rule->state, at, node, "state",
				scope))
		&& um_spec_part_load_time(&rule->evidence_due, at, node,
			"evidence_due", scope, false);
}

/* The other name of a payment. */
static bool
load_also(struct um_outcome_rule *rule, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope)
{
	bool has_it = json_object_get(node, "also") != NULL;

	if (has_it != (rule->effect == UM_EFFECT_NAMED))
		return um_conf_member_error(at, "also",
			has_it ? "cannot be used: the effect is not `named`"
			       : "is missing: which other name has it?");
	return !has_it
		|| um_expr_load_found(&rule->also, at, node, "also", scope);
}

static bool
is_of_subscription(enum um_effect effect)
{
	return effect == UM_EFFECT_RENEWED || effect == UM_EFFECT_SUBSCRIPTION;
}

static bool
load_rule(struct um_outcome_rule *rule, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "type", "when", "effect", "amount",
		"reference", "checkout", "refund", "kind", "state",
		"evidence_due", "also", "checkout_paid", "because", NULL };
	static const char *const words[] = { "ignore", "paid", "accepted",
		"failed", "cancelled", "expired", "processing", "recheck",
		"attempt_failed", "refunded", "refund_reversed", "disputed",
		"renewed", "subscription", "named", NULL };
	static const enum um_effect effects[] = { UM_EFFECT_IGNORE,
		UM_EFFECT_PAID, UM_EFFECT_ACCEPTED, UM_EFFECT_FAILED,
		UM_EFFECT_CANCELLED, UM_EFFECT_EXPIRED, UM_EFFECT_PROCESSING,
		UM_EFFECT_RECHECK, UM_EFFECT_ATTEMPT_FAILED, UM_EFFECT_REFUNDED,
		UM_EFFECT_REFUND_REVERSED, UM_EFFECT_DISPUTED,
		UM_EFFECT_RENEWED, UM_EFFECT_SUBSCRIPTION, UM_EFFECT_NAMED };
	struct um_conf_loc types = um_conf_member(at, "type");
	struct um_conf_loc list = um_conf_member(at, "when");
	const json_t *type, *when;
	const char *because;
	unsigned word;

	if (!um_conf_check_keys(at, node, keys)
		|| !um_conf_get_choice(at, node, "effect", words, &word)
		|| !um_conf_get_text(at, node, "because", false, &because))
		return false;
	rule->effect = effects[word];
	if (!um_conf_get_bool(at, node, "checkout_paid", &rule->checkout_paid))
		return false;
	if (json_object_get(node, "checkout_paid") != NULL
		&& rule->effect != UM_EFFECT_PAID)
		return um_conf_member_error(at, "checkout_paid",
			"cannot be used: the effect is not `paid`");
	type = json_object_get(node, "type");
	if (type != NULL
		&& !um_conf_get_strlist(&rule->types, &types, type, true))
		return false;
	if (!load_own(&rule->has_amount, &rule->amount, at, node, "amount",
		    scope)
		|| !load_own(&rule->has_reference, &rule->reference, at, node,
			"reference", scope)
		|| !load_own(&rule->has_checkout, &rule->checkout, at, node,
			"checkout", scope)
		|| !load_refund(rule, at, node, scope)
		|| !load_also(rule, at, node, scope))
		return false;
	when = json_object_get(node, "when");
	return when == NULL
		|| um_conditions_load(&rule->when, &list, when, scope);
}

/* The first earlier outcome that takes all events of this type, or `len`. */
static size_t
taken_by(const struct um_spec_part *part, size_t len, const char *type)
{
	const struct um_outcome_rule *rule = &part->rules[len];

	for (size_t i = 0; i < len; i++) {
		const struct um_outcome_rule *earlier = &part->rules[i];

		if ((earlier->types.len == 0
			    || (type != NULL
				    && um_strlist_has(&earlier->types,
					    um_str(type))))
			&& um_conditions_follow(&earlier->when, &rule->when))
			return i;
	}
	return len;
}

static bool
check_taken(const struct um_spec_part *part, const struct um_conf_loc *at,
	size_t number)
{
	const struct um_strlist *types = &part->rules[number].types;
	bool ok = true;

	for (size_t i = 0; i < (types->len != 0 ? types->len : 1); i++) {
		const char *type = types->len != 0 ? types->item[i] : NULL;
		size_t taker = taken_by(part, number, type);

		if (taker != number)
			ok = um_conf_error(at,
				"is never reached%s%.64s: outcome %zu applies "
				"before it",
				type != NULL ? " by " : "",
				type != NULL ? type : "", taker);
	}
	return ok;
}

/* Whether `when` can hold at all. */
static bool
check_when(const struct um_outcome_rule *rule, const struct um_conf_loc *at,
	const struct um_expr *type)
{
	const struct um_condition types = { .is = rule->types };

	for (size_t i = 0; i < rule->when.len; i++) {
		const struct um_condition *condition = &rule->when.condition[i];

		if (rule->types.len != 0 && um_expr_same(&condition->from, type)
			&& !um_condition_agrees(condition, &types))
			return um_conf_member_error(at, "when",
				"can never hold: no `type` of the outcome has "
				"this value");
		for (size_t j = 0; j < i; j++)
			if (um_expr_same(&condition->from,
				    &rule->when.condition[j].from)
				&& !um_condition_agrees(condition,
					&rule->when.condition[j]))
				return um_conf_member_error(at, "when",
					"can never hold: two conditions "
					"contradict each other");
	}
	return true;
}

/* Refuses outcomes that no event can have. */
static bool
check_reach(const struct um_spec_part *part, const struct um_conf_loc *list)
{
	bool ok = true;

	for (size_t i = 0; i < part->rules_len; i++) {
		struct um_conf_loc here = um_conf_element(list, i);

		ok = check_when(&part->rules[i], &here, &part->type) && ok;
		ok = check_taken(part, &here, i) && ok;
	}
	return ok;
}

bool
um_spec_part_load_outcomes(struct um_spec_part *part,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope)
{
	struct um_conf_loc list = um_conf_member(at, "outcomes");
	const json_t *rules = json_object_get(node, "outcomes");
	size_t len = json_array_size(rules);
	bool ok = true;

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
			ok = false;
		else if (is_of_subscription(rule->effect)
			&& !part->subscription.given)
			ok = um_conf_member_error(&here, "effect",
				"cannot be used, because the description has "
				"no `subscription`");
		else if (rule->types.len != 0
			&& json_object_get(node, "type") == NULL)
			ok = um_conf_member_error(&here, "type",
				"cannot be used, because the description has "
				"no `type`");
		else if (rule->has_amount && part->amount.kind == UM_EXPR_NONE)
			ok = um_conf_member_error(&here, "amount",
				"cannot be used, because the description has "
				"no `amount`");
	}
	return ok && check_reach(part, &list);
}
