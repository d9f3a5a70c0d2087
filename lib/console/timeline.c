/* SPDX-License-Identifier: MIT */
#include "console/timeline.h"

#include <string.h>

#include "console/calls.h"

#define TIMELINE_BYTES 14000 /* of HTML */

/* What each entry says, and whether it is good, bad, or something to wait for. */
static const struct entry {
	const char *what;
	const char *name; /* only with this name; NULL: with any */
	enum um_text text;
	const char *class;
	bool shows_name; /* as a code */
} entries[] = {
	{ "created", NULL, UM_TEXT_CONSOLE_CREATED, "plain", true },
	{ "opened", NULL, UM_TEXT_CONSOLE_OPENED, "plain", false },
	{ "client", NULL, UM_TEXT_CONSOLE_CLIENT, "plain", true },
	{ "event", NULL, UM_TEXT_CONSOLE_EVENT, "plain", true },
	{ "rechecked", NULL, UM_TEXT_CONSOLE_RECHECKED, "plain", false },
	{ "paid", "mismatched", UM_TEXT_CONSOLE_PAID_WRONG, "bad", false },
	{ "paid", NULL, UM_TEXT_CONSOLE_WAS_PAID, "good", false },
	{ "refunded", NULL, UM_TEXT_CONSOLE_REFUNDED, "bad", true },
	{ "refund_reversed", NULL, UM_TEXT_CONSOLE_REFUND_REVERSED, "good",
		true },
	{ "disputed", NULL, UM_TEXT_CONSOLE_DISPUTED, "bad", false },
	{ "dispute_won", NULL, UM_TEXT_CONSOLE_DISPUTE_WON, "good", false },
	{ "dispute_lost", NULL, UM_TEXT_CONSOLE_DISPUTE_LOST, "bad", false },
	{ "held", NULL, UM_TEXT_CONSOLE_WAS_HELD, "wait", false },
	{ "offered", NULL, UM_TEXT_CONSOLE_OFFERED, "good", false },
	{ "not_offered", NULL, UM_TEXT_CONSOLE_NOT_OFFERED, "bad", false },
	{ "decided", "released", UM_TEXT_CONSOLE_RELEASED, "good", false },
	{ "decided", "voided", UM_TEXT_CONSOLE_VOIDED, "bad", false },
	{ "decided", NULL, UM_TEXT_CONSOLE_RECORDED, "bad", false },
	{ "claimed", NULL, UM_TEXT_CONSOLE_WAS_CLAIMED, "plain", false },
	{ "fulfilled", NULL, UM_TEXT_CONSOLE_FULFILLED, "wait", false },
	{ "delivered", "refund", UM_TEXT_CONSOLE_ENDED_REFUND, "bad", false },
	{ "delivered", NULL, UM_TEXT_CONSOLE_DELIVERED, "good", false },
	{ "task", NULL, UM_TEXT_CONSOLE_TASK, "plain", true },
	{ "ended", "accept", UM_TEXT_CONSOLE_WAS_ENDED, "good", true },
	{ "ended", NULL, UM_TEXT_CONSOLE_WAS_ENDED, "bad", true },
	{ "expires", NULL, UM_TEXT_CONSOLE_EXPIRES, "wait", false },
};

static const struct entry *
entry_of(const json_t *row)
{
	struct um_str what = um_row_text(row, "what");
	struct um_str name = um_row_text(row, "name");

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (um_str_is(what, entries[i].what)
			&& (entries[i].name == NULL
				|| um_str_is(name, entries[i].name)))
			return &entries[i];
	return NULL;
}

/* A value behind its name; nothing without it. */
static void
put_fact(const struct um_view *view, enum um_text name, struct um_str value)
{
	if (value.len == 0)
		return;
	um_buf_puts(view->body, "<small>");
	um_view_say(view, name);
	um_buf_puts(view->body, ": ");
	um_view_put(view, value, UM_CONSOLE_LINE);
	um_buf_puts(view->body, "</small>");
}

static void
put_amount(const struct um_view *view, const json_t *row)
{
	struct um_str currency = um_row_text(row, "currency");

	if (!json_is_integer(json_object_get(row, "amount"))
		|| currency.len == 0)
		return;
	um_buf_puts(view->body, " <strong>");
	um_view_amount(view, um_row_int(row, "amount"), currency);
	um_buf_puts(view->body, "</strong>");
}

static void
put_entry(const struct um_view *view, const json_t *row)
{
	const struct entry *entry = entry_of(row);
	struct um_str note = um_row_text(row, "note");
	int64_t ms;

	if (entry == NULL)
		return;
	um_buf_cat(view->body, "<li class=\"", entry->class, "\">");
	if (um_row_time(row, "at", &ms))
		um_view_time(view, ms);
	um_view_say(view, entry->text);
	put_amount(view, row);
	if (entry->shows_name) {
		um_buf_puts(view->body, " ");
		um_view_code(view, um_row_text(row, "name"));
	}
	um_buf_puts(view->body, " ");
	um_view_code(view, um_row_text(row, "detail"));
	put_fact(view, UM_TEXT_CONSOLE_REFERENCE,
		um_row_text(row, "reference"));
	put_fact(view, UM_TEXT_CONSOLE_WHO, um_row_text(row, "who"));
	put_fact(view, UM_TEXT_CONSOLE_REQUEST, um_row_text(row, "request"));
	if (note.len != 0) {
		um_buf_puts(view->body, "<p>");
		um_view_put(view, note, UM_CONSOLE_LINE);
		um_buf_puts(view->body, "</p>");
	}
	um_buf_puts(view->body, "</li>\n");
}

/* What others wrote may be long: the page stays small, and has the newest. */
static size_t
first_shown(const struct um_view *view, const json_t *rows)
{
	size_t first = json_array_size(rows), len = 0;
	struct um_buf entry = { 0 };
	struct um_view scratch = *view;

	scratch.body = &entry;
	for (; first != 0 && len < UM_CONSOLE_EVENTS_MAX; first--, len++) {
		put_entry(&scratch, json_array_get(rows, first - 1));
		if (entry.failed || entry.len > TIMELINE_BYTES)
			break;
	}
	um_buf_free(&entry);
	return first;
}

void
um_timeline_put(const struct um_view *view, const json_t *rows)
{
	size_t len = json_array_size(rows), first = first_shown(view, rows);

	um_buf_puts(view->body, "<section>\n");
	um_view_heading(view, "timeline", UM_TEXT_CONSOLE_TIMELINE);
	um_buf_puts(view->body,
		"<ol class=\"line\" role=\"list\" "
		"aria-labelledby=\"timeline\">\n");
	if (first != 0) {
		um_buf_puts(view->body, "<li class=\"wait\">");
		um_view_say(view, UM_TEXT_CONSOLE_TIMELINE_MORE);
		um_buf_puts(view->body, "</li>\n");
	}
	for (size_t i = first; i < len; i++)
		put_entry(view, json_array_get(rows, i));
	um_buf_puts(view->body, "</ol>\n</section>\n");
}
