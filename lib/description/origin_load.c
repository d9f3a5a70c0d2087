/* SPDX-License-Identifier: MIT */
#include "description/origin_load.h"

#include <stdlib.h>

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
