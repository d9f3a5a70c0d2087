/* SPDX-License-Identifier: MIT */
/*
 * The session of a user who has signed in at the OpenID provider: a cookie with
 * the subject and the name as sealed text (crypto/sealed_text.h).
 *
 *   text       subject || 00 || name
 *   info       "urlmode session v1"
 *   context    the scope of "session"
 */
#ifndef UM_SESSION_H
#define UM_SESSION_H

#include "app/exchange.h"

#define UM_SESSION_COOKIE "__Host-urlmode-session"

/*
 * Appends the scope of a purpose: purpose, base_url, issuer, client_id and claim,
 * with a NUL between them. A text that is sealed for one host, provider or claim
 * does not open for another.
 */
void um_session_put_scope(struct um_buf *out, const struct um_config *config,
	const char *purpose);

/*
 * Sets ex->user and ex->user_name to those of the session; they stay empty where
 * there is none, or one that has expired or was sealed for something else.
 */
void um_session_read(const struct um_context *context, struct um_exchange *ex);

/*
 * Appends the value of the cookie for this user, until `expires` (Unix seconds).
 * False: OpenSSL failed, or memory ran out.
 */
bool um_session_put(struct um_buf *out, const struct um_config *config,
	const struct um_keys *keys, const struct um_id_token_user *user,
	int64_t expires, const uint8_t nonce[static UM_NONCE_LEN]);

/* Sets the cookie for this user with the response. False: OpenSSL failed. */
bool um_session_set(const struct um_context *context, struct um_exchange *ex,
	const struct um_id_token_user *user);

#endif
