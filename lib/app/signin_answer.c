/* SPDX-License-Identifier: MIT */
/* The end of a sign-in: what the provider has posted (app/signin.h). */
#include <stdio.h>

#include "app/signin.h"
#include "crypto/binding.h"

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
	int64_t since, struct um_id_token_user *user)
{
	const struct um_openid *openid = &context->config->openid;
	char nonce[UM_SIGNIN_NONCE_LEN + 1];
	struct um_id_token_rules rules = {
		.issuer = um_str(openid->issuer),
		.client_id = um_str(openid->client_id),
		.claim = openid->claim,
		.max_age = openid->max_age,
		.since = since,
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

enum um_refusal
um_signin_answer(const struct um_context *context, struct um_exchange *ex,
	int64_t since, struct um_id_token_user *user)
{
	enum um_refusal refusal = check_response(&context->config->openid, ex);

	return refusal != UM_REFUSAL_NONE
		? refusal
		: check_id_token(context, ex, since, user);
}

void
um_signin_forget(struct um_exchange *ex)
{
	um_response_cookie(&ex->response, UM_SIGNIN_COOKIE, um_str(""), 0,
		"None");
	um_response_cookie(&ex->response, UM_SIGNIN_OTHER_COOKIE, um_str(""), 0,
		"Lax");
}
