/* SPDX-License-Identifier: MIT */
#include "webhook/event_value.h"

#include <string.h>

static bool
is_clean(struct um_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
			return false;
	return um_str_is_text(text);
}

bool
um_event_refuse(struct um_misread *misread, const char *place,
	const struct um_pointer *at, const char *reason)
{
	*misread = (struct um_misread){ place, at, reason, false };
	return false;
}

enum um_found
um_event_value(struct um_value *value, const struct um_expr *expr,
	const struct um_source *source, size_t size, const char **unfit)
{
	enum um_found found = um_expr_eval(expr, source, value);

	*unfit = NULL;
	if (found == UM_FOUND && value->text.len >= size)
		*unfit = "is longer than it may be";
	else if (found == UM_FOUND && !is_clean(value->text))
		*unfit = "has a control character, or is not UTF-8";
	return found;
}

const char *
um_event_reason(const struct um_value *value)
{
	return value->bad_reason != NULL ? value->bad_reason
					 : "is not readable";
}

enum um_found
um_event_text(const struct um_expr *expr, const struct um_source *source,
	char *out, size_t size, const char *place, struct um_misread *misread)
{
	struct um_value value;
	const char *unfit;
	enum um_found found = um_event_value(&value, expr, source, size,
		&unfit);

	out[0] = '\0';
	if (unfit != NULL) {
		um_event_refuse(misread, place, value.bad_at, unfit);
		found = UM_BAD;
	} else if (found == UM_FOUND) {
		memcpy(out, value.text.ptr, value.text.len);
		out[value.text.len] = '\0';
	} else if (found == UM_BAD) {
		um_event_refuse(misread, place, value.bad_at,
			um_event_reason(&value));
		misread->is_unreadable = value.is_unreadable;
	}
	um_value_free(&value);
	return found;
}

bool
um_event_fit(const struct um_expr *expr, const struct um_source *source,
	char *out, size_t size, const char *place, struct um_misread *misread)
{
	return um_event_text(expr, source, out, size, place, misread) != UM_BAD
		|| !misread->is_unreadable;
}
