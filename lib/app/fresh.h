/* SPDX-License-Identifier: MIT */
/*
 * The proof of a fresh sign-in: that a user has signed in for this form in this
 * browser, when, and how. The end of the sign-in gives it to the browser as a
 * cookie for the pages of forms, and the server keeps nothing.
 *
 *   info       "urlmode fresh v1"
 *   context    the scope of "fresh" (app/session.h) || 00 || state of the form,
 *              which is bound to the row and to the browser; or, on the way to
 *              it, of the link, which is bound to the row
 *   text       subject || 00 || Unix time || 00 || how
 */
#ifndef UM_FRESH_H
#define UM_FRESH_H

#include "app/exchange.h"

#define UM_FRESH_COOKIE "__Secure-urlmode-fresh"
#define UM_FRESH_PATH "/form/"
#define UM_FRESH_LINK_PATH "/connect/" /* until the form has a state */
#define UM_FRESH_S 600                 /* seconds after the sign-in */

struct um_fresh {
	int64_t at;                        /* Unix seconds */
	char how[UM_ID_TOKEN_HOW_MAX + 1]; /* struct um_id_token_user */
};

/*
 * Gives the proof to the browser, with the response: for the form or the link
 * that the way leads to. False: OpenSSL failed, or the way has no state.
 */
bool um_fresh_set(const struct um_context *context, struct um_exchange *ex,
	const struct um_buf *way, const struct um_id_token_user *user);

/* Whether ex->user has signed in for the form of the field `state`. */
bool um_fresh_read(struct um_fresh *fresh, const struct um_context *context,
	const struct um_exchange *ex);

/*
 * At a link, whose form has got its state: if ex->user has signed in on the way
 * to it, the proof is for the form from now on.
 */
void um_fresh_pass_on(const struct um_context *context, struct um_exchange *ex);

/* Deletes it, with the response, once it is not needed. */
void um_fresh_delete(struct um_exchange *ex);

#endif
