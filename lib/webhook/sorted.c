/* SPDX-License-Identifier: MIT */
#include "webhook/sorted.h"

#include <stdlib.h>
#include <string.h>

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

/* The fields as they were sent. They have been parsed, so they all fit. */
static size_t
split_raw(struct um_field out[static UM_FORM_FIELDS_MAX], struct um_str text)
{
	size_t len = 0;

	while (text.len != 0 && len < UM_FORM_FIELDS_MAX) {
		const char *end = memchr(text.ptr, '&', text.len);
		size_t one = end != NULL ? (size_t)(end - text.ptr) : text.len;
		const char *equals = memchr(text.ptr, '=', one);
		size_t name = equals != NULL ? (size_t)(equals - text.ptr)
					     : one;

		/* Neither an empty part, as in `a&&b`, nor `=` is a field. */
		if (one != 0 && !(one == 1 && name == 0)) {
			out[len].name = (struct um_str){ text.ptr, name };
			out[len].value = (struct um_str){ text.ptr + name
					+ (equals != NULL),
				one - name - (equals != NULL) };
			len++;
		}
		text.ptr += one + (end != NULL);
		text.len -= one + (end != NULL);
	}
	return len;
}

static bool
holds(struct um_str text, const char *separator)
{
	return separator[0] != '\0' && text.len != 0
		&& memmem(text.ptr, text.len, separator, strlen(separator))
		!= NULL;
}

bool
um_sorted_join(const struct um_sorted *how, const struct um_strlist *without,
	const struct um_form *form, struct um_str raw, struct um_buf *out,
	bool *is_ambiguous)
{
	struct um_field field[UM_FORM_FIELDS_MAX];
	size_t len = form->len;
	bool any = false;

	if (how->as_sent)
		len = split_raw(field, raw);
	else
		memcpy(field, form->field, len * sizeof(field[0]));
	qsort(field, len, sizeof(field[0]), compare);
	for (size_t i = 0; i < len; i++) {
		struct um_str name = field[i].name, value = field[i].value;

		if (um_strlist_has(without, name))
			continue;
		if (any)
			um_buf_puts(out, how->separator);
		um_buf_put(out, name.ptr, name.len);
		um_buf_puts(out, how->equals);
		um_buf_put(out, value.ptr, value.len);
		any = true;
		*is_ambiguous |= holds(name, how->equals)
			|| holds(name, how->separator)
			|| holds(value, how->separator);
	}
	return any;
}
