/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "console/calls.h"
#include "console/pages.h"
#include "console/session.h"
#include "console/table.h"

#define TERM_MAX 800 /* bytes; no row has a longer text that is searched */

static um_step found;

static struct um_str
term_of(const struct um_exchange *ex)
{
	return um_str_trim(um_form_get(&ex->form, "q"));
}

static const struct um_column columns[] = {
	{ UM_TEXT_CONSOLE_TIME, UM_COLUMN_TIME, "at" },
	{ UM_TEXT_CONSOLE_ELICITATION, UM_COLUMN_ID, "elicitation" },
	{ UM_TEXT_CONSOLE_FOUND_BY, UM_COLUMN_FOUND_BY, "found_by" },
	{ UM_TEXT_CONSOLE_PROVIDER, UM_COLUMN_PROVIDER, "provider" },
	{ UM_TEXT_CONSOLE_STATUS, UM_COLUMN_STATE, "status" },
	{ UM_TEXT_CONSOLE_USER, UM_COLUMN_TEXT, "subject" },
	{ UM_TEXT_CONSOLE_ITEM, UM_COLUMN_TEXT, "item" },
	{ UM_TEXT_CONSOLE_AMOUNT, UM_COLUMN_MONEY, "amount" },
	{ 0 },
};
static const struct um_table results = { NULL, UM_TEXT_CONSOLE_SEARCH,
	UM_TEXT_CONSOLE_NOT_FOUND, columns };

static void
put_found(const struct um_view *view, const json_t *rows)
{
	um_table_put(view, &results, rows, UM_CONSOLE_FOUND_MAX);
	if (json_array_size(rows) > UM_CONSOLE_FOUND_MAX)
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
		put_found(&view, rows);
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
