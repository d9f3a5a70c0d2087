/* SPDX-License-Identifier: MIT */
/*
 * What somebody has typed into a form whose session ended before it was sent. The
 * browser keeps it in a cookie until the user has signed in again, and the server
 * keeps nothing.
 *
 * Who was signed in when a page was made, its reader, stands sealed in the page. A
 * form that is sent without a session brings the reader along, and what was typed
 * is sealed for this elicitation, this browser and this reader: nobody else is
 * shown it. It has no secret.
 *
 *   reader     "urlmode reader v1" with the context id || browser
 *   cookie     "urlmode kept v1" with the context
 *              id || binding digest of reader and browser's cookie
 */
#ifndef UM_KEPT_H
#define UM_KEPT_H

#include "app/exchange.h"
#include "form/answers.h"

/* For the pages of forms alone, so that no other page has less room for cookies. */
#define UM_KEPT_COOKIE "__Secure-urlmode-kept"
#define UM_KEPT_PATH "/form/"
#define UM_KEPT_MAX_AGE 900 /* seconds */
/* Bytes of JSON: browsers take cookies of 4,096 bytes. */
#define UM_KEPT_MAX 2900

/*
 * Appends ex->user for the page, as base64url; nothing where no user is known.
 * False: OpenSSL failed.
 */
bool um_kept_put_reader(struct um_buf *out, const struct um_context *context,
	const struct um_exchange *ex);

/* Sets ex->reader to the reader of the page that was sent. False: it has none. */
bool um_kept_read_reader(const struct um_context *context,
	struct um_exchange *ex);

/*
 * Sets ex->kept to what the reader has typed, and ex->keeps_all: a value for which
 * there is no room is not kept. Nothing where OpenSSL fails.
 */
void um_kept_seal(const struct um_context *context, struct um_exchange *ex,
	const struct um_definition *definition,
	const struct um_answers *answers);

/*
 * Reads what this browser keeps for ex->user and the row of the token. False:
 * there is nothing. The caller frees the answers in every case.
 */
bool um_kept_read(struct um_answers *answers, const struct um_context *context,
	const struct um_exchange *ex, const struct um_definition *definition);

/* Deletes what the browser has sent, with the response, once it is not needed. */
void um_kept_delete(struct um_exchange *ex);

#endif
