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

const char *
um_subscription_word(enum um_subscription_status status)
{
	static const char *const words[] = {
#define X(name, word) [name] = (word),
		UM_SUBSCRIPTION_WORDS(X)
#undef X
			[UM_SUBSCRIPTION_UNKNOWN] = NULL,
	};

	return words[status];
}

/* A member of the subscription, which is null where there is no such time. */
static void
put_said(struct um_buf *out, const char *name, bool says, int64_t ms)
{
	if (!says)
		return;
	um_json_put_key(out, um_str(name));
	if (ms != 0)
		um_json_put_int(out, ms);
	else
		um_json_put_null(out);
}

static void
put_subscription(struct um_buf *out, const struct um_subscription *told)
{
	const char *word = um_subscription_word(told->status);

	if (!told->is_told)
		return;
	put_name(out, "subscription");
	um_json_put_begin(out);
	if (told->id[0] != '\0')
		um_json_put_member(out, "id", um_str(told->id));
	if (told->account[0] != '\0')
		um_json_put_member(out, "account", um_str(told->account));
	put_said(out, "at_ms", told->at_ms != 0, told->at_ms);
	if (told->payment[0] != '\0')
		um_json_put_member(out, "payment", um_str(told->payment));
	if (word != NULL)
		um_json_put_member(out, "status", um_str(word));
	put_said(out, "until_ms", told->says_until, told->until_ms);
	put_said(out, "trial_until_ms", told->says_trial_until,
		told->trial_until_ms);
	put_said(out, "cancel_at_ms", told->says_cancel_at, told->cancel_at_ms);
	if (told->says_paused) {
		um_json_put_key(out, um_str("paused"));
		um_json_put_bool(out, told->paused);
	}
	put_said(out, "late_ms", told->late_ms != 0, told->late_ms);
	um_json_put_end(out);
}

void
um_details_put(struct um_buf *out, const struct um_details *details)
{
	put_time(out, "occurred_at", details->occurred_at);
	put_text(out, "kind", details->kind);
	put_text(out, "state", details->state);
	put_time(out, "evidence_due_at", details->evidence_due_at);
	put_text(out, "also", details->also);
	put_subscription(out, &details->subscription);
	if (details->checkout_paid) {
		put_name(out, "checkout_paid");
		um_json_put_bool(out, true);
	}
	if (details->has_tax) {
		put_name(out, "tax");
		um_json_put_int(out, details->tax);
	}
	if (out->len != 0)
		um_json_put_end(out);
}
