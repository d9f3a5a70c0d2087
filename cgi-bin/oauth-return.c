/* SPDX-License-Identifier: MIT */
/*
 * /oauth/<provider>/return
 *
 * The authorization response (RFC 6749 section 4.1.2), in the query or as
 * form_post (OAuth 2.0 Form Post Response Mode). The state first: whoever
 * has none learns nothing. Then the issuer (RFC 9207 section 2.4), and the
 * signature where the provider signs its answer, then what it says; its
 * parameters are sealed for the waiting side.
 */
#include <string.h>

#include "app/program.h"
#include "app/result.h"
#include "http/escape.h"

/*
 * A cross-site POST carries no Lax cookie; the GET that follows a 303 does.
 * False for more than a query takes.
 */
static bool
come_again_by_get(struct um_exchange *ex, struct um_buf *url)
{
	size_t path_len;

	um_buf_printf(url, "/oauth/%s/return?", ex->provider->name);
	path_len = url->len;
	for (size_t i = 0; i < ex->form.len; i++) {
		if (i != 0)
			um_buf_puts(url, "&");
		um_escape_url_arg(url, ex->form.field[i].name);
		um_buf_puts(url, "=");
		um_escape_url_arg(url, ex->form.field[i].value);
	}
	um_buf_put(url, "", 1);
	url->len -= !url->failed;
	return !url->failed && url->len - path_len <= UM_QUERY_MAX;
}

/*
 * Instead of a refusal, as long as there is no cookie to compare, or nothing
 * that says who the user is.
 */
static void
redirect_to_get(struct um_exchange *ex)
{
	struct um_buf url = { 0 };

	if (come_again_by_get(ex, &url)) {
		um_response_free(&ex->response);
		um_response_redirect(&ex->response, um_buf_str(&url));
		ex->outcome = "redirected";
		ex->reason = "form_post";
	} else {
		um_exchange_refuse(ex, UM_REFUSAL_PARAMETERS_TOO_LARGE);
	}
	um_buf_free(&url);
}

/* RFC 9207 section 2.4: compared as strings, on errors as well. */
static bool
check_issuer(struct um_exchange *ex)
{
	struct um_str iss = um_form_get(&ex->form, "iss");

	if (ex->provider->issuer == NULL)
		return true;
	if (iss.ptr == NULL)
		return !ex->provider->sends_iss
			|| um_exchange_refuse(ex, UM_REFUSAL_ISSUER_MISSING);
	return um_str_is(iss, ex->provider->issuer)
		|| um_exchange_refuse(ex, UM_REFUSAL_ISSUER_MISMATCH);
}

/* A provider that signs its answer (Shopify) is believed only so. */
static bool
check_signature(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_spec *description = ex->provider->spec;
	const struct um_delivery delivery = um_delivery(context, ex);
	struct um_event event;

	return description == NULL || !um_spec_has_return(description)
		|| um_check_verdict(ex,
			um_spec_read_return(description, &delivery, &event));
}

/* What the provider's answer means, in the protocol's words. */
static bool
read_outcome(struct um_exchange *ex)
{
	struct um_str code = um_form_get(&ex->form, "code");
	struct um_str error = um_form_get(&ex->form, "error");

	if (code.len == 0 && error.len == 0)
		return um_exchange_refuse(ex, UM_REFUSAL_RESPONSE_INCOMPLETE);
	if (code.len != 0 && error.len != 0)
		return um_exchange_refuse(ex, UM_REFUSAL_RESPONSE_AMBIGUOUS);
	if (code.len != 0) {
		ex->op.action = "accept";
		ex->op.reason = "";
	} else if (um_str_is(error, "access_denied")) {
		ex->op.action = "decline";
		ex->op.reason = "access_denied";
	} else {
		ex->op.action = "cancel";
		ex->op.reason = "provider_error";
	}
	ex->reason = ex->op.reason;
	return true;
}

static void
plan(const struct um_context *context, struct um_exchange *ex)
{
	if (!um_check_route(context, ex, "/oauth/", "/return", UM_KIND_OAUTH)
		|| !um_check_method(ex, "GET, POST") || !um_check_fields(ex))
		return;
	if (!um_check_state(context, ex, UM_PURPOSE_RETURN)) {
		if (ex->request.method == UM_POST && ex->has_token
			&& ex->cookie[0] == '\0')
			redirect_to_get(ex);
		return;
	}
	/* Only /connect mints these, and always for one browser. */
	if (!um_token_is_bound(&ex->token)) {
		um_exchange_refuse(ex, UM_REFUSAL_WRONG_BROWSER);
		return;
	}
	if (!um_check_user(context, ex)) {
		if (ex->request.method == UM_POST)
			redirect_to_get(ex);
		return;
	}
	if (!check_issuer(ex) || !check_signature(context, ex)
		|| !read_outcome(ex))
		return;
	um_exchange_request_op(ex, UM_OP_COMPLETE);
	ex->op.subject = ex->user[0] != '\0' ? ex->user : NULL;
	/* A row that is refused makes its whole batch be done row by row. */
	if (!um_result_of_form(&ex->op, &ex->form, context))
		um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
	else if (ex->op.result.len > UM_RESULT_MAX)
		um_exchange_refuse(ex, UM_REFUSAL_PARAMETERS_TOO_LARGE);
}

static void
answer(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	if (ex->op.outcome == UM_OUTCOME_UNAVAILABLE && !ex->wrong_user
		&& ex->request.method == UM_POST) {
		struct um_buf url = { 0 };

		um_exchange_unavailable(ex,
			come_again_by_get(ex, &url) ? url.ptr : NULL);
		um_buf_free(&url);
		return;
	}
	if (um_exchange_answer_common(ex))
		return;
	if (ex->op.outcome == UM_OUTCOME_ALREADY)
		um_page_final(&ex->response, UM_FINAL_PAGE_ALREADY);
	else if (ex->op.outcome == UM_OUTCOME_PROCESSING)
		um_page_redirect_to_done(&ex->response,
			UM_FINAL_PAGE_PROCESSING);
	else if (strcmp(ex->op.action, "accept") == 0)
		um_page_redirect_to_done(&ex->response, UM_FINAL_PAGE_DONE);
	else if (strcmp(ex->op.action, "decline") == 0)
		um_page_redirect_to_done(&ex->response, UM_FINAL_PAGE_DECLINED);
	else
		um_page_redirect_to_done(&ex->response, UM_FINAL_PAGE_FAILED);
}

int
main(int argc, char **argv)
{
	static const struct um_program program = { "oauth-return", UM_BODY_MAX,
		plan, answer };

	return um_program_main(&program, argc, argv);
}
