/* SPDX-License-Identifier: MIT */
#include "webhook/origin.h"

#include <stdlib.h>

void
um_origin_free(struct um_origin *origin)
{
	um_expr_free(&origin->live);
	um_strlist_free(&origin->live_is);
	um_expr_free(&origin->account);
	um_strlist_free(&origin->accounts);
}

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
um_origin_load(struct um_origin *origin, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope,
	const struct um_provider_env *env)
{
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

bool
um_origin_apply(const struct um_origin *origin,
	struct um_parsed_delivery *parsed, enum um_effect *effect)
{
	struct um_buf live = { 0 }, account = { 0 };
	enum um_found has_live = um_expr_eval(&origin->live, parsed, &live);
	enum um_found has_account = um_expr_eval(&origin->account, parsed,
		&account);
	bool ok = has_live != UM_BAD && has_account != UM_BAD && !live.failed
		&& !account.failed;

	if (!ok)
		um_delivery_blame(parsed,
			has_live == UM_BAD ? "/live" : "/account",
			"is not a text");
	if (ok && has_live == UM_FOUND
		&& um_strlist_has(&origin->live_is, um_buf_str(&live))
			== origin->takes_test)
		*effect = UM_EFFECT_OTHER_MODE;
	else if (ok && has_account == UM_FOUND
		&& !um_strlist_has(&origin->accounts, um_buf_str(&account)))
		*effect = UM_EFFECT_OTHER_ACCOUNT;
	um_buf_free(&live);
	um_buf_free(&account);
	return ok;
}
