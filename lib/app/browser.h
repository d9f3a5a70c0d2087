/* SPDX-License-Identifier: MIT */
/*
 * The browser's cookie. State tokens and rows hold its digest
 * (crypto/binding.h), so that only this browser can continue an elicitation. All
 * elicitations of a browser share one cookie.
 */
#ifndef UM_BROWSER_H
#define UM_BROWSER_H

#include "app/program.h"
#include "http/response.h"
#include "webhook/spec.h"

#define UM_COOKIE_NAME "__Host-urlmode"
#define UM_COOKIE_LEN 22  /* 16 random bytes as base64url */
#define UM_COOKIE_MAX 128 /* characters; a longer one is ignored */
/* Seconds: a user may come back as long as any grace lasts. */
#define UM_COOKIE_MAX_AGE UM_GRACE_MAX_S

/*
 * Its value in a Cookie header, or "". A value with characters that
 * um_browser_ensure_cookie() never uses is ignored.
 */
void um_browser_read_cookie(char cookie[static UM_COOKIE_MAX + 1],
	struct um_str header);

/* Replaces a value that is too short to be secret by a random one. */
void um_browser_ensure_cookie(char cookie[static UM_COOKIE_MAX + 1],
	const struct um_context *context);

/* Sets or renews the cookie with the response. */
void um_browser_set_cookie(struct um_response *response, const char *cookie);

#endif
