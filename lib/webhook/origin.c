/* SPDX-License-Identifier: MIT */
#include "webhook/origin.h"

void
um_origin_free(struct um_origin *origin)
{
	um_expr_free(&origin->live);
	um_strlist_free(&origin->live_is);
	um_expr_free(&origin->account);
	um_strlist_free(&origin->accounts);
}

const char *
um_origin_apply(const struct um_origin *origin, const struct um_source *source,
	enum um_effect *effect)
{
	struct um_value live, account;
	enum um_found has_live = um_expr_eval(&origin->live, source, &live);
	enum um_found has_account = um_expr_eval(&origin->account, source,
		&account);
	const char *bad = NULL;

	if (has_live == UM_BAD)
		bad = "/live";
	else if (has_account == UM_BAD)
		bad = "/account";
	else if (has_live == UM_FOUND
		&& um_strlist_has(&origin->live_is, live.text)
			== origin->takes_test)
		*effect = UM_EFFECT_OTHER_MODE;
	else if (has_account == UM_FOUND
		&& !um_strlist_has(&origin->accounts, account.text))
		*effect = UM_EFFECT_OTHER_ACCOUNT;
	um_value_free(&live);
	um_value_free(&account);
	return bad;
}
