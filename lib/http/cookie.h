/* SPDX-License-Identifier: MIT */
/* Cookies as a browser sends them (RFC 6265 section 4.2). */
#ifndef UM_COOKIE_H
#define UM_COOKIE_H

#include "core/str.h"

enum um_cookie_state {
	UM_COOKIE_NONE,
	UM_COOKIE_FOUND,
	UM_COOKIE_DUPLICATE, /* sent more than once: no value is trusted */
};

/*
 * Looks for the cookie `name` in a Cookie header. *value is its value without
 * the spaces and tabs around it, and points into the header; its .ptr is NULL
 * unless the result is UM_COOKIE_FOUND.
 */
enum um_cookie_state um_cookie_get(struct um_str *value, struct um_str header,
	const char *name);

#endif
