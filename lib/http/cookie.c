/* SPDX-License-Identifier: MIT */
#include "http/cookie.h"

struct um_str
um_cookie_get(struct um_str header, const char *name)
{
	struct um_str value = { 0 };

	while (header.len != 0) {
		struct um_str pair = um_str_trim(um_str_cut(&header, ";"));
		struct um_str key = um_str_cut(&pair, "=");

		/* A pair without `=` is a value without a name. */
		if (pair.ptr == NULL || !um_str_is(key, name))
			continue;
		if (value.ptr != NULL)
			return um_str(NULL);
		value = pair;
	}
	return value;
}
