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
#include "http/document.h"
#include "jose/id_token.h"

#define UM_SIGNIN_COOKIE "__Host-urlmode-signin"
/* An attempt to be somebody else has begun, and asked for the account. */
#define UM_SIGNIN_OTHER_COOKIE "__Host-urlmode-other"
#define UM_SIGNIN_S 600 /* seconds that a sign-in may take */
#define UM_SIGNIN_ROUTE "/signin/return"
#define UM_SIGNIN_CONSOLE_ROUTE "/console/signin" /* of that program */

/* What a sign-in is for. */
enum um_signin_purpose {
	UM_SIGNIN_ANY,   /* whoever the user is */
	UM_SIGNIN_OTHER, /* somebody else */
	UM_SIGNIN_FRESH, /* whoever it is, as of now */
};

/*
 * Redirects to the provider, which posts its answer to `returns_to`, a path of this
 * host. `way` is what um_signin_check_state() will say there.
 */
enum um_refusal um_signin_redirect(const struct um_context *context,
	struct um_exchange *ex, struct um_str way,
	enum um_signin_purpose purpose, const char *returns_to);

/*
 * The provider's answer, after um_signin_check_state(): checks the issuer (RFC 9207
 * section 2.4), that there is no error (RFC 6749 section 4.2.2.1), and the id token.
 * `since`: a sign-in before it does not count (Unix seconds; 0: any does).
 */
enum um_refusal um_signin_answer(const struct um_context *context,
	struct um_exchange *ex, int64_t since, struct um_id_token_user *user);

/* The sign-in has ended: deletes its cookies, with the response. */
void um_signin_forget(struct um_exchange *ex);

/*
 * After um_check_user(), for a route that the user opens: `route`, the name of
 * ex->provider and the field `state`, which has been checked. Redirects to the
 * provider, or sets *refusal, if the user has to sign in first: it is not known who
 * it is, or the query says `signin=again`. Then the provider is told to ask for the
 * account (select_account), and to ask who signs in (login) where the attempt
 * before has not come to its end, and so in turn: not every provider takes each of
 * them. `signin=done`: the user comes from the provider, and is refused without a
 * session, because another redirect to the provider could begin a loop.
 *
 * False: nothing is done, also where user_check is not "openid".
 */
bool um_signin_begins(const struct um_context *context, struct um_exchange *ex,
	const char *route, enum um_refusal *refusal);

/*
 * Redirects to the provider for a sign-in that is made for this row in this
 * browser: `max_age=0`, and one before now does not count. Who comes from there
 * without its proof (app/fresh.h) is refused.
 */
enum um_refusal um_signin_begin_fresh(const struct um_context *context,
	struct um_exchange *ex, const char *route);

/*
 * Since when the sign-in must have been made that ends on this way, in Unix
 * seconds; 0: any time.
 */
int64_t um_signin_since(const struct um_buf *way);

/*
 * After a sign-in: whether it was made since this way began, so that it proves
 * what an approval may demand. Where nobody has asked for that (max_age), the
 * user may have signed in at the provider long before. Therefore no clock may be
 * late here, and by the provider's own clock the sign-in was made in the time
 * that the way has taken.
 */
bool um_signin_was_fresh(const struct um_context *context,
	const struct um_buf *way, const struct um_id_token_user *user);

/*
 * After a sign-in: sets ex->url to the way on, which says so (`signin=done`, and
 * `signin=proved` of one that um_signin_since() is for), and deletes the cookies
 * of the sign-in.
 */
void um_signin_end(struct um_exchange *ex, const struct um_buf *way);

/*
 * After the operation of a route of um_signin_begins(): if it has found that this
 * user cannot go on and another user could, and users sign in at the provider,
 * sets ex->way_on to the address at which somebody else signs in.
 */
void um_signin_offer_other(const struct um_context *context,
	struct um_exchange *ex, const char *route);

/*
 * Who acts on a page of this route that shows the row: the user who is known, or
 * the one whom the row is for. `link` holds the address at which somebody else
 * signs in, if users sign in at the provider; the caller frees it.
 */
struct um_acting um_signin_acting(const struct um_context *context,
	const struct um_exchange *ex, const char *route, struct um_buf *link);

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
