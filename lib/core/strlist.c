/* SPDX-License-Identifier: MIT */
#include "core/strlist.h"

#include <stdlib.h>
#include <string.h>

void
um_strlist_free(struct um_strlist *list)
{
	for (size_t i = 0; i < list->len; i++)
		free(list->item[i]);
	free((void *)list->item);
	*list = (struct um_strlist){ 0 };
}

bool
um_strlist_has(const struct um_strlist *list, struct um_str string)
{
	for (size_t i = 0; i < list->len; i++)
		if (um_str_is(string, list->item[i]))
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
