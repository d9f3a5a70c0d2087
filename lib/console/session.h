/* SPDX-License-Identifier: MIT */
/*
 * Who uses the console, and what proves that a form or a link is the console's own.
 * All of it is sealed text (crypto/sealed_text.h) under the console's keys, of the use
 * "urlmode console v1". Its context is the purpose, base_url and what the text is for,
 * with a NUL between them, so that none opens as another.
 *
 *   session   user || 00 || name || 00 || id || 00 || time of a fresh sign-in; for the
 *             issuer at which users sign in, or nothing
 *   act       provider || 00 || reference || 00 || state of the payment, as the page
 *             has shown it; for the session's id, the action and the elicitation
 *   cursor    where a list goes on; for the list and its filters
 */
#ifndef UM_CONSOLE_SESSION_H
#define UM_CONSOLE_SESSION_H

#include <jansson.h>

#include "app/exchange.h"

#define UM_CONSOLE_ROUTE "/console/"
/* And the port of base_url, if it names one: cookies go to every port of a host. */
#define UM_CONSOLE_COOKIE "__Host-urlmode-console"
#define UM_CONSOLE_ID_LEN 22 /* 16 random bytes as base64url */
/* Seconds. Of `openid`, its own `session` counts. */
#define UM_CONSOLE_SESSION_S 28800
#define UM_CONSOLE_ACT_S 3600
#define UM_CONSOLE_CURSOR_S 86400
#define UM_CONSOLE_FRESH_S 600 /* after a sign-in, in which somebody may act */
#define UM_CONSOLE_DATA_MAX 6

/* Of an exchange of the console: ex->own. */
struct um_console {
	char id[UM_CONSOLE_ID_LEN + 1]; /* of the session */
	int64_t fresh_at;               /* Unix seconds, or 0 */
	json_t *data
		[UM_CONSOLE_DATA_MAX]; /* columns of the row that was read */
};

/*
 * The first step of each page: knows the user, who must be one of
 * `console.operators`. Sets ex->user, ex->user_name and ex->own. Without a session,
 * where users sign in at a provider, the answer is a redirect to it, and ex->own is
 * NULL.
 */
enum um_refusal um_console_enter(const struct um_context *context,
	struct um_exchange *ex);

/* The plan of the route to which the provider posts its answer. */
enum um_refusal um_console_signed_in(const struct um_context *context,
	struct um_exchange *ex);

/*
 * Whoever acts has signed in for it, where users sign in at a provider. False: the
 * answer is a redirect to it, or *refusal says why not.
 */
bool um_console_is_fresh(const struct um_context *context,
	struct um_exchange *ex, enum um_refusal *refusal);

/*
 * A POST comes from a page of this host: its browser says so (Fetch Metadata), or
 * the header Origin is base_url.
 */
enum um_refusal um_console_check_site(const struct um_context *context,
	struct um_exchange *ex);

/* Appends sealed text for this purpose. `about` are texts that NULL ends. */
bool um_console_seal(struct um_buf *out, const struct um_context *context,
	const char *purpose, const struct um_str *about, struct um_str text,
	int64_t seconds);

/* Opens it; the text is appended to `out`. */
bool um_console_open(struct um_buf *out, const struct um_context *context,
	const char *purpose, const struct um_str *about, struct um_str sealed);

/* The console of the exchange, after um_console_enter(). */
struct um_console *um_console_of(const struct um_exchange *ex);

/* Reads `len` columns of the one row of the last call into data. */
enum um_refusal um_console_read(struct um_exchange *ex, size_t len);

#endif
