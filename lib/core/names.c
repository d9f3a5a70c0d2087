/* SPDX-License-Identifier: MIT */
#include "core/names.h"

#include <stdlib.h>
#include <string.h>

bool
um_names_load(struct um_names *names, const struct um_place *at,
	const json_t *node, bool may_be_one)
{
	bool one = may_be_one && json_is_string(node);
	size_t len = one ? 1 : json_array_size(node);

	*names = (struct um_names){ 0 };
	if (len == 0 || len > UM_NAMES_MAX)
		return um_mistake(at, "is not %sa list of 1 to %d strings",
			may_be_one ? "a string or " : "", UM_NAMES_MAX);
	names->name = calloc(len, sizeof(names->name[0]));
	if (names->name == NULL)
		return um_mistake(at, "out of memory");
	for (size_t i = 0; i < len; i++) {
		const json_t *name = one ? node : json_array_get(node, i);
		const char *text = json_string_value(name);

		if (text == NULL || text[0] == '\0'
			|| strlen(text) != json_string_length(name))
			return um_mistake(at,
				"holds what is no string, is empty, or holds "
				"a NUL");
		if (!um_copy_text(at, text, &names->name[i]))
			return false;
		names->len++;
	}
	return true;
}

void
um_names_free(struct um_names *names)
{
	for (size_t i = 0; i < names->len; i++)
		free(names->name[i]);
	free((void *)names->name);
	*names = (struct um_names){ 0 };
}

bool
um_names_has(const struct um_names *names, struct um_str name)
{
	for (size_t i = 0; i < names->len; i++)
		if (um_str_is(name, names->name[i]))
			return true;
	return false;
}

bool
um_names_same(const struct um_names *a, const struct um_names *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (strcmp(a->name[i], b->name[i]) != 0)
			return false;
	return true;
}
