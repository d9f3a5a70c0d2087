/* SPDX-License-Identifier: MIT */
/* Cookies as a browser sends them (RFC 6265 section 4.2). */
#ifndef UM_COOKIE_H
#define UM_COOKIE_H

#include "core/str.h"

/*
 * The value of the cookie `name` in a Cookie header, without the spaces and tabs
 * around it; it points into the header. Its .ptr is NULL if there is no such
 * cookie, and if there are several, of which none is trusted.
 */
struct um_str um_cookie_get(struct um_str header, const char *name);

#endif
