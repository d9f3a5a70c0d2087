/* SPDX-License-Identifier: MIT */
/*
 * /connect/<provider>?state=S1
 *
 * Where it is known who the user is (remote-user, session-ticket), GET opens
 * the row for its subject alone, and sends the browser on to the row's target
 * URL, for oauth with S2 as its state. Otherwise (confirm):
 *
 * GET   the token, the row, and the confirm page: who asks, for whom, and
 *       where to. Changes nothing; gives the browser its cookie.
 * POST  the confirm page's answer, with a token bound to this browser.
 *       continue: opens the row, and sends the browser on.
 *       refuse: the row is completed with decline, access_denied.
 */
#include <stdio.h>
#include <string.h>

#include "app/program.h"

static void
ask_to_open(const struct um_context *context, struct um_exchange *ex)
{
	um_exchange_ensure_cookie(context, ex);
	um_exchange_request_op(ex, UM_OP_OPEN);
	um_browser_digest(ex->op.browser, um_str(ex->cookie));
	ex->op.subject = ex->user[0] != '\0' ? ex->user : NULL;
}

/* The confirm page's answer. */
static void
plan_answer(const struct um_context *context, struct um_exchange *ex)
{
	struct um_str pressed = um_form_get(&ex->form, "answer");

	/* The link alone opens nothing: only the page that this browser got. */
	if (!um_token_is_bound(&ex->token)) {
		um_exchange_refuse(ex, UM_REFUSAL_WRONG_BROWSER);
	} else if (um_str_is(pressed, "continue")) {
		ask_to_open(context, ex);
	} else if (um_str_is(pressed, "refuse")) {
		um_exchange_request_op(ex, UM_OP_COMPLETE);
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
		um_exchange_request_op(ex, UM_OP_LOOK_UP);
	else
		ask_to_open(context, ex);
}

static void
show_confirm_page(const struct um_context *context, struct um_exchange *ex)
{
	char state[UM_TOKEN_LEN + 1];
	struct um_confirm confirm = {
		.requester = um_str(ex->op.row.requester),
		.subject = um_str(ex->op.row.subject),
		.provider = um_str(ex->provider->name),
		.display_name = um_str(ex->provider->display_name),
		.state = { state, UM_TOKEN_LEN },
	};

	um_exchange_ensure_cookie(context, ex);
	if (!um_exchange_mint(context, ex, UM_PURPOSE_CONNECT,
		    ex->token.expires, state))
		return;
	um_page_confirm(&ex->response, &confirm);
	if (ex->request.method == UM_GET)
		um_exchange_set_cookie(ex);
}

/* The target URL, for oauth with `state` added (RFC 6749 section 4.1.1). */
static void
send_on(const struct um_context *context, struct um_exchange *ex)
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

/* The same question again, as a GET, when the database is back. */
static void
try_again_later(const struct um_context *context, struct um_exchange *ex)
{
	char url[sizeof("/connect/?state=") + UM_PROVIDER_MAX + UM_TOKEN_LEN];
	char state[UM_TOKEN_LEN + 1];

	if (!um_exchange_mint(context, ex, UM_PURPOSE_CONNECT,
		    ex->token.expires, state))
		return;
	snprintf(url, sizeof(url), "/connect/%s?state=%s", ex->provider->name,
		state);
	um_exchange_unavailable(ex, url);
}

static void
answer(const struct um_context *context, struct um_exchange *ex)
{
	if (ex->op.outcome == UM_OUTCOME_UNAVAILABLE
		&& ex->request.method == UM_POST) {
		try_again_later(context, ex);
		return;
	}
	if (um_exchange_answer_common(ex))
		return;
	switch (ex->op.kind) {
	case UM_OP_LOOK_UP:
		if (ex->op.outcome == UM_OUTCOME_COMPLETED)
			um_page_final(&ex->response, UM_FINAL_PAGE_ALREADY);
		else if (ex->op.outcome == UM_OUTCOME_PROCESSING)
			um_page_final(&ex->response, UM_FINAL_PAGE_PROCESSING);
		else
			show_confirm_page(context, ex);
		break;
	case UM_OP_OPEN:
		if (ex->op.outcome == UM_OUTCOME_OPENED)
			send_on(context, ex);
		else if (ex->op.outcome == UM_OUTCOME_PROCESSING)
			um_page_redirect_to_done(&ex->response,
				UM_FINAL_PAGE_PROCESSING);
		else
			um_page_redirect_to_done(&ex->response,
				UM_FINAL_PAGE_ALREADY);
		break;
	default:
		um_page_redirect_to_done(&ex->response,
			ex->op.outcome == UM_OUTCOME_COMPLETED
				? UM_FINAL_PAGE_DECLINED
				: ex->op.outcome == UM_OUTCOME_PROCESSING
				? UM_FINAL_PAGE_PROCESSING
				: UM_FINAL_PAGE_ALREADY);
	}
}

int
main(int argc, char **argv)
{
	static const struct um_program program = { "connect", UM_BODY_MAX, plan,
		answer };

	return um_program_main(&program, argc, argv);
}
