/* SPDX-License-Identifier: MIT */
#include "http/cookie.h"

enum um_cookie_state
um_cookie_get(struct um_str *value, struct um_str header, const char *name)
{
	enum um_cookie_state state = UM_COOKIE_NONE;

	*value = um_str(NULL);
	while (header.len != 0) {
		struct um_str pair = um_str_trim(um_str_cut(&header, ";"));
		struct um_str key = um_str_cut(&pair, "=");

		/* A pair without `=` is a value without a name. */
		if (pair.ptr == NULL || !um_str_is(key, name))
			continue;
		if (state != UM_COOKIE_NONE) {
			*value = um_str(NULL);
			return UM_COOKIE_DUPLICATE;
		}
		*value = pair;
		state = UM_COOKIE_FOUND;
	}
	return state;
}
