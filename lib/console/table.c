/* SPDX-License-Identifier: MIT */
#include "console/table.h"

#include <stdint.h>

static enum um_text
found_by(struct um_str word)
{
	static const struct {
		const char *word;
		enum um_text text;
	} all[] = {
		{ "id", UM_TEXT_CONSOLE_BY_ID },
		{ "subject", UM_TEXT_CONSOLE_USER },
		{ "item", UM_TEXT_CONSOLE_ITEM },
		{ "reference", UM_TEXT_CONSOLE_REFERENCE },
		{ "checkout", UM_TEXT_CONSOLE_CHECKOUT },
		{ "request", UM_TEXT_CONSOLE_REQUEST },
		{ "unknown", UM_TEXT_CONSOLE_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (um_str_is(word, all[i].word))
			return all[i].text;
	return UM_TEXT_CONSOLE_UNREADABLE;
}

static void
put_time(const struct um_view *view, const json_t *row, const char *key)
{
	int64_t ms;

	if (um_row_time(row, key, &ms))
		um_view_time(view, ms);
	if (um_row_is(row, "late"))
		um_buf_puts(view->body, " <code>late</code>");
}

static void
put_money(const struct um_view *view, const json_t *row, const char *key)
{
	struct um_str currency = um_row_text(row, "currency");

	if (currency.len != 0)
		um_view_amount(view, um_row_int(row, key), currency);
}

/* "completed accept", or what was refused. */
static void
put_state(const struct um_view *view, const json_t *row)
{
	static const char *const keys[] = { "status", "action", "reason" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		um_view_code(view, um_row_text(row, keys[i]));
		um_buf_puts(view->body, " ");
	}
}

static void
put_value(const struct um_view *view, const struct um_column *column,
	const json_t *row)
{
	struct um_str text = um_row_text(row, column->key);

	switch (column->type) {
	case UM_COLUMN_TEXT:
		if (text.len != 0)
			um_view_put(view, text, UM_CONSOLE_CELL);
		break;
	case UM_COLUMN_CODE:
		um_view_code(view, text);
		break;
	case UM_COLUMN_TIME:
		put_time(view, row, column->key);
		break;
	case UM_COLUMN_ID:
		um_view_id(view, text);
		break;
	case UM_COLUMN_PROVIDER:
		um_view_provider(view, text);
		break;
	case UM_COLUMN_NUMBER:
		um_buf_int(view->body, um_row_int(row, column->key));
		break;
	case UM_COLUMN_MONEY:
		put_money(view, row, column->key);
		break;
	case UM_COLUMN_STATE:
		put_state(view, row);
		break;
	case UM_COLUMN_FOUND_BY:
		um_view_say(view, found_by(text));
		break;
	}
}

static bool
is_number(const struct um_column *column)
{
	return column->type == UM_COLUMN_NUMBER
		|| column->type == UM_COLUMN_MONEY;
}

static void
put_row(const struct um_view *view, const struct um_column *columns,
	const json_t *row)
{
	um_buf_puts(view->body, "<tr>");
	for (const struct um_column *c = columns; c->key != NULL; c++) {
		um_buf_puts(view->body,
			is_number(c) ? "<td class=\"n\">" : "<td>");
		put_value(view, c, row);
		um_buf_puts(view->body, "</td>");
	}
	um_buf_puts(view->body, "</tr>\n");
}

void
um_table_put(const struct um_view *view, const struct um_table *table,
	const json_t *rows, size_t most)
{
	size_t len = json_array_size(rows);

	if (len == 0) {
		um_view_paragraph(view, "soft", table->none);
		return;
	}
	um_view_table(view, table->title, UM_TEXT_COUNT);
	for (const struct um_column *c = table->columns; c->key != NULL; c++)
		um_view_column(view, c->title, is_number(c));
	um_view_table_body(view);
	for (size_t i = 0; i < len && i < most; i++)
		put_row(view, table->columns, json_array_get(rows, i));
	um_view_table_end(view);
}

void
um_table_section(const struct um_view *view, const struct um_table *table,
	const json_t *rows)
{
	um_buf_puts(view->body, "<section>\n");
	um_view_heading(view, table->id, table->title);
	um_table_put(view, table, rows, SIZE_MAX);
	um_buf_puts(view->body, "</section>\n");
}
