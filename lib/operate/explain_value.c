/* SPDX-License-Identifier: MIT */
#include "operate/explain_value.h"

#include <stdlib.h>

/* Where a value is found, as its description says it. */
static void
put_place(struct um_buf *out, const json_t *place)
{
	char *text = json_dumps(place, JSON_ENCODE_ANY);

	um_buf_puts(out, text != NULL ? text : "");
	free(text);
}

static void
put_shown(struct um_buf *out, struct um_str text)
{
	for (size_t i = 0; i < text.len && i < UM_EXPLAIN_VALUE_MAX; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c == '\n')
			um_buf_puts(out, "\\n");
		else if (c == '\r')
			um_buf_puts(out, "\\r");
		else if (c < ' ' || c == 0x7f)
			um_buf_printf(out, "\\x%02x", c);
		else
			um_buf_put(out, text.ptr + i, 1);
	}
	if (text.len > UM_EXPLAIN_VALUE_MAX)
		um_buf_printf(out, " … (%zu bytes)", text.len);
}

static const json_t * /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
found_place(const struct um_expr *expr, const json_t *place,
	const struct um_source *source)
{
	if (expr->kind != UM_EXPR_FIRST)
		return place;
	for (size_t i = 0; i < expr->parts_len; i++) {
		struct um_value value;
		enum um_found found = um_expr_eval(&expr->parts[i], source,
			&value);

		um_value_free(&value);
		if (found != UM_ABSENT)
			return found_place(&expr->parts[i],
				json_array_get(json_object_get(place, "first"),
					i),
				source);
	}
	return place;
}

void
um_explain_value(struct um_buf *out, const char *key,
	const struct um_expr *expr, const json_t *place,
	const struct um_source *source)
{
	struct um_value value;
	enum um_found found;

	if (expr->kind == UM_EXPR_NONE)
		return;
	found = um_expr_eval(expr, source, &value);
	um_buf_printf(out, "  %-12s ", key);
	if (found == UM_FOUND)
		put_shown(out, value.text);
	else
		um_buf_puts(out,
			found == UM_ABSENT ? "(absent)" : "(not readable)");
	um_buf_puts(out, "  <- ");
	put_place(out, found_place(expr, place, source));
	um_buf_puts(out, "\n");
	um_value_free(&value);
}
