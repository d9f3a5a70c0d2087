/* SPDX-License-Identifier: MIT */
/* The media type in a Content-Type header (RFC 9110 section 8.3.1). */
#ifndef UM_MEDIA_TYPE_H
#define UM_MEDIA_TYPE_H

#include "core/str.h"

/*
 * Whether the header names this media type ("multipart/form-data"), with or
 * without parameters; upper and lower case are the same.
 */
bool um_media_type_is(struct um_str content_type, const char *type);

#endif
