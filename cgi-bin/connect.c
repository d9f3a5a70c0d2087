/* SPDX-License-Identifier: MIT */
/*
 * /connect/<provider>?state=
 *
 * The link that the MCP server gave to the user, whom it sends on to the target
 * URL of the row. Its short state names the row, which says the binding.
 *
 * If user_check tells who the user is, GET opens the row for its subject and
 * redirects; with openid a browser without a session signs in first. HEAD
 * compares the subject, and changes nothing. Otherwise (confirm):
 *
 * GET   shows the confirm page: who asks, for whom, and the destination. It
 *       changes no row, and sets the browser's cookie.
 * POST  is the answer to that page, with a token that is bound to this browser.
 *       "continue" opens the row and redirects; "refuse" completes the row
 *       with decline, access_denied.
 *
 * The page of kinds input and approval is /form, which also asks what the confirm
 * page asks: GET sends the browser there, and there is no POST.
 *
 * Where a provider names the tenants that may use it, the row is asked first whose
 * it is.
 */
#include <string.h>

#include "app/checks.h"
#include "app/fresh.h"
#include "app/signin.h"
#include "server/main.h"

#define ROUTE "/connect/"

static um_step of_tenant, looked_up, opened, declined, ended, opened_form;

/* The row is opened for this browser, and for this user, if one is known. */
static void
request_op(const struct um_context *context, struct um_exchange *ex,
	enum um_op_kind kind, um_step *then)
{
	um_browser_ensure_cookie(ex->cookie, context);
	um_exchange_request_op(ex, kind, then);
	um_browser_digest(ex->op.browser, context->keys, um_str(ex->cookie));
	ex->op.subject = ex->user[0] != '\0' ? ex->user : NULL;
}

static enum um_refusal
plan_open(const struct um_context *context, struct um_exchange *ex)
{
	request_op(context, ex, ex->is_link ? UM_OP_OPEN_LINK : UM_OP_OPEN,
		opened);
	ex->op.grace_ms = ex->provider->grace_ms;
	return UM_REFUSAL_NONE;
}

/* The answer to the confirm page. */
static enum um_refusal
plan_answer(const struct um_context *context, struct um_exchange *ex)
{
	struct um_str pressed = um_form_get(&ex->form, "answer");
	enum um_refusal refusal = um_check_link(context, ex);

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	/* The link is bound to no browser, and cannot answer. */
	if (!um_token_is_bound(&ex->token))
		return UM_REFUSAL_WRONG_BROWSER;
	if (um_str_is(pressed, "continue"))
		return plan_open(context, ex);
	if (!um_str_is(pressed, "refuse"))
		return UM_REFUSAL_ANSWER_INVALID;
	um_exchange_request_op(ex, UM_OP_COMPLETE, declined);
	ex->op.action = "decline";
	ex->op.reason = ex->reason = "access_denied";
	return UM_REFUSAL_NONE;
}

/* What is asked of the database once its tenant may use the provider. */
static enum um_refusal
go_on(const struct um_context *context, struct um_exchange *ex)
{
	if (um_provider_has_form(ex->provider)) {
		request_op(context, ex, UM_OP_OPEN_FORM, opened_form);
		ex->op.only_looks = ex->request.method != UM_GET;
		ex->op.four_eyes = ex->provider->four_eyes;
		return UM_REFUSAL_NONE;
	}
	if (context->config->user_check != UM_USER_CONFIRM
		&& ex->request.method == UM_GET)
		return plan_open(context, ex);
	um_exchange_request_op(ex,
		ex->is_link ? UM_OP_LOOK_UP_LINK : UM_OP_LOOK_UP, looked_up);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
ask_whose(const struct um_context *context, struct um_exchange *ex)
{
	if (ex->provider->tenants == NULL || !ex->is_link)
		return go_on(context, ex);
	um_exchange_request_op(ex, UM_OP_LINK_TENANT, of_tenant);
	ex->op.tenants = ex->provider->tenants;
	return UM_REFUSAL_NONE;
}

static enum um_refusal
of_tenant(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if ((refusal = um_check_done(ex)) || (refusal = um_check_row(ex)))
		return refusal;
	return go_on(context, ex);
}

/*
 * A form is the confirm page as well, and nothing is decided here: GET opens the
 * row of a user who is known, and the browser goes on to /form.
 */
static enum um_refusal
plan_form(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if ((refusal = um_check_link(context, ex))
		|| (refusal = um_check_user(context, ex))
		|| um_signin_begins(context, ex, ROUTE, &refusal))
		return refusal;
	if (!ex->is_link)
		return UM_REFUSAL_STATE_INVALID;
	if (ex->is_approval_link
		&& context->config->user_check == UM_USER_CONFIRM)
		return UM_REFUSAL_APPROVAL_NEEDS_SIGN_IN;
	return ask_whose(context, ex);
}

static enum um_refusal
plan(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if ((refusal = um_check_link(context, ex))
		|| (refusal = um_check_user(context, ex))
		|| um_signin_begins(context, ex, ROUTE, &refusal))
		return refusal;
	return ask_whose(context, ex);
}

/*
 * Whether this browser has gone on from its link before: another tab may be at the
 * provider. It is no news to who comes back by an address of ours.
 */
static bool
was_opened_here(const struct um_context *context, const struct um_exchange *ex)
{
	return ex->is_link && ex->op.outcome == UM_ROW_OPENED
		&& um_require_owner(context, ex) == UM_REFUSAL_NONE;
}

static enum um_refusal
show_confirm_page(const struct um_context *context, struct um_exchange *ex)
{
	ex->opened_before = was_opened_here(context, ex);
	um_browser_ensure_cookie(ex->cookie, context);
	ex->sets_cookie = ex->request.method == UM_GET;
	ex->answer = UM_ANSWER_CONFIRM;
	return um_exchange_mint(context, ex, UM_PURPOSE_CONNECT,
		ex->op.row.expires);
}

/* To the target URL; for oauth with `state` added (RFC 6749 section 4.1.1). */
static enum um_refusal
redirect_to_target(const struct um_context *context, struct um_exchange *ex)
{
	const char *target = ex->op.row.target_url;

	um_buf_puts(&ex->url, target);
	if (strcmp(ex->op.row.kind, "oauth") == 0) {
		enum um_refusal refusal = um_exchange_mint(context, ex,
			UM_PURPOSE_RETURN, ex->op.row.expires);

		if (refusal)
			return refusal;
		um_buf_cat(&ex->url,
			strchr(target, '?') != NULL ? "&state=" : "?state=",
			ex->state);
	}
	ex->sets_cookie = true;
	ex->answer = UM_ANSWER_REDIRECT;
	return UM_REFUSAL_NONE;
}

/*
 * A browser does not repeat a POST, so it comes back to the confirm page. The
 * binding of the row is required of all that follows.
 */
static enum um_refusal
check_done(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if (ex->op.status == UM_STORE_UNAVAILABLE
		&& ex->request.method == UM_POST) {
		if ((refusal = um_exchange_mint(context, ex, UM_PURPOSE_CONNECT,
			     ex->token.expires)))
			return refusal;
		um_buf_cat(&ex->url, ROUTE, ex->provider->name,
			"?state=", ex->state);
	}
	if ((refusal = um_check_done(ex)))
		return refusal;
	memcpy(ex->token.binding, ex->op.binding, sizeof(ex->token.binding));
	return UM_REFUSAL_NONE;
}

/* About an account somebody else decides, and its link opens it again. */
static bool
is_under_way(const struct um_exchange *ex)
{
	return ex->op.outcome == UM_ROW_PROCESSING
		&& ex->provider->kind != UM_KIND_OAUTH;
}

static enum um_refusal
looked_up(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if ((refusal = check_done(context, ex))
		|| (refusal = um_check_subject(ex))
		|| (refusal = um_check_row(ex)))
		return refusal;
	ex->answer = UM_ANSWER_FINAL;
	if (is_under_way(ex))
		ex->final = UM_FINAL_PAGE_PROCESSING;
	else if (ex->op.outcome == UM_ROW_COMPLETED)
		ex->final = um_final_page_of_earlier(ex->op.row.action,
			ex->op.row.late);
	else if (ex->op.row.expires <= context->now_ms / 1000)
		/* A payment that was opened can be paid after its expiry. */
		return UM_REFUSAL_EXPIRED;
	else
		return show_confirm_page(context, ex);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
opened(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if ((refusal = check_done(context, ex)))
		return refusal;
	um_signin_offer_other(context, ex, ROUTE);
	if ((refusal = um_check_row(ex)))
		return refusal;
	if (ex->op.outcome == UM_ROW_PROCESSING)
		um_exchange_finish(ex, UM_FINAL_PAGE_PROCESSING);
	else if (ex->op.outcome == UM_ROW_COMPLETED)
		um_exchange_request_op(ex, UM_OP_LOOK_UP, ended);
	else
		return redirect_to_target(context, ex);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
opened_form(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if ((refusal = check_done(context, ex)))
		return refusal;
	um_signin_offer_other(context, ex, ROUTE);
	if ((refusal = um_check_row(ex))
		|| (refusal = um_exchange_mint(context, ex, UM_PURPOSE_FORM,
			    ex->op.row.expires)))
		return refusal;
	um_buf_cat(&ex->url, "/form/", ex->provider->name,
		"?state=", ex->state);
	ex->sets_cookie = ex->request.method == UM_GET;
	if (ex->sets_cookie)
		um_fresh_pass_on(context, ex);
	ex->answer = UM_ANSWER_REDIRECT;
	return UM_REFUSAL_NONE;
}

static enum um_refusal
declined(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if ((refusal = check_done(context, ex)) || (refusal = um_check_row(ex)))
		return refusal;
	if (ex->op.outcome == UM_ROW_PROCESSING)
		um_exchange_finish(ex, UM_FINAL_PAGE_PROCESSING);
	else if (ex->op.outcome == UM_ROW_COMPLETED)
		um_exchange_finish(ex, UM_FINAL_PAGE_DECLINED);
	else
		um_exchange_request_op(ex, UM_OP_LOOK_UP, ended);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
ended(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if ((refusal = check_done(context, ex)))
		return refusal;
	um_exchange_finish(ex,
		um_final_page_of_earlier(ex->op.row.action, ex->op.row.late));
	return UM_REFUSAL_NONE;
}

/* Where something else says who the user is, the row is opened at once. */
static bool
asks_to_confirm(const struct um_context *context,
	const struct um_provider *provider)
{
	(void)provider;
	return context->config->user_check == UM_USER_CONFIRM;
}

#define WITH_FORM (UM_KIND_BIT(UM_KIND_INPUT) | UM_KIND_BIT(UM_KIND_APPROVAL))

static const struct um_route routes[] = {
	{ .prefix = ROUTE,
		.suffix = "",
		.methods = "GET, HEAD",
		.kinds = UM_KINDS_ALL & ~WITH_FORM,
		.value_max = UM_FORM_VALUE_MAX,
		.plan = plan },
	{ .prefix = ROUTE,
		.suffix = "",
		.methods = "GET, HEAD",
		.kinds = WITH_FORM,
		.value_max = UM_FORM_VALUE_MAX,
		.plan = plan_form },
	{ .prefix = ROUTE,
		.suffix = "",
		.methods = "POST",
		.kinds = UM_KINDS_ALL & ~WITH_FORM,
		.body_max = UM_BODY_MAX,
		.value_max = UM_FORM_VALUE_MAX,
		.serves = asks_to_confirm,
		.plan = plan_answer },
	{ 0 },
};

int
main(int argc, char **argv)
{
	static const struct um_program program = { .name = "connect",
		.routes = routes,
		.measures = UM_OP_NONE };

	return um_program_main(&program, argc, argv);
}
