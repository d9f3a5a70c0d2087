/* SPDX-License-Identifier: MIT */
#include "webhook/details.h"

#include "core/json_put.h"

/* The braces are written with the first member and after the last one. */
static void
put_name(struct um_buf *out, const char *name)
{
	if (out->len == 0)
		um_json_put_begin(out);
	um_json_put_key(out, um_str(name));
}

static void
put_time(struct um_buf *out, const char *name, int64_t seconds)
{
	if (seconds == 0)
		return;
	put_name(out, name);
	um_json_put_int(out, seconds);
}

static void
put_text(struct um_buf *out, const char *name, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	put_name(out, name);
	um_json_put_string(out, um_str(text));
}

void
um_details_put(struct um_buf *out, const struct um_details *details)
{
	put_time(out, "occurred_at", details->occurred_at);
	put_text(out, "kind", details->kind);
	put_text(out, "state", details->state);
	put_time(out, "evidence_due_at", details->evidence_due_at);
	if (details->checkout_paid) {
		put_name(out, "checkout_paid");
		um_json_put_bool(out, true);
	}
	if (out->len != 0)
		um_json_put_end(out);
}
