/* SPDX-License-Identifier: MIT */
/* What is in a header: a cookie, a media type. */
#ifndef UM_HEADER_H
#define UM_HEADER_H

#include "core/str.h"

/*
 * The value of the cookie `name` in a Cookie header (RFC 6265 section 4.2),
 * without the spaces and tabs around it; it points into the header. Its .ptr is NULL if there is no such
 * cookie, and if there are several, of which none is trusted.
 */
struct um_str um_cookie_get(struct um_str header, const char *name);

/*
 * Whether a Content-Type header names this media type ("multipart/form-data";
 * RFC 9110 section 8.3.1), with or without parameters; upper and lower case are the same.
 */
bool um_media_type_is(struct um_str content_type, const char *type);

#endif
