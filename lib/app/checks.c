/* SPDX-License-Identifier: MIT */
#include "app/program.h"
#include "http/cookie.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "core/base64.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define RETRY_AFTER TEXT(UM_RETRY_AFTER)

bool
um_exchange_refuse(struct um_exchange *ex, enum um_refusal refusal)
{
	um_response_free(&ex->response);
	ex->asked = 0;
	ex->op.kind = UM_OP_NONE;
	ex->outcome = refusal == UM_REFUSAL_UNAVAILABLE ? "unavailable"
		: refusal == UM_REFUSAL_INTERNAL_ERROR  ? "failed"
							: "refused";
	ex->reason = um_refusal_code(refusal);
	if (ex->plain) {
		ex->response.status = um_refusal_status(refusal);
		ex->response.content_type = "text/plain; charset=utf-8";
		um_buf_printf(&ex->response.body, "%s: %s\n",
			um_refusal_code(refusal), um_refusal_advice(refusal));
	} else {
		um_page_refusal(&ex->response, &ex->request, refusal);
	}
	return false;
}

void
um_exchange_unavailable(struct um_exchange *ex, const char *url)
{
	struct um_buf refresh = { 0 };

	um_exchange_refuse(ex, UM_REFUSAL_UNAVAILABLE);
	um_response_header(&ex->response, "Retry-After", RETRY_AFTER);
	if (ex->plain)
		return;
	/* A header, not markup: what the address holds stays off the page. */
	um_buf_printf(&refresh, url != NULL ? "%s; url=%s" : "%s", RETRY_AFTER,
		url);
	if (!refresh.failed)
		um_response_header(&ex->response, "Refresh", refresh.ptr);
	um_buf_free(&refresh);
}

bool
um_check_route(const struct um_context *context, struct um_exchange *ex,
	const char *prefix, const char *suffix, enum um_kind kind)
{
	struct um_str path = ex->request.path;
	struct um_str before = um_str(prefix);
	struct um_str after = um_str(suffix);

	if (path.len <= before.len + after.len
		|| memcmp(path.ptr, before.ptr, before.len) != 0
		|| memcmp(path.ptr + path.len - after.len, after.ptr, after.len)
			!= 0)
		return um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_ROUTE);
	path.ptr += before.len;
	path.len -= before.len + after.len;
	if (memchr(path.ptr, '/', path.len) != NULL)
		return um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_ROUTE);
	ex->provider = um_config_provider(context->config, path);
	if (ex->provider == NULL
		|| (kind != UM_KIND_ANY && ex->provider->kind != kind)) {
		ex->provider = NULL;
		return um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_PROVIDER);
	}
	return true;
}

bool
um_check_method(struct um_exchange *ex, const char *allow)
{
	static const char *const names[] = { "GET", "HEAD", "POST", "-" };

	if (strstr(allow, names[ex->request.method]) == NULL) {
		um_exchange_refuse(ex, UM_REFUSAL_METHOD_NOT_ALLOWED);
		ex->response.allow = allow;
		return false;
	}
	/*
	 * Not a success: a browser that looks ahead would show what it got
	 * then when the person really goes there.
	 */
	if (ex->request.prefetch)
		return um_exchange_refuse(ex, UM_REFUSAL_PREFETCH);
	return true;
}

bool
um_check_fields(struct um_exchange *ex)
{
	const struct um_request *request = &ex->request;
	struct um_str text = request->query;

	if (request->method == UM_POST) {
		if (request->body_too_large)
			return um_exchange_refuse(ex,
				UM_REFUSAL_BODY_TOO_LARGE);
		if (!um_request_is_form(request))
			return um_exchange_refuse(ex,
				UM_REFUSAL_UNSUPPORTED_MEDIA_TYPE);
		text = request->body;
	}
	if (request->query.len > UM_QUERY_MAX)
		return um_exchange_refuse(ex, UM_REFUSAL_PARAMETERS_TOO_LARGE);
	switch (um_form_parse(&ex->form, text)) {
	case UM_FORM_GOOD:
		return true;
	case UM_FORM_DUPLICATE:
		return um_exchange_refuse(ex, UM_REFUSAL_DUPLICATE_PARAMETER);
	case UM_FORM_TOO_LARGE:
		return um_exchange_refuse(ex, UM_REFUSAL_PARAMETERS_TOO_LARGE);
	case UM_FORM_MALFORMED:
		break;
	}
	return um_exchange_refuse(ex, UM_REFUSAL_MALFORMED_PARAMETERS);
}

/* The cookie counts only as characters that we could have set. */
static void
read_cookie(struct um_exchange *ex)
{
	struct um_str value;

	if (um_cookie_get(&value, ex->request.cookie, UM_COOKIE_NAME)
			!= UM_COOKIE_FOUND
		|| value.len > UM_COOKIE_MAX || !um_base64url_is(value))
		return;
	memcpy(ex->cookie, value.ptr, value.len);
	ex->cookie[value.len] = '\0';
}

bool
um_check_state(const struct um_context *context, struct um_exchange *ex,
	enum um_purpose purpose)
{
	struct um_str state = um_form_get(&ex->form, "state");

	if (state.len == 0)
		return um_exchange_refuse(ex, UM_REFUSAL_STATE_MISSING);
	switch (um_token_open(&ex->token, state, context->keys, purpose,
		ex->provider->name, context->now_ms / 1000)) {
	case UM_TOKEN_GOOD:
		break;
	case UM_TOKEN_EXPIRED:
		return um_exchange_refuse(ex, UM_REFUSAL_STATE_EXPIRED);
	case UM_TOKEN_INVALID:
		return um_exchange_refuse(ex, UM_REFUSAL_STATE_INVALID);
	}
	ex->has_token = true;
	read_cookie(ex);
	if (!um_token_fits_browser(&ex->token, um_str(ex->cookie)))
		return um_exchange_refuse(ex, UM_REFUSAL_WRONG_BROWSER);
	return true;
}

bool
um_check_user(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_request *request = &ex->request;
	struct um_str ticket;
	const char *name;

	switch (context->config->user_check) {
	case UM_USER_CONFIRM:
		return true;
	case UM_USER_REMOTE:
		name = request->get("REMOTE_USER", request->get_arg);
		if (name == NULL || name[0] == '\0'
			|| strlen(name) > UM_SUBJECT_MAX
			|| !um_str_is_text(um_str(name)))
			return um_exchange_refuse(ex,
				UM_REFUSAL_SIGN_IN_NOT_SET_UP);
		memcpy(ex->user, name, strlen(name) + 1);
		return true;
	case UM_USER_TICKET:
		break;
	}
	um_cookie_get(&ticket, request->cookie, UM_TICKET_COOKIE);
	return um_ticket_open(ex->user, ticket, context->keys,
		       context->now_ms / 1000)
		|| um_exchange_refuse(ex, UM_REFUSAL_SIGN_IN_REQUIRED);
}

void
um_exchange_ensure_cookie(const struct um_context *context,
	struct um_exchange *ex)
{
	uint8_t bytes[16];

	/* One cookie for all flows of a browser: what it has, it keeps. */
	if (strlen(ex->cookie) >= UM_COOKIE_LEN)
		return;
	context->random(bytes, sizeof(bytes));
	um_base64url_encode(ex->cookie, bytes, sizeof(bytes));
}

void
um_exchange_set_cookie(struct um_exchange *ex)
{
	um_response_cookie(&ex->response, UM_COOKIE_NAME, ex->cookie,
		UM_COOKIE_MAX_AGE);
}

void
um_exchange_request_op(struct um_exchange *ex, enum um_op_kind kind)
{
	struct um_op *op = &ex->op;

	ex->asked = 1;
	op->kind = kind;
	memcpy(op->id, ex->token.id, sizeof(op->id));
	memcpy(op->binding, ex->token.binding, sizeof(op->binding));
	op->provider = ex->provider->name;
}

/*
 * Somebody else than the subject is signed in: the row stays as it is, and
 * an event that says nothing to it is kept for whoever looks into it.
 */
static void
wrong_user(struct um_exchange *ex)
{
	struct um_event *event = calloc(1, sizeof(*event));

	um_exchange_refuse(ex, UM_REFUSAL_WRONG_USER);
	ex->wrong_user = true;
	free(ex->events);
	ex->events = event;
	if (event == NULL)
		return;
	event->effect = UM_EFFECT_IGNORE;
	snprintf(event->identity, sizeof(event->identity), "request:%s",
		ex->request.id);
	snprintf(event->type, sizeof(event->type), "wrong_user");
	um_op_free(&ex->op);
	um_exchange_request_op(ex, UM_OP_EVENT);
	ex->op.event = event;
}

bool
um_require_owner(struct um_exchange *ex)
{
	uint8_t browser[UM_BROWSER_LEN];

	if (ex->user[0] != '\0'
		&& (ex->op.row.subject == NULL
			|| strcmp(ex->user, ex->op.row.subject) != 0)) {
		wrong_user(ex);
		return false;
	}
	if (um_token_is_bound(&ex->token))
		return true; /* um_check_state() has compared it */
	um_browser_digest(browser, um_str(ex->cookie));
	return (ex->cookie[0] != '\0' && ex->op.row.has_browser
		       && CRYPTO_memcmp(browser, ex->op.row.browser,
				  sizeof(browser))
			       == 0)
		|| um_exchange_refuse(ex, UM_REFUSAL_WRONG_BROWSER);
}

struct um_delivery
um_delivery(const struct um_context *context, struct um_exchange *ex)
{
	return (struct um_delivery){
		.query = ex->request.query,
		.content_type = ex->request.content_type,
		.body = ex->request.body,
		.header = um_request_header,
		.arg = &ex->request,
		.now_ms = context->now_ms,
	};
}

bool
um_check_verdict(struct um_exchange *ex, enum um_verdict verdict)
{
	switch (verdict) {
	case UM_DELIVERY_GOOD:
		return true;
	case UM_DELIVERY_UNSIGNED:
		return um_exchange_refuse(ex, UM_REFUSAL_SIGNATURE_MISSING);
	case UM_DELIVERY_FORGED:
		return um_exchange_refuse(ex, UM_REFUSAL_SIGNATURE_INVALID);
	case UM_DELIVERY_STALE:
		return um_exchange_refuse(ex,
			UM_REFUSAL_TIMESTAMP_OUT_OF_TOLERANCE);
	case UM_DELIVERY_MALFORMED:
		break;
	}
	return um_exchange_refuse(ex, UM_REFUSAL_BODY_MALFORMED);
}

bool
um_exchange_mint(const struct um_context *context, struct um_exchange *ex,
	enum um_purpose purpose, int64_t expires,
	char text[static UM_TOKEN_LEN + 1])
{
	struct um_token token = ex->token;
	uint8_t nonce[UM_NONCE_LEN];

	token.expires = expires;
	um_browser_digest(token.browser, um_str(ex->cookie));
	context->random(nonce, sizeof(nonce));
	return um_token_mint(text, &token, context->keys, purpose,
		       ex->provider->name, nonce)
		|| um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
}

bool
um_exchange_answer_common(struct um_exchange *ex)
{
	if (ex->wrong_user)
		return true; /* the refusal stands since before the event */
	switch (ex->op.outcome) {
	case UM_OUTCOME_UNAVAILABLE:
		um_exchange_unavailable(ex, NULL);
		return true;
	case UM_OUTCOME_FAILED:
		um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
		return true;
	case UM_OUTCOME_UNKNOWN:
		um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_ELICITATION);
		return true;
	case UM_OUTCOME_WRONG_USER:
		wrong_user(ex);
		return true;
	case UM_OUTCOME_EXPIRED:
		um_exchange_refuse(ex, UM_REFUSAL_EXPIRED);
		return true;
	default:
		break;
	}
	ex->outcome = um_outcome_text(ex->op.outcome);
	return false;
}

void
um_exchange_free(struct um_exchange *ex)
{
	um_response_free(&ex->response);
	um_form_free(&ex->form);
	um_op_free(&ex->op);
	for (size_t i = 0; i < ex->ops_len; i++)
		um_op_free(&ex->ops[i]);
	free(ex->ops);
	free(ex->events);
	explicit_bzero(ex->cookie, sizeof(ex->cookie));
	*ex = (struct um_exchange){ 0 };
}
