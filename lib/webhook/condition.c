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

static bool
holds(const struct um_condition *condition, const struct um_source *source)
{
	struct um_value value;
	enum um_found found = um_expr_eval(&condition->from, source, &value);
	bool yes = condition->is.len == 0
		? (found != UM_ABSENT) == condition->present
		: found == UM_FOUND && is_one_of(value.text, &condition->is);

	um_value_free(&value);
	return yes;
}

bool
um_conditions_hold(const struct um_conditions *conditions,
	const struct um_source *source)
{
	size_t held = 0;

	while (held < conditions->len
		&& holds(&conditions->condition[held], source))
		held++;
	return held == conditions->len;
}
