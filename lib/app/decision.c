/* SPDX-License-Identifier: MIT */
#include "app/decision.h"

#include <stdio.h>
#include <time.h>

#include "app/fresh.h"
#include "core/json_put.h"

#define TIME_SIZE sizeof("2026-01-31T12:00:00")

/* In UTC, without its zone (RFC 3339). */
static void
format_time(char text[static TIME_SIZE], int64_t unix_seconds)
{
	time_t seconds = (time_t)unix_seconds;
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
}

static void
put_time(struct um_buf *json, const char *name, int64_t ms)
{
	char time[TIME_SIZE];

	format_time(time, ms / 1000);
	um_json_put_key(json, um_str(name));
	um_buf_printf(json, "\"%s.%03dZ\"", time, (int)(ms % 1000));
}

void
um_decision_put(struct um_buf *json, const struct um_context *context,
	const struct um_exchange *ex, const struct um_definition *definition,
	struct um_str comment)
{
	struct um_fresh fresh;

	um_json_put_begin(json);
	um_json_put_member(json, "approver",
		um_str(ex->user[0] != '\0' ? ex->user : ex->op.row.subject));
	if (comment.len != 0)
		um_json_put_member(json, "comment", comment);
	put_time(json, "decided_at", context->now_ms);
	if (definition->step_up && um_fresh_read(&fresh, context, ex)) {
		put_time(json, "signed_in_at", fresh.at * 1000);
		if (fresh.how[0] != '\0')
			um_json_put_member(json, "signed_in_by",
				um_str(fresh.how));
	}
	um_json_put_end(json);
}

void
um_decision_note(struct um_exchange *ex, const struct um_context *context)
{
	struct um_fresh fresh;
	char time[TIME_SIZE];

	if (!um_fresh_read(&fresh, context, ex))
		return;
	format_time(time, fresh.at);
	snprintf(ex->fault.text, sizeof(ex->fault.text), "signed in at %sZ%s%s",
		time, fresh.how[0] != '\0' ? " by " : "", fresh.how);
	ex->op.note = ex->fault.text;
}
