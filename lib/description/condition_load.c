/* SPDX-License-Identifier: MIT */
#include "description/condition_load.h"

static bool
load_condition(struct um_condition *condition, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "from", "is", "present", NULL };
	static const char *const site[] = { "site", NULL };
	struct um_conf_loc place = um_conf_member(at, "is");
	const json_t *present;
	json_t *is;

	if (!um_conf_check_keys(at, node, keys)
		|| !um_expr_load_found(&condition->from, at, node, "from",
			scope))
		return false;
	is = json_object_get(node, "is");
	present = json_object_get(node, "present");
	if ((is == NULL) == (present == NULL))
		return um_conf_error(at, "must have either `is` or `present`");
	if (json_is_object(is))
		return um_conf_check_keys(&place, is, site)
			&& um_expr_load_constants(&condition->is, &place, is,
				scope);
	if (is != NULL)
		return um_conf_get_strlist(&condition->is, &place, is, true);
	condition->present = json_is_true(present);
	return json_is_boolean(present)
		|| um_conf_member_error(at, "present", "is not true or false");
}

bool
um_conditions_load(struct um_conditions *conditions,
	const struct um_conf_loc *at, const json_t *list,
	const struct um_expr_scope *scope)
{
	size_t len = json_array_size(list);

	if (len == 0 || len > UM_CONDITIONS_MAX)
		return um_conf_error(at, "is not a list of 1 to %d conditions",
			UM_CONDITIONS_MAX);
	for (size_t i = 0; i < len; i++) {
		struct um_conf_loc here = um_conf_element(at, i);

		conditions->len++;
		if (!load_condition(&conditions->condition[i], &here,
			    json_array_get(list, i), scope))
			return false;
	}
	return true;
}

bool
um_condition_agrees(const struct um_condition *a, const struct um_condition *b)
{
	if (a->is.len == 0)
		return b->is.len == 0 ? a->present == b->present : a->present;
	if (b->is.len == 0)
		return b->present;
	for (size_t i = 0; i < a->is.len; i++)
		if (um_strlist_has(&b->is, um_str(a->is.item[i])))
			return true;
	return false;
}

/* Whether `a` holds wherever `b` does. */
static bool
follows(const struct um_condition *a, const struct um_condition *b)
{
	if (!um_expr_same(&a->from, &b->from))
		return false;
	if (a->is.len == 0)
		return b->is.len == 0 ? a->present == b->present : a->present;
	for (size_t i = 0; i < b->is.len; i++)
		if (!um_strlist_has(&a->is, um_str(b->is.item[i])))
			return false;
	return b->is.len != 0;
}

bool
um_conditions_follow(const struct um_conditions *a,
	const struct um_conditions *b)
{
	for (size_t i = 0; i < a->len; i++) {
		size_t j = 0;

		while (j < b->len
			&& !follows(&a->condition[i], &b->condition[j]))
			j++;
		if (j == b->len)
			return false;
	}
	return true;
}
