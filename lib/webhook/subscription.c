/* SPDX-License-Identifier: MIT */
#include "webhook/subscription.h"

#include <string.h>

static void
free_time(struct um_subscription_time *time)
{
	um_expr_free(&time->from);
	um_conditions_free(&time->when);
}

void
um_subscription_spec_free(struct um_subscription_spec *spec)
{
	um_expr_free(&spec->id);
	um_expr_free(&spec->account);
	um_expr_free(&spec->payment);
	free_time(&spec->at);
	um_expr_free(&spec->own_id);
	um_expr_free(&spec->status);
	for (size_t i = 0; i < UM_SUBSCRIPTION_STATUSES; i++)
		um_strlist_free(&spec->words[i]);
	free_time(&spec->until);
	free_time(&spec->trial_until);
	free_time(&spec->cancel_at);
	um_conditions_free(&spec->paused);
	*spec = (struct um_subscription_spec){ 0 };
}

static bool
refuse(struct um_subscription_misread *misread, const char *place,
	const struct um_value *value, const char *reason)
{
	*misread = (struct um_subscription_misread){ place, value->bad_at,
		value->bad_reason != NULL ? value->bad_reason : reason };
	return false;
}

/* A text for rows and logs, "" where it is absent. */
static bool
read_text(char *out, size_t size, const struct um_expr *expr,
	const struct um_source *source, const char *place,
	struct um_subscription_misread *misread)
{
	struct um_value value;
	enum um_found found = um_expr_eval(expr, source, &value);
	bool ok = true;

	out[0] = '\0';
	if (found == UM_BAD)
		ok = refuse(misread, place, &value, "is not readable");
	else if (found == UM_FOUND
		&& (value.text.len >= size || !um_str_is_text(value.text)))
		ok = refuse(misread, place, &value,
			"is longer than it may be, or no text");
	else if (found == UM_FOUND) {
		memcpy(out, value.text.ptr, value.text.len);
		out[value.text.len] = '\0';
	}
	um_value_free(&value);
	return ok;
}

/* Unix milliseconds; 0 where there is none, or its conditions do not hold. */
static bool
read_time(int64_t *ms, const struct um_subscription_time *time,
	const struct um_source *source, const char *place,
	struct um_subscription_misread *misread)
{
	struct um_value value;
	enum um_holding holding = um_conditions_hold(&time->when, source,
		&value);
	bool ok = true;

	*ms = 0;
	if (holding == UM_HOLDS_UNKNOWN)
		ok = refuse(misread, place, &value, "is not readable");
	um_value_free(&value);
	if (holding != UM_HOLDS)
		return ok;
	switch (um_expr_eval(&time->from, source, &value)) {
	case UM_BAD:
		ok = refuse(misread, place, &value, "is not readable");
		break;
	case UM_FOUND:
		if (!um_timestamp_parse(ms, value.text, time->form))
			ok = refuse(misread, place, &value,
				"is not a time of the form that `as` says");
		break;
	case UM_ABSENT:
		break;
	}
	um_value_free(&value);
	return ok;
}

static bool
read_status(struct um_subscription *out,
	const struct um_subscription_spec *spec, const struct um_source *source,
	struct um_subscription_misread *misread)
{
	struct um_value value;
	enum um_found found = um_expr_eval(&spec->status, source, &value);
	bool ok = found != UM_BAD
		|| refuse(misread, "/subscription/status", &value,
			"is not readable");

	/* A word that is not among them says nothing. */
	if (found == UM_FOUND)
		for (size_t i = 0; i < UM_SUBSCRIPTION_STATUSES; i++)
			if (um_strlist_has(&spec->words[i], value.text))
				out->status = (enum um_subscription_status)i;
	um_value_free(&value);
	return ok;
}

/* Each condition alone. */
static bool
read_paused(struct um_subscription *out,
	const struct um_subscription_spec *spec, const struct um_source *source,
	struct um_subscription_misread *misread)
{
	bool ok = true;

	out->says_paused = spec->paused.len != 0;
	for (size_t i = 0; ok && i < spec->paused.len; i++) {
		const struct um_conditions one = { .len = 1,
			.condition = { spec->paused.condition[i] } };
		struct um_value value;
		enum um_holding holding = um_conditions_hold(&one, source,
			&value);

		if (holding == UM_HOLDS_UNKNOWN)
			ok = refuse(misread, "/subscription/paused", &value,
				"is not readable");
		out->paused |= holding == UM_HOLDS;
		um_value_free(&value);
	}
	return ok;
}

static bool
read_own(struct um_subscription *out, const struct um_subscription_spec *spec,
	const struct um_source *source, struct um_subscription_misread *misread)
{
	out->says_until = spec->until.from.kind != UM_EXPR_NONE;
	out->says_trial_until = spec->trial_until.from.kind != UM_EXPR_NONE;
	out->says_cancel_at = spec->cancel_at.from.kind != UM_EXPR_NONE;
	return read_status(out, spec, source, misread)
		&& read_time(&out->until_ms, &spec->until, source,
			"/subscription/until", misread)
		&& read_time(&out->trial_until_ms, &spec->trial_until, source,
			"/subscription/trial_until", misread)
		&& read_time(&out->cancel_at_ms, &spec->cancel_at, source,
			"/subscription/cancel_at", misread)
		&& read_paused(out, spec, source, misread);
}

bool
um_subscription_read(struct um_subscription *out,
	const struct um_subscription_spec *spec, const struct um_source *source,
	bool is_own, struct um_subscription_misread *misread)
{
	struct um_subscription told = { .status = UM_SUBSCRIPTION_UNKNOWN,
		.late_ms = spec->late_ms };

	if (!spec->given)
		return true;
	if (!read_text(told.id, sizeof(told.id),
		    is_own ? &spec->own_id : &spec->id, source,
		    "/subscription/id", misread)
		|| !read_text(told.account, sizeof(told.account),
			&spec->account, source, "/subscription/account",
			misread))
		return false;
	/* A first payment may be found by its reference alone. */
	told.is_told = told.id[0] != '\0'
		|| (!is_own && spec->payment.kind != UM_EXPR_NONE);
	if (!told.is_told)
		return true;
	if (!read_time(&told.at_ms, &spec->at, source, "/subscription/at",
		    misread)
		|| (is_own
			&& (!read_text(told.payment, sizeof(told.payment),
				    &spec->payment, source,
				    "/subscription/payment", misread)
				|| !read_own(&told, spec, source, misread))))
		return false;
	*out = told;
	return true;
}
