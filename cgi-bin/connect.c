/* SPDX-License-Identifier: MIT */
/*
 * /connect/<provider>?state=S1
 *
 * GET   the token, the row, and the confirm page: who asks, for whom, and
 *       where to. Changes nothing; gives the browser its cookie.
 * POST  the confirm page's answer, with a token bound to this browser.
 *       continue: the row becomes opened, and the browser goes on to the
 *       row's target URL, for oauth with S2 as its state.
 *       refuse: the row is completed with decline, access_denied.
 */
#include <stdio.h>
#include <string.h>

#include "base64.h"
#include "program.h"

#define COOKIE_MAX_AGE 86400 /* seconds */

static void
plan(const struct um_context *context, struct um_exchange *ex)
{
	struct um_str answer;

	if (!um_route(context, ex, "/connect/", "", UM_KIND_ANY)
		|| !um_method(ex, "GET, HEAD, POST") || !um_fields(ex)
		|| !um_state(context, ex, UM_PURPOSE_CONNECT))
		return;
	if (ex->request.method != UM_POST) {
		um_ask(ex, UM_OP_LOOK_UP);
		return;
	}

	/* The link alone opens nothing: only the page that this browser got. */
	if (!um_token_is_bound(&ex->token)) {
		um_refuse(ex, UM_REFUSAL_WRONG_BROWSER);
		return;
	}
	answer = um_form_get(&ex->form, "answer");
	if (um_str_is(answer, "continue")) {
		um_ask(ex, UM_OP_OPEN);
		um_browser(ex->op.browser, um_str(ex->cookie));
	} else if (um_str_is(answer, "refuse")) {
		um_ask(ex, UM_OP_COMPLETE);
		ex->op.action = "decline";
		ex->op.reason = ex->reason = "access_denied";
	} else {
		um_refuse(ex, UM_REFUSAL_ANSWER_INVALID);
	}
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

	/* One cookie for all flows of a browser: what it has, it keeps. */
	if (strlen(ex->cookie) < UM_COOKIE_LEN) {
		uint8_t bytes[16];

		context->random(bytes, sizeof(bytes));
		um_base64url_encode(ex->cookie, bytes, sizeof(bytes));
	}
	if (!um_mint(context, ex, UM_PURPOSE_CONNECT, ex->token.expires, state))
		return;
	um_page_confirm(&ex->response, &confirm);
	if (ex->request.method == UM_GET)
		um_response_cookie(&ex->response, UM_COOKIE_NAME, ex->cookie,
			COOKIE_MAX_AGE);
}

/* The target URL, for oauth with `state` added (RFC 6749 section 4.1.1). */
static void
send_on(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf url = { 0 };

	um_buf_puts(&url, ex->op.row.target_url);
	if (strcmp(ex->op.row.kind, "oauth") == 0) {
		char state[UM_TOKEN_LEN + 1];

		if (!um_mint(context, ex, UM_PURPOSE_RETURN, ex->op.row.expires,
			    state))
			goto out;
		um_buf_puts(&url,
			strchr(url.ptr != NULL ? url.ptr : "", '?') != NULL
				? "&state="
				: "?state=");
		um_buf_puts(&url, state);
	}
	um_response_redirect(&ex->response, um_buf_str(&url));
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

	if (!um_mint(context, ex, UM_PURPOSE_CONNECT, ex->token.expires, state))
		return;
	snprintf(url, sizeof(url), "/connect/%s?state=%s", ex->provider->name,
		state);
	um_unavailable(ex, url);
}

static void
answer(const struct um_context *context, struct um_exchange *ex)
{
	if (ex->op.outcome == UM_OUTCOME_UNAVAILABLE
		&& ex->request.method == UM_POST) {
		try_again_later(context, ex);
		return;
	}
	if (um_answer_common(ex))
		return;
	switch (ex->op.kind) {
	case UM_OP_LOOK_UP:
		if (ex->op.outcome == UM_OUTCOME_COMPLETED)
			um_page_ending(&ex->response, UM_ENDING_ALREADY);
		else if (ex->op.outcome == UM_OUTCOME_PROCESSING)
			um_page_ending(&ex->response, UM_ENDING_PROCESSING);
		else
			show_confirm_page(context, ex);
		break;
	case UM_OP_OPEN:
		if (ex->op.outcome == UM_OUTCOME_OPENED)
			send_on(context, ex);
		else if (ex->op.outcome == UM_OUTCOME_PROCESSING)
			um_page_go_to_done(&ex->response, UM_ENDING_PROCESSING);
		else
			um_page_go_to_done(&ex->response, UM_ENDING_ALREADY);
		break;
	default:
		um_page_go_to_done(&ex->response,
			ex->op.outcome == UM_OUTCOME_COMPLETED
				? UM_ENDING_DECLINED
				: ex->op.outcome == UM_OUTCOME_PROCESSING
				? UM_ENDING_PROCESSING
				: UM_ENDING_ALREADY);
	}
}

int
main(int argc, char **argv)
{
	static const struct um_program program = { "connect", UM_BODY_MAX, plan,
		answer };

	return um_program_main(&program, argc, argv);
}
