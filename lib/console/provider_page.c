/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "config/console.h"
#include "console/calls.h"
#include "console/chart.h"
#include "console/filters.h"
#include "console/pages.h"
#include "console/session.h"
#include "console/table.h"

#define DAY_MS INT64_C(86400000)

static um_step read_provider;

enum um_refusal
um_console_provider_plan(const struct um_context *context,
	struct um_exchange *ex)
{
	static const char *const names[] = { "name", NULL };
	enum um_refusal refusal = um_console_enter(context, ex);
	struct um_str name = um_form_get(&ex->form, "name");

	if (refusal != UM_REFUSAL_NONE || ex->own == NULL)
		return refusal;
	if (!um_fields_are(&ex->form, names)
		|| name.len > UM_CONSOLE_FILTER_MAX)
		return UM_REFUSAL_FILTER_INVALID;
	um_exchange_request_call(ex, &um_console_provider_call, NULL,
		read_provider);
	um_call_put_str(&ex->op.args,
		name.len != 0 ? name : (struct um_str){ 0 });
	return UM_REFUSAL_NONE;
}

static void
put_names(const struct um_view *view, const json_t *names)
{
	size_t from = view->body->len;

	if (json_array_size(names) == 0) {
		um_view_paragraph(view, "", UM_TEXT_CONSOLE_NOTHING);
		return;
	}
	um_buf_puts(view->body, "<ul class=\"tiles\" role=\"list\">\n");
	for (size_t i = 0; i < json_array_size(names); i++) {
		const json_t *row = json_array_get(names, i);
		if (view->body->len - from > 20000)
			break;
		um_buf_puts(view->body, "<li>");
		um_view_provider(view, um_row_text(row, "provider"));
		um_buf_puts(view->body, "</li>\n");
	}
	um_buf_puts(view->body, "</ul>\n");
}

static void
put_time(const struct um_view *view, enum um_text name, const json_t *row,
	const char *key)
{
	int64_t ms;

	um_view_row(view, name);
	if (um_row_time(row, key, &ms)) {
		um_view_time(view, ms);
		um_buf_puts(view->body, " <small>");
		um_view_age(view, ms);
		um_buf_puts(view->body, "</small>");
	} else {
		um_buf_puts(view->body, "\xe2\x80\x93");
	}
	um_view_row_end(view);
}

static void
put_summary(const struct um_view *view, const struct um_config *config,
	struct um_str name, const json_t *row)
{
	const char *day = um_config_compared(config, name);

	um_buf_puts(view->body, "<section>\n<dl>\n");
	um_view_text_row(view, UM_TEXT_CONSOLE_PROVIDER, name);
	put_time(view, UM_TEXT_CONSOLE_LAST_DELIVERY, row, "last_delivery_at");
	um_view_row(view, UM_TEXT_CONSOLE_TYPE);
	um_view_code(view, um_row_text(row, "last_type"));
	um_buf_puts(view->body, " ");
	um_view_code(view, um_row_text(row, "last_action"));
	um_view_row_end(view);
	put_time(view, UM_TEXT_CONSOLE_LAST_REFUSED, row, "last_refused_at");
	put_time(view, UM_TEXT_CONSOLE_LAST_UNKNOWN, row, "last_unknown_at");
	um_view_row(view, UM_TEXT_CONSOLE_COMPARED);
	um_buf_puts(view->body, day != NULL ? day : "\xe2\x80\x93");
	um_view_row_end(view);
	um_buf_puts(view->body, "</dl>\n");
	um_view_paragraph(view, "soft", UM_TEXT_CONSOLE_SIGNATURES);
	um_buf_puts(view->body, "</section>\n");
}

static const struct um_column event_columns[] = {
	{ UM_TEXT_CONSOLE_TYPE, UM_COLUMN_CODE, "type" },
	{ UM_TEXT_CONSOLE_VERDICT, UM_COLUMN_CODE, "action" },
	{ UM_TEXT_CONSOLE_NUMBER, UM_COLUMN_NUMBER, "number" },
	{ UM_TEXT_CONSOLE_TIME, UM_COLUMN_TIME, "last_at" },
	{ 0 },
};
static const struct um_table events = { "events", UM_TEXT_CONSOLE_EVENTS,
	UM_TEXT_CONSOLE_NOTHING, event_columns };

static const struct um_column refusal_columns[] = {
	{ UM_TEXT_CONSOLE_REASON, UM_COLUMN_CODE, "reason" },
	{ UM_TEXT_CONSOLE_NUMBER, UM_COLUMN_NUMBER, "times" },
	{ UM_TEXT_CONSOLE_TIME, UM_COLUMN_TIME, "last_seen_at" },
	{ 0 },
};
static const struct um_table refusals = { "refusals", UM_TEXT_CONSOLE_REFUSALS,
	UM_TEXT_CONSOLE_NOTHING, refusal_columns };

static enum um_refusal
read_provider(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_console_read(ex, 5);
	struct um_str name = um_form_get(&ex->form, "name");
	json_t *const *data;
	struct um_view view;

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	data = um_console_of(ex)->data;
	view = um_view_begin(context, ex,
		(struct um_view_head){ .status = 200,
			.title = UM_TEXT_CONSOLE_PROVIDERS,
			.part = UM_CONSOLE_PROVIDERS });
	if (name.len == 0) {
		um_buf_puts(view.body, "<section>\n");
		put_names(&view, data[0]);
		um_buf_puts(view.body, "</section>\n");
	} else {
		put_summary(&view, context->config, name, data[1]);
		um_chart_put(&view,
			&(struct um_chart){ "month", UM_TEXT_CONSOLE_MONTH,
				data[2], DAY_MS, 30 });
		um_table_section(&view, &events, data[3]);
		um_table_section(&view, &refusals, data[4]);
	}
	um_view_end(&view, ex);
	return UM_REFUSAL_NONE;
}
