/* SPDX-License-Identifier: MIT */
/*
 * The sign-in of user_check "openid": the browser goes to the OpenID provider
 * and comes back with an id token that the provider posts by a form (OpenID
 * Connect Core section 3.2, OAuth 2.0 Form Post Response Mode). No program calls
 * the provider.
 *
 * A form of another site brings no cookie with SameSite=Lax. So the sign-in has
 * a cookie of its own, with SameSite=None, which all tabs share for ten minutes,
 * and which the end of a sign-in deletes. The state is sealed text
 * (crypto/sealed_text.h), and the nonce belongs to this cookie and this state
 * (um_signin_nonce()).
 *
 *   text       digest of the cookie(16) || where the user was going
 *   info       "urlmode signin v1"
 *   context    the scope of "signin" (app/session.h)
 */
#ifndef UM_SIGNIN_H
#define UM_SIGNIN_H

#include "app/exchange.h"

#define UM_SIGNIN_COOKIE "__Host-urlmode-signin"
#define UM_SIGNIN_S 600 /* seconds that a sign-in may take */
#define UM_SIGNIN_ROUTE "/signin/return"

/*
 * After um_check_user(): whether the user has to sign in first. It is not known
 * who it is, or the query says `signin=again`.
 */
bool um_signin_is_due(const struct um_exchange *ex);

/*
 * For a route that the user opens: `route`, the name of ex->provider and the
 * field `state`, which has been checked. Redirects to the provider; with
 * `signin=again` the provider is told to ask for the account. `signin=done`:
 * the user comes from the provider, and is refused without a session, because
 * another redirect to the provider could begin a loop.
 */
enum um_refusal um_signin_begin(const struct um_context *context,
	struct um_exchange *ex, const char *route);

/*
 * After the operation of a route of um_signin_begin(): if it has found that this
 * user cannot go on and another user could, and users sign in at the provider,
 * sets ex->way_on to the address at which somebody else signs in.
 */
void um_signin_offer_other(const struct um_context *context,
	struct um_exchange *ex, const char *route);

/* The browser's cookie for signing in, or nothing. */
struct um_str um_signin_cookie(const struct um_exchange *ex);

/*
 * At the end of a sign-in: opens the field `state`. `way` receives where the user
 * was going, also when the state has expired; it begins with a route of ours,
 * since nobody else can seal one. For a POST the state has to be this browser's.
 */
enum um_refusal um_signin_check_state(const struct um_context *context,
	const struct um_exchange *ex, struct um_buf *way);

/*
 * Sets ex->way_on to a link that leads to the way, and signs nobody in. It has a
 * new state: a page has none that the browser has sent.
 */
void um_signin_offer(const struct um_context *context, struct um_exchange *ex,
	const struct um_buf *way);

#endif
