/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "console/calls.h"
#include "console/chart.h"
#include "console/lists.h"
#include "console/pages.h"
#include "console/session.h"
#include "console/view.h"
#include "core/timestamp.h"

#define HOUR_MS INT64_C(3600000)

static um_step read_overview;

enum um_refusal
um_console_overview_plan(const struct um_context *context,
	struct um_exchange *ex)
{
	enum um_refusal refusal = um_console_enter(context, ex);

	if (refusal == UM_REFUSAL_NONE && ex->own != NULL)
		um_exchange_request_call(ex, &um_console_overview_call, NULL,
			read_overview);
	return refusal;
}

/* A list: how many there are, and how long the oldest waits. */
static void
put_tile(const struct um_view *view, const json_t *row)
{
	const struct um_console_list *list = um_console_list_of(
		um_row_text(row, "what"));
	int64_t number = um_row_int(row, "number"), oldest;

	if (list == NULL)
		return;
	um_buf_cat(view->body, "<li><a class=\"", number != 0 ? "some" : "none",
		"\" href=\"", UM_CONSOLE_ROUTE, "list?what=", list->word,
		"\"><strong>");
	um_buf_int(view->body, number);
	um_buf_puts(view->body,
		um_row_is(row, "more") ? "+</strong>" : "</strong>");
	um_view_say(view, list->title);
	if (um_row_time(row, "oldest", &oldest)) {
		um_buf_puts(view->body, " <small>");
		um_view_say(view, UM_TEXT_CONSOLE_OLDEST);
		um_buf_puts(view->body, " ");
		um_view_age(view, oldest);
		um_buf_puts(view->body, "</small>");
	}
	um_buf_puts(view->body, "</a></li>\n");
}

static void
put_waiting(const struct um_view *view, const json_t *rows)
{
	um_buf_puts(view->body, "<section>\n");
	um_view_heading(view, "waiting", UM_TEXT_CONSOLE_WAITING);
	um_buf_puts(view->body,
		"<ul class=\"tiles\" role=\"list\" "
		"aria-labelledby=\"waiting\">\n");
	for (size_t i = 0; i < json_array_size(rows); i++)
		put_tile(view, json_array_get(rows, i));
	um_buf_puts(view->body, "</ul>\n</section>\n");
}

static const struct um_column check_columns[] = {
	{ UM_TEXT_CONSOLE_TIME, UM_COLUMN_TIME, "checked_at" },
	{ UM_TEXT_CONSOLE_HOST, UM_COLUMN_TEXT, "host" },
	{ UM_TEXT_CONSOLE_ERRORS, UM_COLUMN_NUMBER, "errors" },
	{ UM_TEXT_CONSOLE_WARNINGS, UM_COLUMN_NUMBER, "warnings" },
	{ 0 },
};
static const struct um_table checks = { "check", UM_TEXT_CONSOLE_CHECK,
	UM_TEXT_CONSOLE_NO_CHECK, check_columns };

static void
put_ended(const struct um_view *view, json_t *const *data)
{
	int64_t until;

	um_buf_puts(view->body, "<div class=\"halves\">\n");
	um_chart_put(view,
		&(struct um_chart){ "day", UM_TEXT_CONSOLE_DAY, data[1],
			HOUR_MS, 24 });
	um_chart_put(view,
		&(struct um_chart){ "month", UM_TEXT_CONSOLE_MONTH, data[2],
			24 * HOUR_MS, 30 });
	um_buf_puts(view->body, "</div>\n<p class=\"soft\">");
	um_view_say(view, UM_TEXT_CONSOLE_COUNTED);
	um_buf_puts(view->body, " ");
	if (um_timestamp_parse(&until,
		    (struct um_str){ json_string_value(data[3]),
			    json_string_length(data[3]) },
		    UM_TIMESTAMP_RFC3339))
		um_view_time(view, until);
	else
		um_buf_puts(view->body, "\xe2\x80\x93");
	um_buf_puts(view->body, "</p>\n");
}

static enum um_refusal
read_overview(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_console_read(ex, 5);
	struct um_view view;
	json_t *const *data;

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	data = um_console_of(ex)->data;
	view = um_view_begin(context, ex,
		(struct um_view_head){ .status = 200,
			.title = UM_TEXT_CONSOLE_OVERVIEW,
			.part = UM_CONSOLE_OVERVIEW });
	put_waiting(&view, data[0]);
	put_ended(&view, data);
	um_table_section(&view, &checks, data[4]);
	um_view_end(&view, ex);
	return UM_REFUSAL_NONE;
}
