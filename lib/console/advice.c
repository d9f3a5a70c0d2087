/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "console/timeline.h"

/* What one can do, in the order in which it is said; each once. */
enum advice {
	HELD,
	WRONG,
	VOIDED,
	UNCLAIMED,
	RUNS,
	FULFILLED,
	DELIVERED,
	GONE_BACK,
	DELETED,
	PENDING,
	OPENED,
	APPROVAL,
	PROCESSING,
	DECLINED,
	EXPIRED,
	FAILED,
	NOT_CONNECTED,
	ACCEPTED,
	ADVICE_COUNT,
};

static const enum um_text texts[] = {
	[HELD] = UM_TEXT_CONSOLE_DO_HELD,
	[WRONG] = UM_TEXT_CONSOLE_DO_WRONG,
	[VOIDED] = UM_TEXT_CONSOLE_DO_VOIDED,
	[UNCLAIMED] = UM_TEXT_CONSOLE_DO_UNCLAIMED,
	[RUNS] = UM_TEXT_CONSOLE_DO_RUNS,
	[FULFILLED] = UM_TEXT_CONSOLE_DO_FULFILLED,
	[DELIVERED] = UM_TEXT_CONSOLE_DO_DELIVERED,
	[GONE_BACK] = UM_TEXT_CONSOLE_DO_GONE_BACK,
	[DELETED] = UM_TEXT_CONSOLE_DO_DELETED,
	[PENDING] = UM_TEXT_CONSOLE_DO_PENDING,
	[OPENED] = UM_TEXT_CONSOLE_DO_OPENED,
	[APPROVAL] = UM_TEXT_CONSOLE_DO_APPROVAL,
	[PROCESSING] = UM_TEXT_CONSOLE_DO_PROCESSING,
	[DECLINED] = UM_TEXT_CONSOLE_DO_DECLINED,
	[EXPIRED] = UM_TEXT_CONSOLE_DO_EXPIRED,
	[FAILED] = UM_TEXT_CONSOLE_DO_FAILED,
	[NOT_CONNECTED] = UM_TEXT_CONSOLE_DO_NOT_CONNECTED,
	[ACCEPTED] = UM_TEXT_CONSOLE_DO_ACCEPTED,
};

static bool
is_there(const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);

	return value != NULL && !json_is_null(value);
}

static enum advice
of_payment(const json_t *payment, int64_t now_ms)
{
	int64_t leased = 0;

	if (um_str_is(um_row_text(payment, "claim_end"), "refunded"))
		return GONE_BACK;
	if (is_there(payment, "claimed_at"))
		return DELIVERED;
	if (um_row_is(payment, "held"))
		return HELD;
	/* Of what is voided, as of what went back, no call gets anything. */
	if (is_there(payment, "refunded_at"))
		return um_row_int(payment, "refunded")
				>= um_row_int(payment, "amount")
			? GONE_BACK
			: VOIDED;
	if (is_there(payment, "fulfilled_at"))
		return FULFILLED;
	if (um_row_time(payment, "leased_until", &leased) && leased > now_ms)
		return RUNS;
	return um_row_is(payment, "matches") ? UNCLAIMED : WRONG;
}

/* Of what nobody has paid for. */
static enum advice
of_row(const json_t *row)
{
	struct um_str status = um_row_text(row, "status");
	struct um_str action = um_row_text(row, "action");
	struct um_str exchange = um_row_text(row, "exchange");

	if (um_str_is(status, "pending"))
		return PENDING;
	if (um_str_is(status, "opened"))
		return um_str_is(um_row_text(row, "kind"), "approval")
			? APPROVAL
			: OPENED;
	if (um_str_is(status, "processing"))
		return PROCESSING;
	if (um_str_is(action, "accept"))
		return exchange.len != 0 && !um_str_is(exchange, "connected")
			? NOT_CONNECTED
			: ACCEPTED;
	if (um_str_is(action, "decline"))
		return DECLINED;
	return um_str_is(um_row_text(row, "reason"), "expired") ? EXPIRED
								: FAILED;
}

void
um_advice_put(const struct um_view *view, const json_t *row,
	const json_t *payments)
{
	bool said[ADVICE_COUNT] = { false };

	for (size_t i = 0; i < json_array_size(payments); i++) {
		enum advice a = of_payment(json_array_get(payments, i),
			view->now_ms);

		/* Of what was deleted, no call gets what is still open. */
		if (json_is_null(row) && a != DELIVERED && a != GONE_BACK)
			a = DELETED;
		said[a] = true;
		/* It holds calls as well, until somebody decides. */
		said[HELD] |= a == WRONG;
	}
	if (json_array_size(payments) == 0)
		said[of_row(row)] = true;
	um_buf_puts(view->body, "<section>\n");
	um_view_heading(view, "advice", UM_TEXT_CONSOLE_ADVICE);
	for (enum advice a = 0; a < ADVICE_COUNT; a++)
		if (said[a])
			um_view_paragraph(view,
				a <= UNCLAIMED ? "note warn" : "note",
				texts[a]);
	um_buf_puts(view->body, "</section>\n");
}
