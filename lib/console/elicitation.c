/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "console/actions.h"
#include "console/calls.h"
#include "console/pages.h"
#include "console/session.h"
#include "console/table.h"
#include "console/timeline.h"
#include "core/uuid.h"
#include "postgres/array.h"

static um_step read_elicitation;

enum um_refusal
um_console_elicitation_plan(const struct um_context *context,
	struct um_exchange *ex)
{
	enum um_refusal refusal = um_console_enter(context, ex);
	uint8_t id[UM_UUID_LEN];

	if (refusal != UM_REFUSAL_NONE || ex->own == NULL)
		return refusal;
	if (!um_uuid_parse(id, um_form_get(&ex->form, "id")))
		return UM_REFUSAL_FILTER_INVALID;
	um_exchange_request_call(ex, &um_console_elicitation_call, id,
		read_elicitation);
	um_array_put(&ex->op.args, id, sizeof(id));
	return UM_REFUSAL_NONE;
}

static void
put_time_row(const struct um_view *view, enum um_text name, const json_t *row,
	const char *key)
{
	int64_t ms;

	if (!um_row_time(row, key, &ms))
		return;
	um_view_row(view, name);
	um_view_time(view, ms);
	um_view_row_end(view);
}

static void
put_price(const struct um_view *view, const json_t *expected)
{
	struct um_str currency = um_row_text(expected, "currency");

	if (currency.len == 0)
		return;
	um_view_row(view, UM_TEXT_CONSOLE_PRICE);
	if (json_is_integer(json_object_get(expected, "amount")))
		um_view_amount(view, um_row_int(expected, "amount"), currency);
	else
		um_view_code(view, currency);
	um_buf_puts(view->body, " ");
	um_view_code(view, um_row_text(expected, "match"));
	um_view_row_end(view);
}

/* What was paid, of each currency one sum. */
static void
put_paid(const struct um_view *view, const json_t *payments)
{
	for (size_t i = 0; i < json_array_size(payments); i++) {
		const json_t *payment = json_array_get(payments, i);
		um_view_row(view, UM_TEXT_CONSOLE_PAID);
		um_view_amount(view, um_row_int(payment, "amount"),
			um_row_text(payment, "currency"));
		if (um_row_is(payment, "late"))
			um_buf_puts(view->body, " <code>late</code>");
		if (um_row_int(payment, "refunded") != 0) {
			um_buf_puts(view->body, "<br>");
			um_view_say(view, UM_TEXT_CONSOLE_GONE_BACK);
			um_buf_puts(view->body, ": ");
			um_view_amount(view, um_row_int(payment, "refunded"),
				um_row_text(payment, "currency"));
		}
		um_buf_puts(view->body, "<br><small>");
		um_view_put(view, um_row_text(payment, "reference"),
			UM_CONSOLE_CELL);
		um_buf_puts(view->body, "</small>");
		um_view_row_end(view);
	}
}

static void
put_state(const struct um_view *view, const json_t *row)
{
	static const char *const keys[] = { "status", "action", "reason" };

	um_view_row(view, UM_TEXT_CONSOLE_STATUS);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct um_str text = um_row_text(row, keys[i]);

		if (text.len == 0)
			continue;
		um_buf_puts(view->body, "<span class=\"pill\">");
		um_view_code(view, text);
		um_buf_puts(view->body, "</span> ");
	}
	um_view_row_end(view);
}

/* `provider` of what was deleted is that of its payment. */
static void
put_summary(const struct um_view *view, const json_t *row,
	const json_t *payments, struct um_str id)
{
	const json_t *of = json_is_null(row) ? json_array_get(payments, 0)
					     : row;

	um_buf_puts(view->body, "<section>\n<dl>\n");
	um_view_row(view, UM_TEXT_CONSOLE_ELICITATION);
	um_view_code(view, id);
	um_view_row_end(view);
	if (!json_is_null(row))
		put_state(view, row);
	um_view_row(view, UM_TEXT_CONSOLE_PROVIDER);
	um_view_provider(view, um_row_text(of, "provider"));
	um_buf_puts(view->body, " ");
	um_view_code(view, um_row_text(row, "kind"));
	um_view_row_end(view);
	um_view_text_row(view, UM_TEXT_CONSOLE_USER,
		um_row_text(row, "subject"));
	um_view_text_row(view, UM_TEXT_CONSOLE_REQUESTER,
		um_row_text(row, "requester"));
	um_view_text_row(view, UM_TEXT_CONSOLE_TENANT,
		um_row_text(row, "tenant"));
	um_view_text_row(view, UM_TEXT_CONSOLE_ITEM, um_row_text(row, "item"));
	put_price(view, json_object_get(row, "expected"));
	put_paid(view, payments);
	put_time_row(view, UM_TEXT_CONSOLE_CREATED, row, "created_at");
	put_time_row(view, UM_TEXT_CONSOLE_EXPIRES, row, "expires_at");
	um_buf_puts(view->body, "</dl>\n</section>\n");
}

static const struct um_column subscription_columns[] = {
	{ UM_TEXT_CONSOLE_REFERENCE, UM_COLUMN_TEXT, "subscription" },
	{ UM_TEXT_CONSOLE_STATUS, UM_COLUMN_CODE, "status" },
	{ UM_TEXT_CONSOLE_UNTIL, UM_COLUMN_TIME, "until" },
	{ 0 },
};
static const struct um_table subscriptions = { "subscriptions",
	UM_TEXT_CONSOLE_SUBSCRIPTIONS, UM_TEXT_CONSOLE_NOTHING,
	subscription_columns };

static enum um_refusal
read_elicitation(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_console_read(ex, 4);
	json_t *const *data;
	struct um_view view;

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	data = um_console_of(ex)->data;
	if (json_is_null(data[0]) && json_array_size(data[1]) == 0) {
		um_buf_puts(&ex->way_on, UM_CONSOLE_ROUTE "search");
		return UM_REFUSAL_UNKNOWN_HERE;
	}
	view = um_view_begin(context, ex,
		(struct um_view_head){ .status = 200,
			.title = UM_TEXT_CONSOLE_ELICITATION,
			.part = UM_CONSOLE_NO_PART });
	um_actions_put_done(&view, um_form_get(&ex->form, "done"), data[3],
		ex->user);
	put_summary(&view, data[0], data[1], um_form_get(&ex->form, "id"));
	um_advice_put(&view, data[0], data[1]);
	um_actions_put_links(&view, data[1], um_form_get(&ex->form, "id"));
	um_timeline_put(&view, data[3]);
	if (json_array_size(data[2]) != 0)
		um_table_section(&view, &subscriptions, data[2]);
	um_view_end(&view, ex);
	return UM_REFUSAL_NONE;
}
