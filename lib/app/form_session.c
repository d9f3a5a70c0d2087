/* SPDX-License-Identifier: MIT */
#include "app/form_session.h"

#include <string.h>

#include "app/checks.h"
#include "app/form_row.h"
#include "app/fresh.h"
#include "app/kept.h"
#include "app/signin.h"
#include "form/answers.h"

void
um_form_session_put_address(struct um_exchange *ex, struct um_buf *url)
{
	struct um_str state = um_form_get(&ex->form, "state");

	um_buf_clear(url);
	um_buf_cat(url, UM_FORM_ROUTE, ex->provider->name, "?state=");
	um_buf_put(url, state.ptr, state.len);
}

bool
um_form_session_is_lost(const struct um_context *context,
	struct um_exchange *ex)
{
	if (ex->request.method != UM_POST || ex->user[0] != '\0'
		|| context->config->user_check == UM_USER_CONFIRM)
		return false;
	return um_kept_read_reader(context, ex)
		|| context->config->user_check != UM_USER_REMOTE;
}

/*
 * Sets ex->way_on to the form, where the user signs in before. It has a new state,
 * since a refusal has none that the browser has sent.
 */
static enum um_refusal
offer_form(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf way = { 0 };
	enum um_refusal refusal;

	if (context->config->user_check == UM_USER_OPENID) {
		um_form_session_put_address(ex, &way);
		um_signin_offer(context, ex, &way);
		um_buf_free(&way);
		return UM_REFUSAL_NONE;
	}
	refusal = um_exchange_mint(context, ex, UM_PURPOSE_FORM,
		ex->token.expires);
	um_buf_cat(&ex->way_on, UM_FORM_ROUTE, ex->provider->name,
		"?state=", ex->state);
	return refusal;
}

/* Nothing is stored, whatever the form says. */
static enum um_refusal
session_ended(const struct um_context *context, struct um_exchange *ex)
{
	struct um_definition definition = { 0 };
	struct um_answers answers = { 0 };

	if (um_check_done(ex) == UM_REFUSAL_NONE
		&& um_check_row(ex) == UM_REFUSAL_NONE
		&& ex->op.row.form.len != 0
		&& um_form_row_definition(context, ex, &definition)
			== UM_REFUSAL_NONE
		&& um_answers_read(&answers, &definition, &ex->form, false)
			== UM_ANSWERS_READ)
		um_kept_seal(context, ex, &definition, &answers);
	um_answers_free(&answers);
	um_definition_free(&definition);
	return UM_REFUSAL_SESSION_ENDED;
}

enum um_refusal
um_form_session_plan_end(const struct um_context *context,
	struct um_exchange *ex)
{
	enum um_refusal refusal = offer_form(context, ex);

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	if (ex->reader[0] == '\0')
		return UM_REFUSAL_SESSION_ENDED;
	/* What is secret, the form says. */
	um_exchange_request_op(ex, UM_OP_LOOK_UP_FORM, session_ended);
	ex->op.subject = ex->reader;
	ex->op.four_eyes = ex->provider->four_eyes;
	return UM_REFUSAL_NONE;
}

enum um_refusal
um_form_session_require_fresh(const struct um_context *context,
	struct um_exchange *ex, const struct um_definition *definition)
{
	struct um_answers answers = { 0 };
	enum um_refusal refusal;
	struct um_fresh fresh;

	if (context->config->user_check != UM_USER_OPENID)
		return UM_REFUSAL_STEP_UP_NOT_SET_UP;
	if (um_fresh_read(&fresh, context, ex))
		return UM_REFUSAL_NONE;
	if (ex->request.method != UM_POST)
		return um_signin_begin_fresh(context, ex, UM_FORM_ROUTE);
	if ((refusal = offer_form(context, ex)))
		return refusal;
	memcpy(ex->reader, ex->user, sizeof(ex->reader));
	if (um_answers_read(&answers, definition, &ex->form, false)
		== UM_ANSWERS_READ)
		um_kept_seal(context, ex, definition, &answers);
	um_answers_free(&answers);
	return UM_REFUSAL_SESSION_ENDED;
}
