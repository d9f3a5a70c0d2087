/* SPDX-License-Identifier: MIT */
/* Values in JSON, also in a text that is JSON itself. */
#include <stdlib.h>

#include "webhook/expr.h"

/* Finds the value of the selected element. False when there are two of them. */
static bool
select_element(const struct um_expr_json *json,
	const struct um_json_node **node)
{
	const struct um_json_node *element = NULL, *found = NULL;

	while ((element = um_json_next(*node, element)) != NULL) {
		const struct um_json_node *where = um_pointer_find(&json->where,
			element);

		if (um_json_is(where, UM_JSON_UNREADABLE)) {
			*node = where;
			return true;
		}
		if (!um_json_string_eq(where, um_str(json->is)))
			continue;
		if (found != NULL)
			return false;
		found = element;
	}
	if (!um_json_is(*node, UM_JSON_UNREADABLE))
		*node = um_pointer_find(&json->value, found);
	return true;
}

static enum um_found
refuse(struct um_value *value, const char *reason)
{
	value->bad_reason = reason;
	return UM_BAD;
}

/* A text that is no JSON is another system's: the value is not there. */
static enum um_found
find_inside(const struct um_expr_json *json, const struct um_json_node *node,
	struct um_value *value)
{
	struct um_str text = um_json_str(node);
	struct um_json_node *root = NULL;
	const struct um_json_node *found;
	const char *unreadable = NULL;
	bool ok = true;

	value->bad_at = &json->inside;
	if (um_json_is(node, UM_JSON_STRING) && text.len <= UM_INSIDE_MAX)
		root = um_json_parse_lenient(text, UM_UNPROVEN_VALUES_MAX,
			NULL);
	found = um_pointer_find(&json->inside, root);
	if (um_json_is(found, UM_JSON_UNREADABLE))
		unreadable = found->text;
	else if (found != NULL && !um_json_is(found, UM_JSON_NULL))
		ok = um_json_text(found, &value->made);
	free(root);
	if (unreadable != NULL)
		return um_value_unreadable(value, unreadable);
	if (!ok)
		return refuse(value,
			"is an object or a list, or needs more than 15 "
			"significant digits");
	return value->made.len != 0 || value->made.failed
		? um_value_take_made(value)
		: UM_ABSENT;
}

enum um_found
um_expr_find(const struct um_expr_json *json, const struct um_json_node *root,
	struct um_value *value)
{
	const struct um_json_node *node = um_pointer_find(&json->at, root);

	value->bad_at = &json->at;
	if (root == NULL)
		return um_value_unreadable(value, "is not readable");
	if (json->selects && !select_element(json, &node))
		return refuse(value, "has two elements that are meant");
	if (um_json_is(node, UM_JSON_UNREADABLE))
		return um_value_unreadable(value, node->text);
	if (node == NULL || um_json_is(node, UM_JSON_NULL))
		return UM_ABSENT;
	if (json->is_text)
		return find_inside(json, node, value);
	if (um_json_is(node, UM_JSON_STRING))
		return um_value_take(value, um_json_str(node));
	if (!um_json_text(node, &value->made))
		return refuse(value,
			um_json_is(node, UM_JSON_REAL)
				? "needs more than 15 significant digits"
				: "is an object or a list");
	return um_value_take_made(value);
}
