/* SPDX-License-Identifier: MIT */
#include "app/checks.h"

#include <stdio.h>
#include <string.h>

#include <openssl/crypto.h>

#include "app/session.h"
#include "crypto/link.h"
#include "http/header.h"

enum um_refusal
um_check_query(struct um_exchange *ex)
{
	if (ex->request.query.len > UM_QUERY_MAX)
		return UM_REFUSAL_PARAMETERS_TOO_LARGE;
	return um_form_parse(&ex->form, ex->request.query);
}

static enum um_refusal
refusal_of(enum um_token_state state)
{
	switch (state) {
	case UM_TOKEN_GOOD:
		return UM_REFUSAL_NONE;
	case UM_TOKEN_EXPIRED:
		return UM_REFUSAL_STATE_EXPIRED;
	case UM_TOKEN_UNKNOWN_KEY:
		return UM_REFUSAL_UNKNOWN_KEY;
	case UM_TOKEN_INVALID:
		break;
	}
	return UM_REFUSAL_STATE_INVALID;
}

static enum um_refusal
check_token(const struct um_context *context, struct um_exchange *ex,
	struct um_str state, enum um_purpose purpose)
{
	enum um_refusal refusal;

	if (state.len == 0)
		return UM_REFUSAL_STATE_MISSING;
	refusal = refusal_of(um_token_open(&ex->token, state, context->keys,
		purpose, ex->provider->name, context->now_ms / 1000));
	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	ex->has_token = true;
	return um_token_fits_browser(&ex->token, context->keys,
		       um_str(ex->cookie))
		? UM_REFUSAL_NONE
		: UM_REFUSAL_WRONG_BROWSER;
}

enum um_refusal
um_check_state(const struct um_context *context, struct um_exchange *ex,
	enum um_purpose purpose)
{
	struct um_str state;
	enum um_refusal unreadable = um_form_read(&ex->form, "state", &state);

	return unreadable != UM_REFUSAL_NONE
		? unreadable
		: check_token(context, ex, state, purpose);
}

enum um_refusal
um_check_link(const struct um_context *context, struct um_exchange *ex)
{
	struct um_str state = um_form_get(&ex->form, "state");
	const char *provider = ex->provider->name;
	enum um_token_state opened = UM_TOKEN_INVALID;

	if (state.len != UM_LINK_LEN)
		return check_token(context, ex, state, UM_PURPOSE_CONNECT);
	ex->is_link = true;
	if (ex->provider->kind == UM_KIND_APPROVAL)
		opened = um_link_open_approval(ex->token.id, state,
			context->keys, provider);
	ex->is_approval_link = opened == UM_TOKEN_GOOD;
	if (!ex->is_approval_link)
		opened = um_link_open(ex->token.id, state, context->keys,
			provider);
	ex->has_token = opened == UM_TOKEN_GOOD;
	return refusal_of(opened);
}

enum um_refusal
um_check_user(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_request *request = &ex->request;
	struct um_str ticket;
	const char *name;

	switch (context->config->user_check) {
	case UM_USER_CONFIRM:
		return UM_REFUSAL_NONE;
	case UM_USER_REMOTE:
		name = request->get("REMOTE_USER", request->get_arg);
		if (name == NULL || name[0] == '\0'
			|| strlen(name) > UM_SUBJECT_MAX
			|| !um_str_is_text(um_str(name)))
			return UM_REFUSAL_SIGN_IN_NOT_SET_UP;
		memcpy(ex->user, name, strlen(name) + 1);
		return UM_REFUSAL_NONE;
	case UM_USER_OPENID:
		um_session_read(context, ex);
		return UM_REFUSAL_NONE;
	case UM_USER_TICKET:
		break;
	}
	ticket = um_cookie_get(request->cookie, UM_TICKET_COOKIE);
	return um_ticket_open(ex->user, ticket, context->keys,
		       context->now_ms / 1000)
		? UM_REFUSAL_NONE
		: UM_REFUSAL_SIGN_IN_REQUIRED;
}

enum um_refusal
um_check_verdict(enum um_verdict verdict)
{
	switch (verdict) {
	case UM_DELIVERY_GOOD:
		return UM_REFUSAL_NONE;
	case UM_DELIVERY_UNSIGNED:
		return UM_REFUSAL_SIGNATURE_MISSING;
	case UM_DELIVERY_FORGED:
		return UM_REFUSAL_SIGNATURE_INVALID;
	case UM_DELIVERY_STALE:
		return UM_REFUSAL_TIMESTAMP_OUT_OF_TOLERANCE;
	case UM_DELIVERY_OUTDATED:
		return UM_REFUSAL_CERTIFICATE_EXPIRED;
	case UM_DELIVERY_KEYLESS:
		return UM_REFUSAL_SIGNING_KEY_MISSING;
	case UM_DELIVERY_MALFORMED:
		break;
	}
	return UM_REFUSAL_BODY_MALFORMED;
}

const struct um_op *
um_check_logged(const struct um_exchange *ex)
{
	const struct um_op *known = NULL;

	for (size_t i = 0; i < ex->ops_len; i++) {
		const struct um_op *op = &ex->ops[i];

		if (op->status != UM_STORE_DONE)
			return op;
		if (known == NULL && !um_op_is_unknown_event(op))
			known = op;
	}
	return known != NULL ? known : &ex->ops[0];
}

enum um_refusal
um_check_done(struct um_exchange *ex)
{
	const struct um_op *logged = um_check_logged(ex);
	bool failed = false;

	for (size_t i = 0; i < ex->ops_len; i++) {
		if (ex->ops[i].status == UM_STORE_UNAVAILABLE)
			return UM_REFUSAL_UNAVAILABLE;
		failed |= ex->ops[i].status == UM_STORE_FAILED;
	}
	if (failed)
		return UM_REFUSAL_INTERNAL_ERROR;
	ex->outcome = um_op_outcome_text(logged);
	if (logged->kind == UM_OP_EVENT && logged->row.mismatch != NULL) {
		ex->reason = "amount_mismatch";
		snprintf(ex->fault.text, sizeof(ex->fault.text),
			"/%.16s: is not the expected one",
			logged->row.mismatch);
	}
	return UM_REFUSAL_NONE;
}

enum um_refusal
um_check_row(const struct um_exchange *ex)
{
	switch (ex->op.outcome) {
	case UM_ROW_UNKNOWN:
		return UM_REFUSAL_UNKNOWN_ELICITATION;
	case UM_ROW_EXPIRED:
		return UM_REFUSAL_EXPIRED;
	case UM_ROW_WRONG_USER:
		return UM_REFUSAL_WRONG_USER;
	case UM_ROW_WRONG_TENANT:
		return UM_REFUSAL_WRONG_TENANT;
	case UM_ROW_WRONG_KIND:
		return UM_REFUSAL_WRONG_KIND;
	case UM_ROW_USER_UNKNOWN:
		return UM_REFUSAL_APPROVAL_NEEDS_SIGN_IN;
	case UM_ROW_OWN_REQUEST:
		return UM_REFUSAL_OWN_REQUEST;
	case UM_ROW_FOUR_EYES_NOT_SET_UP:
		return UM_REFUSAL_FOUR_EYES_NOT_SET_UP;
	default:
		return UM_REFUSAL_NONE;
	}
}

enum um_refusal
um_check_subject(const struct um_exchange *ex)
{
	const char *subject = ex->op.row.subject;

	return ex->user[0] != '\0' && subject != NULL
			&& strcmp(ex->user, subject) != 0
		? UM_REFUSAL_WRONG_USER
		: UM_REFUSAL_NONE;
}

enum um_refusal
um_require_owner(const struct um_context *context, const struct um_exchange *ex)
{
	uint8_t browser[UM_BROWSER_LEN];

	if (ex->user[0] != '\0'
		&& (ex->op.row.subject == NULL
			|| strcmp(ex->user, ex->op.row.subject) != 0))
		return UM_REFUSAL_WRONG_USER;
	if (um_token_is_bound(&ex->token))
		return UM_REFUSAL_NONE; /* um_check_state() has compared them. */
	um_browser_digest(browser, context->keys, um_str(ex->cookie));
	return ex->cookie[0] != '\0' && ex->op.row.has_browser
			&& CRYPTO_memcmp(browser, ex->op.row.browser,
				   sizeof(browser))
				== 0
		? UM_REFUSAL_NONE
		: UM_REFUSAL_WRONG_BROWSER;
}
