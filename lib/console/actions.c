/* SPDX-License-Identifier: MIT */
#include "console/actions.h"

#include "console/session.h"
#include "http/escape.h"

#define ACTIONS 3
#define JUST_NOW_MS 600000

static const struct um_action actions[ACTIONS] = {
	{ "release", "released", UM_TEXT_CONSOLE_RELEASE,
		UM_TEXT_CONSOLE_RELEASE_NOTE, UM_TEXT_CONSOLE_RELEASED, false },
	{ "void", "voided", UM_TEXT_CONSOLE_VOID, UM_TEXT_CONSOLE_VOID_NOTE,
		UM_TEXT_CONSOLE_VOIDED, false },
	{ "refunded", "refunded", UM_TEXT_CONSOLE_REFUND,
		UM_TEXT_CONSOLE_REFUND_NOTE, UM_TEXT_CONSOLE_RECORDED, true },
};

const struct um_action *
um_action_of(struct um_str word)
{
	for (size_t i = 0; i < ACTIONS; i++)
		if (um_str_is(word, actions[i].word))
			return &actions[i];
	return NULL;
}

static bool
is_done(const struct um_view *view, const struct um_action *action,
	const json_t *timeline, const char *user)
{
	for (size_t i = 0; i < json_array_size(timeline); i++) {
		const json_t *row = json_array_get(timeline, i);
		int64_t ms;

		if (um_str_is(um_row_text(row, "what"), "decided")
			&& um_str_is(um_row_text(row, "name"), action->decision)
			&& um_str_is(um_row_text(row, "who"), user)
			&& um_row_time(row, "at", &ms)
			&& view->now_ms - ms < JUST_NOW_MS)
			return true;
	}
	return false;
}

void
um_actions_put_done(const struct um_view *view, struct um_str word,
	const json_t *timeline, const char *user)
{
	const struct um_action *action = um_action_of(word);

	if (action == NULL || !is_done(view, action, timeline, user))
		return;
	um_buf_puts(view->body, "<p class=\"note\" role=\"status\">");
	um_view_say(view, action->done);
	um_buf_puts(view->body, "</p>\n");
}

static void
put_link(const struct um_view *view, const struct um_action *action,
	const json_t *payment, struct um_str id)
{
	um_buf_cat(view->body, "<a class=\"button\" href=\"", UM_CONSOLE_ROUTE,
		"act?action=", action->word, "&amp;id=");
	um_escape_url_arg(view->body, id);
	um_buf_puts(view->body, "&amp;provider=");
	um_escape_url_arg(view->body, um_row_text(payment, "provider"));
	um_buf_puts(view->body, "&amp;reference=");
	um_escape_url_arg(view->body, um_row_text(payment, "reference"));
	um_buf_puts(view->body, "\">");
	um_view_say(view, action->title);
	um_buf_puts(view->body, "</a>\n");
}

static void
put_links(const struct um_view *view, const json_t *payment, struct um_str id)
{
	um_buf_puts(view->body, "<p>");
	um_view_put(view, um_row_text(payment, "reference"), UM_CONSOLE_LINE);
	um_buf_puts(view->body, " ");
	um_view_amount(view, um_row_int(payment, "amount"),
		um_row_text(payment, "currency"));
	um_buf_puts(view->body, "</p>\n<p class=\"go\">");
	for (size_t i = 0; i < ACTIONS; i++)
		put_link(view, &actions[i], payment, id);
	um_buf_puts(view->body, "</p>\n");
}

/* What a call has claimed, nobody decides about. */
static bool
is_open(const json_t *payment)
{
	const json_t *claimed = json_object_get(payment, "claimed_at");

	return claimed == NULL || json_is_null(claimed);
}

void
um_actions_put_links(const struct um_view *view, const json_t *payments,
	struct um_str id)
{
	bool begun = false;

	for (size_t i = 0; i < json_array_size(payments); i++) {
		const json_t *payment = json_array_get(payments, i);

		if (!is_open(payment))
			continue;
		if (!begun) {
			um_buf_puts(view->body, "<section>\n");
			um_view_heading(view, "act", UM_TEXT_CONSOLE_DECIDE);
			begun = true;
		}
		put_links(view, payment, id);
	}
	if (begun)
		um_buf_puts(view->body, "</section>\n");
}
