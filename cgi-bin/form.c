/* SPDX-License-Identifier: MIT */
/*
 * /form/<provider>?state=
 *
 * The page of kinds input and approval, to which /connect sends the browser with
 * a token for it. It is the confirm page as well: it says who asks, for whom, and
 * what.
 *
 * GET   shows the form; or that the MCP server is checking what was sent; or what
 *       has become of it. It changes no row, but a value that was not checked in
 *       time is wiped.
 * POST  is the answer. What is sent is checked against the form, sealed at once,
 *       and never shown, except for values that are not secret: in a form with a
 *       mistake, and, to the same browser, in one that comes back from the check
 *       or, to the same user, whose session had ended (app/kept.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/checks.h"
#include "app/decision.h"
#include "app/form_row.h"
#include "app/form_session.h"
#include "app/fresh.h"
#include "app/kept.h"
#include "app/result.h"
#include "app/signin.h"
#include "core/json_put.h"
#include "crypto/seal.h"
#include "form/answers.h"
#include "form/definition.h"
#include "form/form_page.h"
#include "server/main.h"

#define BODY_MAX 262144 /* bytes; nginx's limit is the same */
/* Bytes of a value: the most characters, of four bytes each. */
#define VALUE_MAX ((size_t)4 * UM_FORM_VALUES_MAX)

_Static_assert(sizeof("{\"values\":}") + UM_ANSWERS_MAX + UM_SEAL_OVERHEAD
		<= UM_RESULT_MAX,
	"a result holds all values");

static um_step looked_up, answered;

static bool
is_approval(const struct um_exchange *ex)
{
	return ex->provider->kind == UM_KIND_APPROVAL;
}

static void
request_op(struct um_exchange *ex, enum um_op_kind kind, um_step *then)
{
	um_exchange_request_op(ex, kind, then);
	ex->op.subject = ex->user[0] != '\0' ? ex->user : NULL;
	ex->op.four_eyes = ex->provider->four_eyes;
}

/* A browser says from where a form is sent (Fetch Metadata). */
static enum um_refusal
check_site(struct um_exchange *ex)
{
	const char *site = um_request_header("Sec-Fetch-Site", &ex->request);

	return site == NULL || strcmp(site, "same-origin") == 0
			|| strcmp(site, "none") == 0
		? UM_REFUSAL_NONE
		: UM_REFUSAL_CROSS_SITE;
}

static enum um_refusal
plan(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if ((ex->request.method == UM_POST && (refusal = check_site(ex)))
		|| (refusal = um_check_state(context, ex, UM_PURPOSE_FORM)))
		return refusal;
	refusal = um_check_user(context, ex);
	if (um_form_session_is_lost(context, ex))
		return um_form_session_plan_end(context, ex);
	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	if (um_signin_begins(context, ex, UM_FORM_ROUTE, &refusal))
		return refusal;
	request_op(ex, UM_OP_LOOK_UP_FORM, looked_up);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
redirect_to_form(struct um_exchange *ex)
{
	um_form_session_put_address(ex, &ex->url);
	ex->answer = UM_ANSWER_REDIRECT;
	return UM_REFUSAL_NONE;
}

static void
show_form(const struct um_context *context, struct um_exchange *ex,
	const struct um_definition *definition,
	const struct um_answers *answers)
{
	struct um_json_node *problem = answers == NULL
		? um_form_row_problem(context, ex)
		: NULL;
	struct um_answers typed = { 0 };
	struct um_buf reader = { 0 }, other_account = { 0 };
	struct um_form_page form = {
		.definition = definition,
		.is_approval = is_approval(ex),
		.answers = answers,
		.problem = problem,
		.unchecked = answers == NULL && ex->op.row.unchecked,
		.requester = um_str(ex->op.row.requester),
		.subject = um_str(ex->user[0] == '\0'
					|| strcmp(ex->user, ex->op.row.subject)
						== 0
				? ""
				: ex->op.row.subject),
		.provider = um_str(ex->provider->name),
		.state = um_form_get(&ex->form, "state"),
		.acting = um_signin_acting(context, ex, UM_FORM_ROUTE,
			&other_account),
	};

	form.elsewhere = um_open_note(&ex->response, ex->request.cookie,
		ex->cookie, &ex->token, um_form_get(&ex->form, "state"));
	if (answers == NULL) {
		form.kept = um_kept_read(&typed, context, ex, definition);
		/* The link of a session that has ended opens no other tab. */
		form.elsewhere &= !form.kept;
		if (!form.kept)
			um_form_row_typed(context, ex, definition, &typed);
		if (typed.bytes != NULL)
			form.answers = &typed;
	}
	/* Without it the page does all but keep what is typed. */
	um_kept_put_reader(&reader, context, ex);
	form.reader = um_buf_str(&reader);
	um_form_page_put(&ex->response, &ex->request, &context->config->brand,
		&form);
	ex->answer = UM_ANSWER_WRITTEN;
	um_answers_free(&typed);
	um_buf_free(&reader);
	um_buf_free(&other_account);
	free(problem);
}

/* Seals what was sent, and has it stored. */
static enum um_refusal
store_answer(const struct um_context *context, struct um_exchange *ex,
	const struct um_definition *definition,
	const struct um_answers *answers, bool accepts)
{
	struct um_buf json = { 0 };
	bool ok = true;

	if (is_approval(ex)) {
		um_decision_put(&json, context, ex, definition,
			answers->comment.value);
	} else if (accepts) {
		um_json_put_begin(&json);
		um_json_put_key(&json, um_str("values"));
		um_answers_put(&json, answers, definition, true);
		um_json_put_end(&json);
	}
	request_op(ex, UM_OP_ANSWER_FORM, answered);
	if (is_approval(ex) && definition->step_up)
		um_decision_note(ex, context);
	um_browser_digest(ex->op.browser, context->keys, um_str(ex->cookie));
	ex->op.action = accepts ? "accept" : "decline";
	ex->op.reason = accepts   ? ""
		: is_approval(ex) ? "declined"
				  : "access_denied";
	if (json.len != 0 || json.failed)
		ok = um_result_of_json(&ex->op, &json, context);
	if (ok && accepts && !is_approval(ex))
		ok = um_form_row_seal_typed(context, ex, definition, answers);
	um_buf_free(&json);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}

static enum um_refusal
take_answer(const struct um_context *context, struct um_exchange *ex,
	const struct um_definition *definition)
{
	struct um_str pressed = um_form_get(&ex->form, "answer");
	bool accepts = um_str_is(pressed,
		is_approval(ex) ? "approve" : "submit");
	struct um_answers answers = { 0 };
	enum um_refusal refusal = UM_REFUSAL_NONE;

	if (!accepts && !um_str_is(pressed, "decline"))
		return UM_REFUSAL_ANSWER_INVALID;
	switch (um_answers_read(&answers, definition, &ex->form,
		accepts || is_approval(ex))) {
	case UM_ANSWERS_UNKNOWN:
		refusal = UM_REFUSAL_FIELD_UNKNOWN;
		break;
	case UM_ANSWERS_FAILED:
		refusal = UM_REFUSAL_INTERNAL_ERROR;
		break;
	case UM_ANSWERS_READ:
		if (answers.mistakes == 0) {
			refusal = store_answer(context, ex, definition,
				&answers, accepts);
		} else {
			ex->outcome = "refused";
			ex->reason = "values_invalid";
			show_form(context, ex, definition, &answers);
		}
		break;
	}
	um_answers_free(&answers);
	return refusal;
}

/*
 * What has become of it. Of two answers the second is told that there was one; a
 * browser that comes back to its form, how its own has ended: the value may have
 * been checked before it comes.
 */
static enum um_refusal
show_end(struct um_exchange *ex)
{
	const struct um_row *row = &ex->op.row;
	bool is_own = ex->request.method == UM_GET && row->has_browser
		&& memcmp(row->browser, ex->token.browser, UM_BROWSER_LEN) == 0;

	if (row->decided_by != NULL) {
		ex->answer = UM_ANSWER_DECIDED;
		return UM_REFUSAL_NONE;
	}
	ex->answer = UM_ANSWER_FINAL;
	ex->final = is_own
			|| (row->action != NULL
				&& strcmp(row->action, "cancel") == 0)
		? um_final_page_of_form(row->action, row->reason,
			is_approval(ex))
		: UM_FINAL_PAGE_ALREADY;
	return UM_REFUSAL_NONE;
}

static enum um_refusal
looked_up(const struct um_context *context, struct um_exchange *ex)
{
	bool posted = ex->request.method == UM_POST;
	struct um_definition definition = { 0 };
	enum um_refusal refusal;

	refusal = um_check_done(ex);
	if (refusal == UM_REFUSAL_UNAVAILABLE && posted)
		return UM_REFUSAL_NOT_STORED;
	if (refusal)
		return refusal;
	um_signin_offer_other(context, ex, UM_FORM_ROUTE);
	if ((refusal = um_check_row(ex)))
		return refusal;
	if (ex->op.outcome == UM_ROW_COMPLETED)
		return show_end(ex);
	if (ex->op.outcome == UM_ROW_PROCESSING) {
		/* Of two tabs, the first has sent its value. */
		if (posted)
			return redirect_to_form(ex);
		ex->answer = UM_ANSWER_CHECKING;
		return UM_REFUSAL_NONE;
	}
	refusal = um_form_row_definition(context, ex, &definition);
	if (refusal == UM_REFUSAL_NONE && definition.step_up)
		refusal = um_form_session_require_fresh(context, ex,
			&definition);
	if (refusal != UM_REFUSAL_NONE || ex->answer == UM_ANSWER_REDIRECT)
		; /* to the sign-in, or refused */
	else if (posted)
		refusal = take_answer(context, ex, &definition);
	else
		show_form(context, ex, &definition, NULL);
	um_definition_free(&definition);
	return refusal;
}

static enum um_refusal
answered(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	(void)context;
	if (ex->op.status == UM_STORE_UNAVAILABLE && !ex->op.was_sent)
		return UM_REFUSAL_NOT_STORED;
	/* It may have been stored: the address of the form tells. */
	if (ex->op.status == UM_STORE_UNAVAILABLE)
		um_form_session_put_address(ex, &ex->url);
	if ((refusal = um_check_done(ex)) || (refusal = um_check_row(ex)))
		return refusal;
	um_kept_delete(ex);
	um_fresh_delete(ex);
	if (ex->op.outcome != UM_ROW_COMPLETED)
		return redirect_to_form(ex);
	ex->reason = ex->op.reason;
	um_exchange_finish(ex,
		um_final_page_of_form(ex->op.action, "", is_approval(ex)));
	return UM_REFUSAL_NONE;
}

static const struct um_route routes[] = {
	{ .prefix = UM_FORM_ROUTE,
		.suffix = "",
		.methods = "GET, POST",
		.kinds = UM_KIND_BIT(UM_KIND_INPUT)
			| UM_KIND_BIT(UM_KIND_APPROVAL),
		.body_max = BODY_MAX,
		.value_max = VALUE_MAX,
		.plan = plan },
	{ 0 },
};

int
main(int argc, char **argv)
{
	static const struct um_program program = { .name = "form",
		.routes = routes,
		.measures = UM_OP_NONE };

	return um_program_main(&program, argc, argv);
}
