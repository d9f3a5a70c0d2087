/* SPDX-License-Identifier: MIT */
#include "webhook/condition.h"

#include <string.h>

#include <openssl/crypto.h>

void
um_conditions_free(struct um_conditions *conditions)
{
	for (size_t i = 0; i < conditions->len; i++) {
		um_expr_free(&conditions->condition[i].from);
		um_strlist_free(&conditions->condition[i].is);
	}
	*conditions = (struct um_conditions){ 0 };
}

/* In constant time: a constant of the site may be a secret. */
static bool
is_one_of(struct um_str text, const struct um_strlist *list)
{
	bool found = false;

	for (size_t i = 0; i < list->len; i++)
		found |= strlen(list->item[i]) == text.len
			&& CRYPTO_memcmp(list->item[i], text.ptr, text.len)
				== 0;
	return found;
}

static enum um_holding
holds(const struct um_condition *condition, const struct um_source *source,
	struct um_value *value)
{
	enum um_found found = um_expr_eval(&condition->from, source, value);
	bool yes = condition->is.len == 0
		? (found != UM_ABSENT) == condition->present
		: found == UM_FOUND && is_one_of(value->text, &condition->is);

	if (found == UM_BAD && value->is_unreadable)
		return UM_HOLDS_UNKNOWN;
	um_value_free(value);
	return yes ? UM_HOLDS : UM_HOLDS_NOT;
}

enum um_holding
um_conditions_hold(const struct um_conditions *conditions,
	const struct um_source *source, struct um_value *unread)
{
	enum um_holding holding = UM_HOLDS;

	*unread = (struct um_value){ 0 };
	for (size_t i = 0; i < conditions->len && holding == UM_HOLDS; i++)
		holding = holds(&conditions->condition[i], source, unread);
	return holding;
}
