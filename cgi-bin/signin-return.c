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
#include <stdio.h>

#include "app/session.h"
#include "app/signin.h"
#include "crypto/binding.h"
#include "jose/id_token.h"
#include "server/main.h"

/* Bytes: an id token of UM_JWS_MAX, the state, and what else there is. */
#define SIGNIN_BODY_MAX 24576

/* RFC 9207 section 2.4, and the errors of RFC 6749 section 4.2.2.1. */
static enum um_refusal
check_response(const struct um_openid *openid, const struct um_exchange *ex)
{
	struct um_str iss = um_form_get(&ex->form, "iss");
	bool has_error = um_form_get(&ex->form, "error").len != 0;
	bool has_token = um_form_get(&ex->form, "id_token").len != 0;

	if (iss.ptr != NULL && !um_str_is(iss, openid->issuer))
		return UM_REFUSAL_ISSUER_MISMATCH;
	if (has_error && has_token)
		return UM_REFUSAL_RESPONSE_AMBIGUOUS;
	if (has_error)
		return UM_REFUSAL_SIGN_IN_REFUSED;
	return has_token ? UM_REFUSAL_NONE : UM_REFUSAL_RESPONSE_INCOMPLETE;
}

static enum um_refusal
check_id_token(const struct um_context *context, struct um_exchange *ex,
	struct um_id_token_user *user)
{
	const struct um_openid *openid = &context->config->openid;
	char nonce[UM_SIGNIN_NONCE_LEN + 1];
	struct um_id_token_rules rules = {
		.issuer = um_str(openid->issuer),
		.client_id = um_str(openid->client_id),
		.claim = openid->claim,
		.max_age = openid->max_age,
	};
	enum um_id_token_verdict verdict;

	if (!um_signin_nonce(nonce, context->keys, um_signin_cookie(ex),
		    um_form_get(&ex->form, "state")))
		return UM_REFUSAL_INTERNAL_ERROR;
	rules.nonce = um_str(nonce);
	verdict = um_id_token_check(user, um_form_get(&ex->form, "id_token"),
		context->jwks, &rules, context->now_ms / 1000);
	if (verdict == UM_ID_TOKEN_GOOD)
		return UM_REFUSAL_NONE;
	snprintf(ex->fault.text, sizeof(ex->fault.text), "id token: %s",
		um_id_token_text(verdict));
	return verdict == UM_ID_TOKEN_UNKNOWN_KEY
		? UM_REFUSAL_UNKNOWN_SIGNING_KEY
		: UM_REFUSAL_ID_TOKEN_INVALID;
}

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

	if ((refusal = check_response(&context->config->openid, ex))
		|| (refusal = check_id_token(context, ex, &user)))
		return refusal;
	if (!um_session_set(context, ex, &user))
		return UM_REFUSAL_INTERNAL_ERROR;
	um_response_cookie(&ex->response, UM_SIGNIN_COOKIE, um_str(""), 0,
		"None");
	go_on(ex, way);
	um_buf_puts(&ex->url, "&signin=done");
	ex->outcome = "signed_in";
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
