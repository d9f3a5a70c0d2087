/* SPDX-License-Identifier: MIT */
#include "http/header.h"

#include <string.h>
#include <strings.h>

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

bool
um_media_type_is(struct um_str content_type, const char *type)
{
	size_t len = strlen(type);

	if (content_type.len < len
		|| strncasecmp(content_type.ptr, type, len) != 0)
		return false;
	return content_type.len == len || content_type.ptr[len] == ';'
		|| content_type.ptr[len] == ' '
		|| content_type.ptr[len] == '\t';
}
