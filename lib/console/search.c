/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "console/calls.h"
#include "console/pages.h"
#include "console/session.h"
#include "console/view.h"

#define TERM_MAX 800 /* bytes; no row has a longer text that is searched */

static um_step found;

static struct um_str
term_of(const struct um_exchange *ex)
{
	return um_str_trim(um_form_get(&ex->form, "q"));
}

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

/* "payment, completed: accept", or what was refused. */
static void
put_state(const struct um_view *view, const json_t *row)
{
	static const char *const keys[] = { "status", "action", "reason" };

	um_buf_puts(view->body, "<td>");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		um_view_code(view, um_row_text(row, keys[i]));
		um_buf_puts(view->body, " ");
	}
	um_buf_puts(view->body, "</td>");
}

static void
put_row(const struct um_view *view, const json_t *row)
{
	int64_t ms;

	um_buf_puts(view->body, "<tr><td>");
	if (um_row_time(row, "at", &ms))
		um_view_time(view, ms);
	um_buf_puts(view->body, "<br>");
	um_view_id(view, um_row_text(row, "elicitation"));
	um_buf_puts(view->body, "</td><td>");
	um_view_say(view, found_by(um_row_text(row, "found_by")));
	um_buf_puts(view->body, "</td><td>");
	um_view_provider(view, um_row_text(row, "provider"));
	um_buf_puts(view->body, "</td>");
	put_state(view, row);
	um_view_cell(view, um_row_text(row, "subject"));
	um_view_cell(view, um_row_text(row, "item"));
	um_buf_puts(view->body, "<td class=\"n\">");
	if (um_row_text(row, "currency").len != 0)
		um_view_amount(view, um_row_int(row, "amount"),
			um_row_text(row, "currency"));
	um_buf_puts(view->body, "</td></tr>\n");
}

static void
put_rows(const struct um_view *view, const json_t *rows)
{
	static const enum um_text columns[] = { UM_TEXT_CONSOLE_ELICITATION,
		UM_TEXT_CONSOLE_FOUND_BY, UM_TEXT_CONSOLE_PROVIDER,
		UM_TEXT_CONSOLE_STATUS, UM_TEXT_CONSOLE_USER,
		UM_TEXT_CONSOLE_ITEM, UM_TEXT_CONSOLE_AMOUNT, UM_TEXT_COUNT };
	size_t len = json_array_size(rows);

	if (len == 0) {
		um_view_paragraph(view, "", UM_TEXT_CONSOLE_NOT_FOUND);
		return;
	}
	um_view_table(view, UM_TEXT_CONSOLE_SEARCH, columns);
	for (size_t i = 0; i < len && i < UM_CONSOLE_FOUND_MAX; i++)
		put_row(view, json_array_get(rows, i));
	um_view_table_end(view);
	if (len > UM_CONSOLE_FOUND_MAX)
		um_view_paragraph(view, "note warn",
			UM_TEXT_CONSOLE_FOUND_MORE);
}

/* `rows` NULL: nothing was searched for. */
static void
put_page(const struct um_context *context, struct um_exchange *ex,
	const json_t *rows)
{
	struct um_view view = um_view_begin(context, ex,
		(struct um_view_head){ .status = 200,
			.title = UM_TEXT_CONSOLE_SEARCH,
			.part = UM_CONSOLE_NO_PART,
			.search = term_of(ex) });

	um_buf_puts(view.body, "<section>\n");
	um_view_paragraph(&view, "soft", UM_TEXT_CONSOLE_SEARCH_HELP);
	if (rows != NULL)
		put_rows(&view, rows);
	um_buf_puts(view.body, "</section>\n");
	um_view_end(&view, ex);
}

enum um_refusal
um_console_search_plan(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_console_enter(context, ex);
	struct um_str term = term_of(ex);
	json_t *none;

	if (refusal != UM_REFUSAL_NONE || ex->own == NULL)
		return refusal;
	if (term.len != 0 && term.len <= TERM_MAX) {
		um_exchange_request_call(ex, &um_console_search_call, NULL,
			found);
		um_call_put_str(&ex->op.args, term);
		return UM_REFUSAL_NONE;
	}
	none = term.len == 0 ? NULL : json_array();
	put_page(context, ex, none);
	json_decref(none);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
found(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_console_read(ex, 1);

	if (refusal == UM_REFUSAL_NONE)
		put_page(context, ex, um_console_of(ex)->data[0]);
	return refusal;
}
