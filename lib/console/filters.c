/* SPDX-License-Identifier: MIT */
#include "console/filters.h"

#include <stdio.h>
#include <string.h>

#include "console/lists.h"
#include "console/session.h"
#include "core/timestamp.h"
#include "http/escape.h"

bool
um_fields_are(const struct um_form *form, const char *const *names)
{
	for (size_t i = 0; i < form->len; i++) {
		bool known = um_str_is(form->field[i].name, "signin");

		for (const char *const *name = names; *name != NULL; name++)
			known = known || um_str_is(form->field[i].name, *name);
		if (!known)
			return false;
	}
	return true;
}

/* A day, whose begin is Unix microseconds; or nothing. */
static bool
read_day(struct um_str day, int64_t *us)
{
	char text[sizeof("2026-11-29T00:00:00Z")];

	if (day.len == 0)
		return true;
	if (day.len != 10)
		return false;
	snprintf(text, sizeof(text), "%.10sT00:00:00Z", day.ptr);
	if (!um_timestamp_parse(us, um_str(text), UM_TIMESTAMP_RFC3339))
		return false;
	*us *= 1000;
	return true;
}

#define ABOUT(filters)                                                         \
	(const struct um_str[])                                                \
	{                                                                      \
		(filters)->what, text_of((filters)->provider),                 \
			text_of((filters)->tenant), text_of((filters)->since), \
			text_of((filters)->until),                             \
		{                                                              \
			0                                                      \
		}                                                              \
	}

/* Nothing is a text, too: NULL ends the list. */
static struct um_str
text_of(struct um_str text)
{
	return text.ptr != NULL ? text : um_str("");
}

enum um_refusal
um_filters_read(struct um_filters *filters, const struct um_context *context,
	const struct um_exchange *ex)
{
	static const char *const names[] = { "what", "provider", "tenant",
		"since", "until", "cursor", "format", NULL };
	const struct um_form *form = &ex->form;
	struct um_str cursor = um_form_get(form, "cursor");
	struct um_str format = um_form_get(form, "format");

	*filters = (struct um_filters){
		.what = um_form_get(form, "what"),
		.provider = um_form_get(form, "provider"),
		.tenant = um_form_get(form, "tenant"),
		.since = um_form_get(form, "since"),
		.until = um_form_get(form, "until"),
	};
	if (!um_fields_are(form, names)
		|| um_console_list_of(filters->what) == NULL
		|| filters->provider.len > UM_CONSOLE_FILTER_MAX
		|| filters->tenant.len > UM_CONSOLE_FILTER_MAX
		|| (format.len != 0 && !um_str_is(format, "csv"))
		|| !read_day(filters->since, &filters->since_us)
		|| !read_day(filters->until, &filters->until_us))
		return UM_REFUSAL_FILTER_INVALID;
	return cursor.len == 0
			|| um_console_open(&filters->after, context, "cursor",
				ABOUT(filters), cursor)
		? UM_REFUSAL_NONE
		: UM_REFUSAL_CURSOR_INVALID;
}

static void
put_argument(struct um_buf *out, const char *name, struct um_str value)
{
	if (value.len == 0)
		return;
	um_buf_cat(out, "&", name, "=");
	um_escape_url_arg(out, value);
}

bool
um_filters_put(struct um_buf *out, const struct um_context *context,
	const struct um_filters *filters, struct um_str cursor)
{
	um_buf_puts(out, UM_CONSOLE_ROUTE "list?what=");
	um_escape_url_arg(out, filters->what);
	put_argument(out, "provider", filters->provider);
	put_argument(out, "tenant", filters->tenant);
	put_argument(out, "since", filters->since);
	put_argument(out, "until", filters->until);
	if (cursor.len == 0)
		return true;
	um_buf_puts(out, "&cursor=");
	return um_console_seal(out, context, "cursor", ABOUT(filters), cursor,
		UM_CONSOLE_CURSOR_S);
}
