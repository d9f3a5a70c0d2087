/* SPDX-License-Identifier: MIT */
/* The fields of a form or a query, sorted by name and put together. */
#include <stdlib.h>
#include <string.h>

#include "webhook/expr.h"

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

/* The fields as they were sent; they were parsed, so they all fit. */
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

		/* Nothing at all, as in `a&&b`, and `=`, are no fields. */
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
holds(struct um_str text, const char *mark)
{
	return mark[0] != '\0' && text.len != 0
		&& memmem(text.ptr, text.len, mark, strlen(mark)) != NULL;
}

enum um_found
um_expr_eval_sorted(const struct um_expr *value,
	struct um_parsed_delivery *parsed, struct um_buf *out)
{
	bool query = value->kind == UM_EXPR_SORTED_QUERY;
	const struct um_form *form = query ? um_delivery_query(parsed)
					   : um_delivery_form(parsed);
	const struct um_expr_sorted *how = &value->sorted;
	struct um_field field[UM_FORM_FIELDS_MAX];
	bool any = false;
	size_t len;

	if (form == NULL)
		return UM_BAD;
	if (how->as_sent) {
		len = split_raw(field,
			query ? parsed->delivery->query
			      : parsed->delivery->body);
	} else {
		len = form->len;
		memcpy(field, form->field, len * sizeof(field[0]));
	}
	qsort(field, len, sizeof(field[0]), compare);
	for (size_t i = 0; i < len; i++) {
		if (um_strlist_has(&value->names, field[i].name))
			continue;
		if (any)
			um_buf_puts(out, how->between);
		um_buf_put(out, field[i].name.ptr, field[i].name.len);
		um_buf_puts(out, how->equals);
		um_buf_put(out, field[i].value.ptr, field[i].value.len);
		any = true;
		if (holds(field[i].name, how->equals)
			|| holds(field[i].name, how->between)
			|| holds(field[i].value, how->between))
			parsed->ambiguous = true;
	}
	return any ? UM_FOUND : UM_ABSENT;
}
