/* SPDX-License-Identifier: MIT */
/*
 * The elicitation that /done follows: a cookie that lives for a minute names it as
 * sealed text (crypto/sealed_text.h), so that the address of the page says nothing.
 *
 *   text       id(16) || binding(16) || provider
 *   info       "urlmode follow v1"
 */
#ifndef UM_FOLLOW_H
#define UM_FOLLOW_H

#include "app/exchange.h"

#define UM_FOLLOW_COOKIE "__Host-urlmode-follow"

/*
 * Sets the cookie with the response, for the row of ex->token. Without it the last
 * page stays neutral, so that a failure of OpenSSL has no other effect.
 */
void um_follow_set(const struct um_context *context, struct um_exchange *ex);

/*
 * Sets ex->provider, and id and binding of ex->token, to those of the cookie. False:
 * there is none, or it has expired or names no provider of the configuration.
 */
bool um_follow_read(const struct um_context *context, struct um_exchange *ex);

#endif
