/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "console/calls.h"
#include "console/csv.h"
#include "console/filters.h"
#include "console/lists.h"
#include "console/pages.h"
#include "console/session.h"
#include "console/view.h"
#include "http/escape.h"
#include "postgres/array.h"

#define ROWS_MAX 20 /* of a page */
#define CSV_MAX 1000

static um_step listed;

/* An empty filter is none. */
static void
put_filter(struct um_buf *args, struct um_str text)
{
	um_call_put_str(args, text.len != 0 ? text : (struct um_str){ 0 });
}

enum um_refusal
um_console_list_plan(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_console_enter(context, ex);
	bool csv = um_form_get(&ex->form, "format").len != 0;
	struct um_buf *args = &ex->op.args;
	struct um_filters filters;

	if (refusal != UM_REFUSAL_NONE || ex->own == NULL)
		return refusal;
	refusal = um_filters_read(&filters, context, ex);
	if (refusal == UM_REFUSAL_NONE) {
		um_exchange_request_call(ex, &um_console_list_call, NULL,
			listed);
		um_call_put_str(args, filters.what);
		put_filter(args, filters.provider);
		put_filter(args, filters.tenant);
		um_call_put_time(args, filters.since_us,
			filters.since.len != 0);
		um_call_put_time(args, filters.until_us,
			filters.until.len != 0);
		put_filter(args, um_buf_str(&filters.after));
		um_call_put_int(args, (csv ? CSV_MAX : ROWS_MAX) + 1, true);
		args->failed |= filters.after.failed;
	}
	um_buf_free(&filters.after);
	return refusal;
}

/* The other lists. */
static void
put_tabs(const struct um_view *view, const struct um_console_list *list)
{
	um_buf_puts(view->body, "<nav aria-label=\"");
	um_view_say(view, UM_TEXT_CONSOLE_LISTS);
	um_buf_puts(view->body, "\">\n");
	for (size_t i = 0; i < UM_CONSOLE_LISTS_LEN; i++) {
		um_buf_cat(view->body, "<a href=\"", UM_CONSOLE_ROUTE,
			"list?what=", um_console_lists[i].word,
			&um_console_lists[i] == list
				? "\" aria-current=\"page\">"
				: "\">");
		um_view_say(view, um_console_lists[i].title);
		um_buf_puts(view->body, "</a>\n");
	}
	um_buf_puts(view->body, "</nav>\n");
}

static void
put_field(const struct um_view *view, enum um_text label, const char *name,
	const char *type, struct um_str value)
{
	um_buf_puts(view->body, "<label>");
	um_view_say(view, label);
	um_buf_cat(view->body, "<input type=\"", type, "\" name=\"", name,
		"\" value=\"");
	um_escape_html_attr(view->body, value);
	um_buf_puts(view->body, "\"></label>\n");
}

static void
put_filters(const struct um_view *view, const struct um_filters *filters)
{
	um_buf_puts(view->body,
		"<form action=\"" UM_CONSOLE_ROUTE
		"list\">\n<input type=\"hidden\" name=\"what\" value=\"");
	um_escape_html_attr(view->body, filters->what);
	um_buf_puts(view->body, "\">\n");
	put_field(view, UM_TEXT_CONSOLE_PROVIDER, "provider", "text",
		filters->provider);
	put_field(view, UM_TEXT_CONSOLE_TENANT, "tenant", "text",
		filters->tenant);
	put_field(view, UM_TEXT_CONSOLE_SINCE, "since", "date", filters->since);
	put_field(view, UM_TEXT_CONSOLE_BEFORE, "until", "date",
		filters->until);
	um_buf_puts(view->body, "<button>");
	um_view_say(view, UM_TEXT_CONSOLE_FILTER);
	um_buf_puts(view->body, "</button>\n</form>\n");
}

/* A link to a list, which goes on after this cursor; `more` is added to it. */
static bool
put_link(const struct um_view *view, const struct um_context *context,
	const struct um_filters *filters, struct um_str cursor,
	const char *more, enum um_text text)
{
	struct um_buf address = { 0 };
	bool ok = um_filters_put(&address, context, filters, cursor);

	um_buf_puts(view->body, "<a class=\"button\" href=\"");
	um_escape_html_attr(view->body, um_buf_str(&address));
	um_buf_cat(view->body, more, "\">");
	um_view_say(view, text);
	um_buf_puts(view->body, "</a>\n");
	view->body->failed |= address.failed;
	um_buf_free(&address);
	return ok;
}

static bool
put_ways_on(const struct um_view *view, const struct um_context *context,
	const struct um_filters *filters, struct um_str next)
{
	const struct um_str begin = { 0 };
	bool ok = true;

	um_buf_puts(view->body, "<p class=\"go\">");
	if (filters->after.len != 0)
		ok = put_link(view, context, filters, begin, "",
			UM_TEXT_CONSOLE_FIRST);
	if (next.len != 0)
		ok = put_link(view, context, filters, next, "",
			     UM_TEXT_CONSOLE_NEXT)
			&& ok;
	ok = put_link(view, context, filters, begin, "&amp;format=csv",
		     UM_TEXT_CONSOLE_CSV)
		&& ok;
	um_buf_puts(view->body, "</p>\n");
	return ok;
}

static bool
put_page(const struct um_context *context, struct um_exchange *ex,
	const struct um_filters *filters, const json_t *rows)
{
	const struct um_console_list *list = um_console_list_of(filters->what);
	struct um_view view = um_view_begin(context, ex,
		(struct um_view_head){ .status = 200,
			.title = list->title,
			.part = UM_CONSOLE_LISTS });
	struct um_str next = { 0 };
	bool ok;

	if (json_array_size(rows) > ROWS_MAX)
		next = um_row_text(json_array_get(rows, ROWS_MAX - 1),
			"cursor");
	put_tabs(&view, list);
	um_buf_puts(view.body, "<section>\n");
	um_view_paragraph(&view, "soft", list->help);
	put_filters(&view, filters);
	um_buf_puts(view.body, "</section>\n<section>\n");
	um_table_put(&view,
		&(struct um_table){ .title = list->title,
			.none = UM_TEXT_CONSOLE_NOTHING,
			.columns = list->columns },
		rows, ROWS_MAX);
	ok = put_ways_on(&view, context, filters, next);
	um_buf_puts(view.body, "</section>\n");
	um_view_end(&view, ex);
	return ok;
}

/* Of more rows, the header Link has the address of the others (RFC 8288). */
static bool
put_csv(const struct um_context *context, struct um_exchange *ex,
	const struct um_filters *filters, const json_t *rows)
{
	struct um_buf link = { 0 };
	bool ok = true;

	ex->answer = UM_ANSWER_WRITTEN;
	ex->response.status = 200;
	ex->response.content_type = "text/csv; charset=utf-8; header=present";
	um_response_header(&ex->response, "Content-Disposition",
		um_str("attachment; filename=\"urlmode.csv\""));
	if (json_array_size(rows) > CSV_MAX) {
		um_buf_puts(&link, "<");
		ok = um_filters_put(&link, context, filters,
			um_row_text(json_array_get(rows, CSV_MAX - 1),
				"cursor"));
		um_buf_puts(&link, "&format=csv>; rel=\"next\"");
		um_response_header(&ex->response, "Link", um_buf_str(&link));
	}
	um_csv_put(&ex->response.body, um_console_list_of(filters->what), rows,
		CSV_MAX);
	ex->response.headers.failed |= link.failed;
	um_buf_free(&link);
	return ok;
}

static enum um_refusal
listed(const struct um_context *context, struct um_exchange *ex)
{
	bool csv = um_form_get(&ex->form, "format").len != 0;
	enum um_refusal refusal = um_console_read(ex, 1);
	struct um_filters filters;
	const json_t *rows;

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	rows = um_console_of(ex)->data[0];
	refusal = um_filters_read(&filters, context, ex);
	if (refusal == UM_REFUSAL_NONE
		&& !(csv ? put_csv(context, ex, &filters, rows)
			 : put_page(context, ex, &filters, rows)))
		refusal = UM_REFUSAL_INTERNAL_ERROR;
	um_buf_free(&filters.after);
	return refusal;
}
