/* SPDX-License-Identifier: MIT */
/*
 * /connect/<provider>?state=
 *
 * The link that the MCP server gave to the user, who goes on from here to the
 * target URL of the row.
 *
 * Where it is known who the user is (user_check remote-user or session-ticket),
 * GET opens the row for its subject and redirects. Otherwise (confirm):
 *
 * GET   shows the confirm page: who asks, for whom, and where to. It changes
 *       nothing, and gives the browser its cookie.
 * POST  is the answer to that page, with a token that is bound to this browser.
 *       "continue" opens the row and redirects; "refuse" completes the row
 *       with decline, access_denied.
 */
#include <stdio.h>
#include <string.h>

#include "app/checks.h"
#include "http/page.h"
#include "server/main.h"
#include "webhook/amount.h"

static um_step looked_up, opened, declined, ended;

static void
plan_open(const struct um_context *context, struct um_exchange *ex)
{
	um_exchange_ensure_cookie(context, ex);
	um_exchange_request_op(ex, UM_OP_OPEN, opened);
	um_browser_digest(ex->op.browser, context->keys, um_str(ex->cookie));
	ex->op.grace_ms = ex->provider->grace_ms;
	ex->op.subject = ex->user[0] != '\0' ? ex->user : NULL;
}

/* The answer to the confirm page. */
static void
plan_answer(const struct um_context *context, struct um_exchange *ex)
{
	struct um_str pressed = um_form_get(&ex->form, "answer");

	/* The link alone opens nothing: the page's token is bound. */
	if (!um_token_is_bound(&ex->token)) {
		um_exchange_refuse(ex, UM_REFUSAL_WRONG_BROWSER);
	} else if (um_str_is(pressed, "continue")) {
		plan_open(context, ex);
	} else if (um_str_is(pressed, "refuse")) {
		um_exchange_request_op(ex, UM_OP_COMPLETE, declined);
		ex->op.action = "decline";
		ex->op.reason = ex->reason = "access_denied";
	} else {
		um_exchange_refuse(ex, UM_REFUSAL_ANSWER_INVALID);
	}
}

static void
plan(const struct um_context *context, struct um_exchange *ex)
{
	bool confirm = context->config->user_check == UM_USER_CONFIRM;

	if (!um_check_route(context, ex, "/connect/", "", UM_KIND_ANY)
		|| !um_check_method(ex,
			confirm ? "GET, HEAD, POST" : "GET, HEAD")
		|| !um_check_fields(ex)
		|| !um_check_state(context, ex, UM_PURPOSE_CONNECT)
		|| !um_check_user(context, ex))
		return;
	if (ex->request.method == UM_POST)
		plan_answer(context, ex);
	else if (confirm || ex->request.method == UM_HEAD)
		um_exchange_request_op(ex, UM_OP_LOOK_UP, looked_up);
	else
		plan_open(context, ex);
}

/* What is to be paid, in `text`; empty where nothing is said of it. */
static struct um_str
format_amount(char text[static UM_AMOUNT_LEN + 1], const struct um_row *row)
{
	if (row->currency == NULL)
		return (struct um_str){ 0 };
	um_amount_format(text, row->amount, row->currency);
	return um_str(text);
}

static void
show_confirm_page(const struct um_context *context, struct um_exchange *ex)
{
	static const enum um_confirm_what what_of[] = {
		[UM_KIND_OAUTH] = UM_CONFIRM_ACCOUNT,
		[UM_KIND_PAYMENT] = UM_CONFIRM_PAYMENT,
		[UM_KIND_SIGNATURE] = UM_CONFIRM_SIGNATURE,
	};
	char state[UM_TOKEN_LEN + 1];
	char amount[UM_AMOUNT_LEN + 1];
	struct um_confirm confirm = {
		.what = what_of[ex->provider->kind],
		.requester = um_str(ex->op.row.requester),
		.subject = um_str(ex->op.row.subject),
		.provider = um_str(ex->provider->name),
		.display_name = um_str(ex->provider->display_name),
		.state = { state, UM_TOKEN_LEN },
		.amount = format_amount(amount, &ex->op.row),
		.currency = um_str(ex->op.row.currency),
	};

	um_exchange_ensure_cookie(context, ex);
	if (!um_exchange_mint(context, ex, UM_PURPOSE_CONNECT,
		    ex->token.expires, state))
		return;
	um_page_confirm(&ex->response, &ex->request, &confirm);
	if (ex->request.method == UM_GET)
		um_exchange_set_cookie(ex);
}

/* To the target URL; for oauth with `state` added (RFC 6749 section 4.1.1). */
static void
redirect_to_target(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf url = { 0 };

	um_buf_puts(&url, ex->op.row.target_url);
	if (strcmp(ex->op.row.kind, "oauth") == 0) {
		char state[UM_TOKEN_LEN + 1];

		if (!um_exchange_mint(context, ex, UM_PURPOSE_RETURN,
			    ex->op.row.expires, state))
			goto out;
		um_buf_puts(&url,
			strchr(ex->op.row.target_url, '?') != NULL ? "&state="
								   : "?state=");
		um_buf_puts(&url, state);
	}
	um_response_redirect(&ex->response, um_buf_str(&url));
	um_exchange_set_cookie(ex);
	ex->response.headers.failed |= url.failed;
out:
	um_buf_free(&url);
}

/* A browser does not repeat a POST: it comes back to the confirm page. */
static void
refuse_unavailable_post(const struct um_context *context,
	struct um_exchange *ex)
{
	char url[sizeof("/connect/?state=") + UM_PROVIDER_MAX + UM_TOKEN_LEN];
	char state[UM_TOKEN_LEN + 1];

	if (!um_exchange_mint(context, ex, UM_PURPOSE_CONNECT,
		    ex->token.expires, state))
		return;
	snprintf(url, sizeof(url), "/connect/%s?state=%s", ex->provider->name,
		state);
	um_exchange_refuse_unavailable(ex, url);
}

static bool
check_done(const struct um_context *context, struct um_exchange *ex)
{
	if (ex->op.status != UM_STORE_UNAVAILABLE
		|| ex->request.method != UM_POST)
		return um_check_done(ex);
	refuse_unavailable_post(context, ex);
	return false;
}

/* It was completed earlier, and maybe paid after that. */
static enum um_final_page
page_of_completed(const struct um_exchange *ex)
{
	return ex->op.row.late ? UM_FINAL_PAGE_LATE : UM_FINAL_PAGE_ALREADY;
}

static void
looked_up(const struct um_context *context, struct um_exchange *ex)
{
	if (!check_done(context, ex))
		return;
	switch (ex->op.outcome.look_up) {
	case UM_LOOK_UP_PENDING:
	case UM_LOOK_UP_OPENED:
		/* A payment that was opened outlives its expiry. */
		if (ex->op.row.expires > context->now_ms / 1000)
			show_confirm_page(context, ex);
		else
			um_exchange_refuse(ex, UM_REFUSAL_EXPIRED);
		break;
	case UM_LOOK_UP_PROCESSING:
		um_page_final(&ex->response, &ex->request,
			UM_FINAL_PAGE_PROCESSING);
		break;
	case UM_LOOK_UP_COMPLETED:
		um_page_final(&ex->response, &ex->request,
			page_of_completed(ex));
		break;
	case UM_LOOK_UP_EXPIRED:
		um_exchange_refuse(ex, UM_REFUSAL_EXPIRED);
		break;
	case UM_LOOK_UP_UNKNOWN:
		um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_ELICITATION);
		break;
	}
}

static void
opened(const struct um_context *context, struct um_exchange *ex)
{
	if (!check_done(context, ex))
		return;
	switch (ex->op.outcome.open) {
	case UM_OPEN_OPENED:
		redirect_to_target(context, ex);
		break;
	case UM_OPEN_PROCESSING:
		um_page_redirect_to_done(&ex->response,
			UM_FINAL_PAGE_PROCESSING);
		break;
	case UM_OPEN_COMPLETED:
		um_exchange_request_op(ex, UM_OP_LOOK_UP, ended);
		break;
	case UM_OPEN_WRONG_USER:
		um_exchange_refuse_wrong_user(ex);
		break;
	case UM_OPEN_EXPIRED:
		um_exchange_refuse(ex, UM_REFUSAL_EXPIRED);
		break;
	case UM_OPEN_UNKNOWN:
		um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_ELICITATION);
		break;
	}
}

static void
declined(const struct um_context *context, struct um_exchange *ex)
{
	if (!check_done(context, ex) || !um_check_completed(ex))
		return;
	if (ex->op.outcome.complete == UM_COMPLETE_COMPLETED)
		um_page_redirect_to_done(&ex->response, UM_FINAL_PAGE_DECLINED);
	else
		um_exchange_request_op(ex, UM_OP_LOOK_UP, ended);
}

static void
ended(const struct um_context *context, struct um_exchange *ex)
{
	if (check_done(context, ex))
		um_page_redirect_to_done(&ex->response, page_of_completed(ex));
}

int
main(int argc, char **argv)
{
	static const struct um_program program = { "connect", UM_BODY_MAX,
		plan };

	return um_program_main(&program, argc, argv);
}
