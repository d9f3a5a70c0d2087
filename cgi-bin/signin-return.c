/* SPDX-License-Identifier: MIT */
/*
 * /signin/return
 *
 * The end of a sign-in at the OpenID provider, which another page has begun
 * (app/signin.h).
 *
 * POST  is the provider's answer, posted by a form of its page. The state of this
 *       browser is checked, then the issuer, then the id token. The user gets a
 *       session, and goes on to where the sign-in began.
 * GET   is the link on a refusal: it leads to the same place, and signs nobody in.
 *
 * No operation of the database is needed.
 */
#include "app/fresh.h"
#include "app/session.h"
#include "app/signin.h"
#include "server/main.h"

/* Bytes: an id token of UM_JWS_MAX, the state, and what else there is. */
#define SIGNIN_BODY_MAX 24576

/* The link on a refusal: on to where the user was going. */
static void
go_on(struct um_exchange *ex, const struct um_buf *way)
{
	um_buf_put(&ex->url, way->ptr, way->len);
	ex->url.failed |= way->failed;
	ex->answer = UM_ANSWER_REDIRECT;
	ex->outcome = "redirected";
}

/* The provider's answer. */
static enum um_refusal
sign_in(const struct um_context *context, struct um_exchange *ex,
	const struct um_buf *way)
{
	struct um_id_token_user user;
	enum um_refusal refusal;

	refusal = um_signin_answer(context, ex, um_signin_since(way), &user);
	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	if (!um_session_set(context, ex, &user)
		|| (um_signin_was_fresh(context, way, &user)
			&& !um_fresh_set(context, ex, way, &user)))
		return UM_REFUSAL_INTERNAL_ERROR;
	um_signin_end(ex, way);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
plan(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf way = { 0 };
	enum um_refusal refusal;

	if (um_form_get(&ex->form, "state").len == 0)
		return UM_REFUSAL_STATE_MISSING;
	refusal = um_signin_check_state(context, ex, &way);
	if (refusal == UM_REFUSAL_NONE && ex->request.method == UM_POST)
		refusal = sign_in(context, ex, &way);
	else if (refusal == UM_REFUSAL_NONE)
		go_on(ex, &way);
	if (refusal != UM_REFUSAL_NONE && way.len != 0)
		um_signin_offer(context, ex, &way);
	um_buf_free(&way);
	return refusal;
}

static bool
users_sign_in(const struct um_context *context,
	const struct um_provider *provider)
{
	(void)provider;
	return context->config->user_check == UM_USER_OPENID;
}

static const struct um_route routes[] = {
	{ .prefix = UM_SIGNIN_ROUTE,
		.methods = "GET, POST",
		.body_max = SIGNIN_BODY_MAX,
		.value_max = UM_JWS_MAX,
		.serves = users_sign_in,
		.plan = plan },
	{ 0 },
};

int
main(int argc, char **argv)
{
	static const struct um_program program = { .name = "signin-return",
		.routes = routes,
		.measures = UM_OP_NONE };

	return um_program_main(&program, argc, argv);
}
