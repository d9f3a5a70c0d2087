/* SPDX-License-Identifier: MIT */
/*
 * /oauth/<provider>/return
 *
 * The authorization response (RFC 6749 section 4.1.2), in the query or posted
 * (OAuth 2.0 Form Post Response Mode). The checks, in this order: the state, so
 * that a request without one learns nothing; the browser and the user; the
 * issuer (RFC 9207 section 2.4); the signature, if the provider signs its
 * responses. Then the row is completed, with the parameters of the response as
 * its sealed result, unless the provider's description knows the response as one
 * that leaves it open: somebody else has to decide, or an admin has agreed. Of its
 * parameters state, iss and code must be readable.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "app/checks.h"
#include "app/cookies.h"
#include "app/result.h"
#include "core/encode.h"
#include "description/authorization.h"
#include "server/main.h"

static um_step completed, looked_up, found, requested;

/*
 * Sets ex->url to the address at which a GET has the same fields as this
 * request. False, and none is set, when they are longer than a query may be. A
 * form is a query, but for the bytes that no address has.
 */
static bool
set_url_of_get(struct um_exchange *ex)
{
	static const char kept[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789&=%-._~";
	struct um_str form = ex->request.body;
	struct um_buf *url = &ex->url;
	size_t path_len;

	um_buf_cat(url, "/oauth/", ex->provider->name, "/return?");
	path_len = url->len;
	for (size_t i = 0; i < form.len; i++) {
		char c = form.ptr[i];

		if (c != '\0' && strchr(kept, c) != NULL)
			um_buf_put(url, &c, 1);
		else if (c == '+')
			um_buf_puts(url, "%20");
		else
			um_buf_printf(url, "%%%02X", (unsigned char)c);
	}
	if (!url->failed && url->len - path_len <= UM_QUERY_MAX)
		return true;
	um_buf_free(url);
	return false;
}

/*
 * A cross-site POST carries no cookie with SameSite=Lax, but the GET that
 * follows a 303 does. So a POST without the cookie that would prove its
 * browser or its user is repeated as a GET, and refused only then.
 */
static enum um_refusal
redirect_to_get(struct um_exchange *ex)
{
	if (!set_url_of_get(ex))
		return UM_REFUSAL_PARAMETERS_TOO_LARGE;
	ex->answer = UM_ANSWER_REDIRECT;
	ex->outcome = "redirected";
	ex->reason = "form_post";
	return UM_REFUSAL_NONE;
}

/* RFC 9207 section 2.4: compared as strings, on errors as well. */
static enum um_refusal
check_issuer(const struct um_exchange *ex)
{
	struct um_str iss;
	enum um_refusal unreadable = um_form_read(&ex->form, "iss", &iss);

	if (unreadable != UM_REFUSAL_NONE || ex->provider->issuer == NULL)
		return unreadable;
	if (iss.ptr == NULL)
		return ex->provider->sends_iss ? UM_REFUSAL_ISSUER_MISSING
					       : UM_REFUSAL_NONE;
	return um_str_is(iss, ex->provider->issuer)
		? UM_REFUSAL_NONE
		: UM_REFUSAL_ISSUER_MISMATCH;
}

/* Only for a provider that signs its responses, as Shopify does. */
static enum um_refusal
check_signature(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_received received = um_exchange_return(context, ex);
	struct um_event event = { 0 };
	size_t len;

	return received.part == NULL
		? UM_REFUSAL_NONE
		: um_check_verdict(um_spec_read(received.part,
			&received.delivery, &event, &len));
}

static enum um_refusal
plan_complete(const struct um_context *context, struct um_exchange *ex,
	const char *action, const char *reason)
{
	um_exchange_request_op(ex, UM_OP_COMPLETE, completed);
	ex->op.subject = ex->user[0] != '\0' ? ex->user : NULL;
	ex->op.action = action;
	ex->op.reason = ex->reason = reason;
	/*
	 * PostgreSQL has the same limit, but when an operation fails there, its
	 * whole batch is repeated one by one.
	 */
	if (!um_result_of_form(&ex->op, &ex->form, context))
		return UM_REFUSAL_INTERNAL_ERROR;
	return ex->op.result.len > UM_RESULT_MAX
		? UM_REFUSAL_PARAMETERS_TOO_LARGE
		: UM_REFUSAL_NONE;
}

/* How it ends, in the protocol's words (MCP, elicitation); or it does not. */
static enum um_refusal
plan_response(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal unreadable;

	switch (um_authorization_read(ex->provider->response, &ex->form,
		&unreadable)) {
	case UM_AUTHORIZATION_UNREADABLE:
		return unreadable;
	case UM_AUTHORIZATION_AMBIGUOUS:
		return UM_REFUSAL_RESPONSE_AMBIGUOUS;
	case UM_AUTHORIZATION_CODE:
		return plan_complete(context, ex, "accept", "");
	case UM_AUTHORIZATION_DECLINED:
		return plan_complete(context, ex, "decline", "access_denied");
	case UM_AUTHORIZATION_FAILED:
		return plan_complete(context, ex, "cancel", "provider_error");
	case UM_AUTHORIZATION_CONSENTED:
		ex->final = UM_FINAL_PAGE_CONSENTED;
		break;
	case UM_AUTHORIZATION_REQUESTED:
		ex->final = UM_FINAL_PAGE_REQUESTED;
		break;
	}
	um_exchange_request_op(ex, UM_OP_LOOK_UP, found);
	return UM_REFUSAL_NONE;
}

/*
 * The state, and whose it is. *lacks_cookie: the cookie that would prove the
 * browser or the user did not come along.
 */
static enum um_refusal
check_owner(const struct um_context *context, struct um_exchange *ex,
	bool *lacks_cookie)
{
	enum um_refusal refusal = um_check_state(context, ex,
		UM_PURPOSE_RETURN);

	*lacks_cookie = refusal == UM_REFUSAL_WRONG_BROWSER
		&& ex->cookie[0] == '\0';
	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	/* Only /connect mints return tokens, always for one browser. */
	if (!um_token_is_bound(&ex->token))
		return UM_REFUSAL_WRONG_BROWSER;
	refusal = um_check_user(context, ex);
	*lacks_cookie = refusal != UM_REFUSAL_NONE;
	return refusal;
}

static enum um_refusal
plan(const struct um_context *context, struct um_exchange *ex)
{
	bool lacks_cookie;
	enum um_refusal refusal = check_owner(context, ex, &lacks_cookie);

	if (lacks_cookie && ex->request.method == UM_POST)
		return redirect_to_get(ex);
	if (refusal != UM_REFUSAL_NONE || (refusal = check_issuer(ex))
		|| (refusal = check_signature(context, ex)))
		return refusal;
	return plan_response(context, ex);
}

/*
 * What the user has granted is not connected yet: the MCP server has to exchange
 * the code. The last page follows that.
 */
static void
finish(const struct um_context *context, struct um_exchange *ex)
{
	if (strcmp(ex->op.action, "accept") != 0) {
		um_exchange_finish(ex,
			um_final_page_of(ex->op.action, ex->op.reason, false));
		return;
	}
	um_follow_set(&ex->response, context, &ex->token, ex->provider);
	um_exchange_finish(ex, UM_FINAL_PAGE_RETURNED);
}

static enum um_refusal
completed(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	/* A browser does not repeat a POST, so it tries again with a GET. */
	if (ex->op.status == UM_STORE_UNAVAILABLE
		&& ex->request.method == UM_POST)
		set_url_of_get(ex);
	if ((refusal = um_check_done(ex)) || (refusal = um_check_row(ex)))
		return refusal;
	if (ex->op.outcome == UM_ROW_PROCESSING)
		um_exchange_finish(ex, UM_FINAL_PAGE_PROCESSING);
	else if (ex->op.outcome == UM_ROW_COMPLETED)
		finish(context, ex);
	else
		um_exchange_request_op(ex, UM_OP_LOOK_UP, looked_up);
	return UM_REFUSAL_NONE;
}

/* It was completed, or ended, before this browser came back. */
static enum um_refusal
show_earlier(struct um_exchange *ex)
{
	ex->outcome = "already";
	ex->answer = UM_ANSWER_FINAL;
	ex->final = um_final_page_of_earlier(ex->op.row.action,
		ex->op.row.late);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
looked_up(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_check_done(ex);

	(void)context;
	return refusal != UM_REFUSAL_NONE ? refusal : show_earlier(ex);
}

/* The page has a link that goes on, for the same user in the same browser. */
static enum um_refusal
show_consented(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_exchange_mint(context, ex,
		UM_PURPOSE_CONNECT, ex->op.row.expires);

	um_buf_cat(&ex->way_on, "/connect/", ex->provider->name,
		"?state=", ex->state);
	ex->answer = UM_ANSWER_FINAL;
	return refusal;
}

/*
 * An event says that somebody else has to decide, so that the operator sees it.
 * The address of a return that is loaded again is the same, and so is its event.
 */
static enum um_refusal
plan_requested(const struct um_context *context, struct um_exchange *ex)
{
	struct um_str state = um_form_get(&ex->form, "state");
	struct um_event *event = calloc(1, sizeof(*event));
	uint8_t digest[SHA256_DIGEST_LENGTH];
	char hex[2 * SHA256_DIGEST_LENGTH + 1];

	if (event == NULL)
		return UM_REFUSAL_INTERNAL_ERROR;
	SHA256((const uint8_t *)state.ptr, state.len, digest);
	um_hex_encode(hex, digest, sizeof(digest));
	event->effect = UM_EFFECT_PROCESSING;
	snprintf(event->identity, sizeof(event->identity), "return:%s", hex);
	snprintf(event->type, sizeof(event->type), "requested");
	ex->events = event;
	um_exchange_request_op(ex, UM_OP_EVENT, requested);
	ex->op.event = event;
	return um_result_of_event(&ex->op, context) ? UM_REFUSAL_NONE
						    : UM_REFUSAL_INTERNAL_ERROR;
}

/* The row of a response that does not end it. */
static enum um_refusal
found(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if ((refusal = um_check_done(ex)) || (refusal = um_check_subject(ex))
		|| (refusal = um_check_row(ex)))
		return refusal;
	if (ex->op.outcome == UM_ROW_COMPLETED)
		return show_earlier(ex);
	return ex->final == UM_FINAL_PAGE_CONSENTED
		? show_consented(context, ex)
		: plan_requested(context, ex);
}

static enum um_refusal
requested(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_check_done(ex);

	(void)context;
	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	if (ex->op.event_outcome == UM_EVENT_LATE) {
		um_op_free(&ex->op);
		um_exchange_request_op(ex, UM_OP_LOOK_UP, looked_up);
	} else {
		um_exchange_finish(ex, UM_FINAL_PAGE_REQUESTED);
	}
	return UM_REFUSAL_NONE;
}

static const struct um_route routes[] = {
	{ .prefix = "/oauth/",
		.suffix = "/return",
		.methods = "GET, POST",
		.kinds = UM_KIND_BIT(UM_KIND_OAUTH),
		.body_max = UM_BODY_MAX,
		.value_max = UM_FORM_VALUE_MAX,
		.lenient = true,
		.plan = plan },
	{ 0 },
};

int
main(int argc, char **argv)
{
	static const struct um_program program = { .name = "oauth-return",
		.routes = routes,
		.measures = UM_OP_NONE };

	return um_program_main(&program, argc, argv);
}
