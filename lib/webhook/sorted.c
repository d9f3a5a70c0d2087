/* SPDX-License-Identifier: MIT */
#include "webhook/sorted.h"

#include <stdlib.h>
#include <string.h>

#include "http/form.h"

static int
compare(const void *left, const void *right)
{
	const struct um_field *a = left, *b = right;
	size_t len = a->name.len < b->name.len ? a->name.len : b->name.len;
	int order = len != 0 ? memcmp(a->name.ptr, b->name.ptr, len) : 0;

	if (order != 0)
		return order;
	return (a->name.len > b->name.len) - (a->name.len < b->name.len);
}

/* Neither an empty part, as in `a&&b`, nor `=` is a field. */
static size_t
split(struct um_field out[static UM_FORM_FIELDS_MAX], struct um_str query)
{
	size_t len = 0;

	while (query.len != 0 && len < UM_FORM_FIELDS_MAX) {
		struct um_str value = um_str_cut(&query, "&");
		struct um_str name = um_str_cut(&value, "=");

		if (name.len != 0 || value.len != 0)
			out[len++] = (struct um_field){ name, value, false };
	}
	return len;
}

bool
um_sorted_put(struct um_buf *out, struct um_str query,
	const struct um_strlist *without)
{
	struct um_field field[UM_FORM_FIELDS_MAX];
	size_t len = split(field, query);
	bool any = false;

	qsort(field, len, sizeof(field[0]), compare);
	for (size_t i = 0; i < len; i++) {
		if (um_strlist_has(without, field[i].name))
			continue;
		if (any)
			um_buf_puts(out, "&");
		um_buf_put(out, field[i].name.ptr, field[i].name.len);
		um_buf_puts(out, "=");
		um_buf_put(out, field[i].value.ptr, field[i].value.len);
		any = true;
	}
	return any;
}
