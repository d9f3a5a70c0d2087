/* SPDX-License-Identifier: MIT */
#include "core/strlist.h"

#include <stdlib.h>
#include <string.h>

bool
um_conf_get_strlist(struct um_strlist *list, const struct um_conf_loc *at,
	const json_t *node, bool may_be_one)
{
	bool one = may_be_one && json_is_string(node);
	size_t len = one ? 1 : json_array_size(node);

	*list = (struct um_strlist){ 0 };
	if (len == 0 || len > UM_STRLIST_MAX)
		return um_conf_error(at, "is not %sa list of 1 to %d strings",
			may_be_one ? "a string or " : "", UM_STRLIST_MAX);
	list->item = calloc(len, sizeof(list->item[0]));
	if (list->item == NULL)
		return um_conf_error(at, "out of memory");
	for (size_t i = 0; i < len; i++) {
		const json_t *name = one ? node : json_array_get(node, i);
		const char *text = json_string_value(name);

		if (text == NULL || text[0] == '\0'
			|| strlen(text) != json_string_length(name))
			return um_conf_error(at,
				"holds what is no string, is empty, or holds "
				"a NUL");
		if (!um_conf_copy_text(at, text, &list->item[i]))
			return false;
		list->len++;
	}
	return true;
}

void
um_strlist_free(struct um_strlist *list)
{
	for (size_t i = 0; i < list->len; i++)
		free(list->item[i]);
	free((void *)list->item);
	*list = (struct um_strlist){ 0 };
}

bool
um_strlist_has(const struct um_strlist *list, struct um_str name)
{
	for (size_t i = 0; i < list->len; i++)
		if (um_str_is(name, list->item[i]))
			return true;
	return false;
}

bool
um_strlist_equal(const struct um_strlist *a, const struct um_strlist *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (strcmp(a->item[i], b->item[i]) != 0)
			return false;
	return true;
}
