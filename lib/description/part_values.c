/* SPDX-License-Identifier: MIT */
/*
 * Compiles `live` and `account`, `amount` and `currency`, and times of a
 * description.
 */
#include <stdlib.h>
#include <string.h>

#include "description/part_load.h"

static bool
load_live(struct um_origin *origin, const struct um_conf_loc *at, json_t *live,
	const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "from", "is", NULL };
	struct um_conf_loc is = um_conf_member(at, "is");
	const json_t *values;

	if (!um_conf_check_keys(at, live, keys))
		return false;
	values = json_object_get(live, "is");
	if (values == NULL)
		return um_conf_error(&is, "is missing");
	return um_expr_load(&origin->live, at, live, "from", scope)
		&& um_conf_get_strlist(&origin->live_is, &is, values, true);
}

static bool
copy_accounts(struct um_strlist *accounts, const struct um_conf_loc *at,
	const struct um_provider_env *env)
{
	if (env->accounts_len == 0)
		return true;
	accounts->item = calloc(env->accounts_len, sizeof(char *));
	if (accounts->item == NULL)
		return um_conf_error(at, "out of memory");
	for (size_t i = 0; i < env->accounts_len; i++)
		if (!um_conf_copy_text(at, env->accounts[i],
			    &accounts->item[accounts->len++]))
			return false;
	return true;
}

bool
um_spec_part_load_origin(struct um_spec_part *part,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope, const struct um_provider_env *env)
{
	struct um_origin *origin = &part->origin;
	struct um_conf_loc here = um_conf_member(at, "live");
	json_t *live = json_object_get(node, "live");

	if (live != NULL && !load_live(origin, &here, live, scope))
		return false;
	if (json_object_get(node, "account") != NULL
		&& !um_expr_load_found(&origin->account, at, node, "account",
			scope))
		return false;
	origin->takes_test = env->mode == UM_MODE_TEST;
	return copy_accounts(&origin->accounts, at, env);
}

/* A map of currencies: numbers of decimals that differ from ISO 4217. */
static bool
load_decimals(struct um_amount_units *units, const struct um_conf_loc *at,
	json_t *node, bool is_exponent)
{
	const char *currency;
	const json_t *value;

	if (!json_is_object(node) || json_object_size(node) == 0
		|| json_object_size(node) > UM_AMOUNT_OWN_MAX)
		return um_conf_error(at,
			"is not an object of 1 to %d currencies",
			UM_AMOUNT_OWN_MAX);
	json_object_foreach (node, currency, value) {
		unsigned iso = um_amount_exponent(currency);
		long long decimals;
		char code[4];

		if (!um_amount_parse_currency(code, um_str(currency))
			|| strcmp(code, currency) != 0)
			return um_conf_member_error(at, currency,
				"is not a currency of ISO 4217, three upper "
				"case letters");
		if (!um_conf_get_integer(at, node, currency, 0, UM_EXPONENT_MAX,
			    &decimals))
			return false;
		if (is_exponent ? decimals == iso : decimals >= iso)
			return um_conf_member_error(at, currency,
				is_exponent ? "is what ISO 4217 says: leave it "
					      "out"
					    : "is not less than ISO 4217 says");
		if (!is_exponent)
			continue;
		memcpy(units->own[units->own_len].currency, code, sizeof(code));
		units->own[units->own_len++].exponent = (unsigned)decimals;
	}
	return true;
}

/*
 * `places`, the decimals that a charge can have, is for the side that creates one:
 * an event with more decimals is still a payment.
 */
static bool
load_units(struct um_amount_units *units, const struct um_conf_loc *at,
	const json_t *amount)
{
	struct um_conf_loc exponents = um_conf_member(at, "exponents");
	struct um_conf_loc places = um_conf_member(at, "places");
	json_t *own = json_object_get(amount, "exponents");
	json_t *fine = json_object_get(amount, "places");
	const char *source;

	if (!um_conf_get_text(at, amount, "source", own != NULL || fine != NULL,
		    &source))
		return false;
	if (own != NULL && units->form != UM_AMOUNT_MINOR)
		return um_conf_error(&exponents,
			"cannot be used: the amount is not in minor units");
	return (own == NULL || load_decimals(units, &exponents, own, true))
		&& (fine == NULL || load_decimals(units, &places, fine, false));
}

bool
um_spec_part_load_amount(struct um_spec_part *part,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "from", "as", "exponents", "places",
		"source", NULL };
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
	part->amount_units.form = (enum um_amount_form)form;
	return load_units(&part->amount_units, &here, amount)
		&& um_expr_load(&part->currency, at, node, "currency", scope);
}

bool
um_spec_part_load_time(struct um_time *time, const struct um_conf_loc *at,
	const json_t *node, const char *key, const struct um_expr_scope *scope,
	bool is_needed)
{
	static const char *const keys[] = { "from", "as", NULL };
	/* In the order of enum um_timestamp_form. */
	static const char *const forms[] = { "unix", "unix_ms", "rfc3339",
		NULL };
	struct um_conf_loc here = um_conf_member(at, key);
	json_t *own = json_object_get(node, key);
	unsigned form;

	if (own == NULL && !is_needed)
		return true;
	if (!um_conf_check_keys(&here, own, keys)
		|| !um_expr_load_found(&time->from, &here, own, "from", scope)
		|| !um_conf_get_choice(&here, own, "as", forms, &form))
		return false;
	time->form = (enum um_timestamp_form)form;
	return true;
}
