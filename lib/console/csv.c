/* SPDX-License-Identifier: MIT */
#include "console/csv.h"

#include <stdio.h>
#include <string.h>

#include "console/view.h"
#include "webhook/amount.h"

/* U+FF0B, U+FF0D, U+FF1D and U+FF20 are the wide forms. */
static bool
begins_formula(struct um_str text)
{
	static const char *const wide[] = { "\xef\xbc\x8b", "\xef\xbc\x8d",
		"\xef\xbc\x9d", "\xef\xbc\xa0" };

	while (text.len != 0
		&& ((unsigned char)text.ptr[0] <= ' ' || text.ptr[0] == '"')) {
		text.ptr++;
		text.len--;
	}
	if (text.len != 0 && strchr("=+-@|", text.ptr[0]) != NULL)
		return true;
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (text.len >= 3 && memcmp(text.ptr, wide[i], 3) == 0)
			return true;
	return false;
}

/* U+202A to U+202E, U+2066 to U+2069. */
static bool
turns_text(struct um_str text)
{
	const unsigned char *p = (const unsigned char *)text.ptr;

	return text.len >= 3 && p[0] == 0xe2
		&& ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae)
			|| (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

void
um_csv_put_field(struct um_buf *out, struct um_str text)
{
	um_buf_puts(out, begins_formula(text) ? "\"'" : "\"");
	for (; text.len != 0; text.ptr++, text.len--) {
		if (turns_text(text)) {
			um_buf_puts(out, "\xef\xbf\xbd");
			text.ptr += 2;
			text.len -= 2;
		} else if (text.ptr[0] == ';'
			&& begins_formula((
				struct um_str){ text.ptr + 1, text.len - 1 })) {
			/* Where lists are separated so, the quotes do not count. */
			um_buf_puts(out, ";'");
		} else if (text.ptr[0] == '"') {
			um_buf_puts(out, "\"\"");
		} else if ((unsigned char)text.ptr[0] < ' '
			|| text.ptr[0] == 0x7f) {
			um_buf_puts(out, " ");
		} else {
			um_buf_put(out, text.ptr, 1);
		}
	}
	um_buf_puts(out, "\"");
}

static void
put_value(struct um_buf *out, const struct um_column *column, const json_t *row)
{
	const json_t *value = json_object_get(row, column->key);
	char currency[4], amount[UM_AMOUNT_LEN + 1];

	if (!json_is_integer(value)) {
		um_csv_put_field(out, um_row_text(row, column->key));
	} else if (column->type == UM_COLUMN_MONEY
		&& json_integer_value(value) >= 0
		&& um_amount_parse_currency(currency,
			um_row_text(row, "currency"))) {
		um_amount_format(amount, json_integer_value(value), currency);
		um_buf_puts(out, amount);
	} else {
		um_buf_int(out, json_integer_value(value));
	}
}

/* The currency stands behind the last amount. */
static bool
has_money(const struct um_console_list *list)
{
	for (const struct um_column *c = list->columns; c->key != NULL; c++)
		if (c->type == UM_COLUMN_MONEY)
			return true;
	return false;
}

void
um_csv_put(struct um_buf *out, const struct um_console_list *list,
	const json_t *rows, size_t most)
{
	bool money = has_money(list);
	size_t len = json_array_size(rows);

	for (const struct um_column *c = list->columns; c->key != NULL; c++)
		um_buf_cat(out, c != list->columns ? "," : "", c->key);
	um_buf_puts(out, money ? ",currency\r\n" : "\r\n");
	for (size_t i = 0; i < len && i < most; i++) {
		const json_t *row = json_array_get(rows, i);

		for (const struct um_column *c = list->columns; c->key != NULL;
			c++) {
			if (c != list->columns)
				um_buf_puts(out, ",");
			put_value(out, c, row);
		}
		if (money) {
			um_buf_puts(out, ",");
			um_csv_put_field(out, um_row_text(row, "currency"));
		}
		um_buf_puts(out, "\r\n");
	}
}
