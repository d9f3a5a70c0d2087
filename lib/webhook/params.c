/* SPDX-License-Identifier: MIT */
#include "webhook/params.h"

#include <string.h>

/* Splits at the first `mark`, or takes all where there is none. */
static bool
split(struct um_str *head, struct um_str *rest, const char *mark)
{
	const char *at = rest->len != 0
		? memmem(rest->ptr, rest->len, mark, strlen(mark))
		: NULL;
	size_t len = at != NULL ? (size_t)(at - rest->ptr) : rest->len;
	size_t gone = at != NULL ? len + strlen(mark) : len;

	*head = (struct um_str){ rest->ptr, len };
	rest->ptr += gone;
	rest->len -= gone;
	return at != NULL;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct um_str
trim(struct um_str s)
{
	while (s.len != 0 && is_blank(*s.ptr)) {
		s.ptr++;
		s.len--;
	}
	while (s.len != 0 && is_blank(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

bool
um_params_parse(struct um_params *pairs, struct um_str text,
	const char *between, const char *equals)
{
	struct um_str one;
	bool more;

	pairs->len = 0;
	do {
		struct um_field pair;

		more = split(&one, &text, between);
		one = trim(one);
		if (pairs->len == UM_SIGNATURE_PARAMS_MAX
			|| !split(&pair.name, &one, equals)
			|| pair.name.len == 0)
			return false;
		pair.value = one;
		pairs->pair[pairs->len++] = pair;
	} while (more);
	return true;
}
