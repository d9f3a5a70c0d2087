/* SPDX-License-Identifier: MIT */
/* The cookies of the browser and of the elicitation that it follows. */
#ifndef UM_COOKIES_H
#define UM_COOKIES_H

#include "app/program.h"
#include "http/response.h"
#include "webhook/spec.h"

/*
 * The browser's cookie. State tokens and rows hold its digest
 * (crypto/binding.h), so that only this browser can continue an elicitation. All
 * elicitations of a browser share one cookie.
 */

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

/*
 * The elicitation that /done follows: a cookie that lives for a minute names it as
 * sealed text (crypto/sealed_text.h), so that the address of the page says nothing.
 *
 *   text       id(16) || binding(16) || provider
 *   info       "urlmode follow v1"
 */

#define UM_FOLLOW_COOKIE "__Host-urlmode-follow"

/*
 * Sets the cookie with the response, for the row of the token and its provider.
 * Without it the last page stays neutral, so that a failure of OpenSSL has no other
 * effect.
 */
void um_follow_set(struct um_response *response,
	const struct um_context *context, const struct um_token *token,
	const struct um_provider *provider);

/*
 * The provider that the cookie in this Cookie header names; sets the id and binding
 * of the token. NULL: there is no such cookie, or it has expired or names no provider
 * of the configuration.
 */
const struct um_provider *um_follow_read(struct um_token *token,
	const struct um_context *context, struct um_str header);

/*
 * The forms that this browser was shown last, so that a second tab is told of the
 * first: a cookie that lives for a day, with a digest of each elicitation and of the
 * state of its tab. The browser's own cookie is part of the digests, so that they
 * say nothing to anybody else.
 */

#define UM_OPEN_COOKIE "__Host-urlmode-open"
#define UM_OPEN_MAX 8
#define UM_OPEN_MAX_AGE 86400 /* seconds */

/*
 * Notes that the browser with this cookie and Cookie header is shown the form of
 * the token's elicitation in a tab with this state: sets the cookie with the
 * response unless it has it already. Returns whether a tab with another state
 * was shown it before.
 */
bool um_open_note(struct um_response *response, struct um_str header,
	const char *cookie, const struct um_token *token, struct um_str state);

#endif
