/* SPDX-License-Identifier: MIT */
/*
 * /connect/<provider>?state=
 * /signin/return              the end of a sign-in: see app/signin.h
 *
 * The link that the MCP server gave to the user, whom it sends on to the target
 * URL of the row.
 *
 * If user_check tells who the user is, GET opens the row for its subject and
 * redirects; with openid a browser without a session signs in first. Otherwise
 * (confirm):
 *
 * GET   shows the confirm page: who asks, for whom, and the destination. It
 *       changes no row, and sets the browser's cookie.
 * POST  is the answer to that page, with a token that is bound to this browser.
 *       "continue" opens the row and redirects; "refuse" completes the row
 *       with decline, access_denied.
 */
#include <string.h>

#include "app/checks.h"
#include "app/signin.h"
#include "server/main.h"

#define ROUTE "/connect/"

static um_step looked_up, opened, declined, ended;

static void
plan_open(const struct um_context *context, struct um_exchange *ex)
{
	um_browser_ensure_cookie(ex->cookie, context);
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

	/* The link's own token is not bound, and cannot answer. */
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
	enum um_user_check check = context->config->user_check;
	bool confirm = check == UM_USER_CONFIRM;

	if (um_str_is(ex->request.path, UM_SIGNIN_ROUTE)) {
		um_signin_return(context, ex);
		return;
	}
	if (!um_check_route(context, ex, ROUTE, "", UM_KIND_ANY)
		|| !um_check_method(ex,
			confirm ? "GET, HEAD, POST" : "GET, HEAD")
		|| !um_check_fields(ex)
		|| !um_check_state(context, ex, UM_PURPOSE_CONNECT)
		|| !um_check_user(context, ex)
		|| (check == UM_USER_OPENID
			&& !um_signin_require(context, ex, ROUTE)))
		return;
	if (ex->request.method == UM_POST)
		plan_answer(context, ex);
	else if (confirm || ex->request.method == UM_HEAD)
		um_exchange_request_op(ex, UM_OP_LOOK_UP, looked_up);
	else
		plan_open(context, ex);
}

static void
show_confirm_page(const struct um_context *context, struct um_exchange *ex)
{
	um_browser_ensure_cookie(ex->cookie, context);
	ex->sets_cookie = ex->request.method == UM_GET;
	if (um_exchange_mint(context, ex, UM_PURPOSE_CONNECT,
		    ex->token.expires))
		ex->answer = UM_ANSWER_CONFIRM;
}

/* To the target URL; for oauth with `state` added (RFC 6749 section 4.1.1). */
static void
redirect_to_target(const struct um_context *context, struct um_exchange *ex)
{
	const char *target = ex->op.row.target_url;

	um_buf_puts(&ex->url, target);
	if (strcmp(ex->op.row.kind, "oauth") == 0) {
		if (!um_exchange_mint(context, ex, UM_PURPOSE_RETURN,
			    ex->op.row.expires))
			return;
		um_buf_cat(&ex->url,
			strchr(target, '?') != NULL ? "&state=" : "?state=",
			ex->state);
	}
	ex->sets_cookie = true;
	ex->answer = UM_ANSWER_REDIRECT;
}

/* A browser does not repeat a POST, so it comes back to the confirm page. */
static bool
check_done(const struct um_context *context, struct um_exchange *ex)
{
	if (ex->op.status == UM_STORE_UNAVAILABLE
		&& ex->request.method == UM_POST) {
		if (!um_exchange_mint(context, ex, UM_PURPOSE_CONNECT,
			    ex->token.expires))
			return false;
		um_buf_cat(&ex->url, ROUTE, ex->provider->name,
			"?state=", ex->state);
	}
	return um_check_done(ex);
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
	if (!check_done(context, ex) || !um_check_row(ex))
		return;
	if (ex->op.outcome == UM_ROW_PROCESSING) {
		ex->answer = UM_ANSWER_FINAL;
		ex->final = UM_FINAL_PAGE_PROCESSING;
	} else if (ex->op.outcome == UM_ROW_COMPLETED) {
		ex->answer = UM_ANSWER_FINAL;
		ex->final = page_of_completed(ex);
	} else if (ex->op.row.expires <= context->now_ms / 1000) {
		/* A payment that was opened can be paid after its expiry. */
		um_exchange_refuse(ex, UM_REFUSAL_EXPIRED);
	} else {
		show_confirm_page(context, ex);
	}
}

static void
opened(const struct um_context *context, struct um_exchange *ex)
{
	if (!check_done(context, ex))
		return;
	if (ex->op.outcome == UM_ROW_WRONG_USER
		&& context->config->user_check == UM_USER_OPENID)
		um_signin_offer_other(context, ex, ROUTE);
	if (!um_check_row(ex))
		return;
	if (ex->op.outcome == UM_ROW_PROCESSING)
		um_exchange_finish(ex, UM_FINAL_PAGE_PROCESSING);
	else if (ex->op.outcome == UM_ROW_COMPLETED)
		um_exchange_request_op(ex, UM_OP_LOOK_UP, ended);
	else
		redirect_to_target(context, ex);
}

static void
declined(const struct um_context *context, struct um_exchange *ex)
{
	if (!check_done(context, ex) || !um_check_completed(ex))
		return;
	if (ex->op.outcome == UM_ROW_COMPLETED)
		um_exchange_finish(ex, UM_FINAL_PAGE_DECLINED);
	else
		um_exchange_request_op(ex, UM_OP_LOOK_UP, ended);
}

static void
ended(const struct um_context *context, struct um_exchange *ex)
{
	if (check_done(context, ex))
		um_exchange_finish(ex, page_of_completed(ex));
}

int
main(int argc, char **argv)
{
	static const struct um_program program = { "connect", UM_BODY_MAX,
		plan };

	return um_program_main(&program, argc, argv);
}
