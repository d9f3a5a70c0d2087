/* SPDX-License-Identifier: MIT */
#include "http/media_type.h"

#include <string.h>
#include <strings.h>

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
