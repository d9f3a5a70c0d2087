/* SPDX-License-Identifier: MIT */
/*
 * /done      the last page; how it ended stands in a cookie of a minute
 * /status    JSON for the page that follows a payment: ?provider=&state=,
 *            with a return token, in the browser that went on from /connect
 * /metrics   what all programs of this host have counted
 * /healthz   200 while the database answers, 503 while it does not
 */
#include "app/program.h"
#include "core/json_put.h"
#include "http/cookie.h"

static void
put_member_or_null(struct um_buf *out, const char *name, const char *text)
{
	if (text != NULL) {
		um_json_put_member(out, name, um_str(text));
		return;
	}
	um_json_put_key(out, um_str(name));
	um_json_put_null(out);
}

/* The state of a row, or of the service where `row` is NULL. */
static void
show_json(struct um_exchange *ex, int status, const char *state,
	const struct um_row *row)
{
	struct um_buf *body = &ex->response.body;

	ex->response.status = status;
	ex->response.content_type = "application/json";
	um_json_put_begin(body);
	um_json_put_member(body, "status", um_str(state));
	if (row != NULL) {
		put_member_or_null(body, "action", row->action);
		put_member_or_null(body, "reason", row->reason);
	}
	um_json_put_end(body);
}

static void
done(struct um_exchange *ex)
{
	enum um_final_page ending = UM_FINAL_PAGE_DONE;
	struct um_str code;

	if (!um_check_method(ex, "GET"))
		return;
	um_cookie_get(&code, ex->request.cookie, UM_FINAL_PAGE_COOKIE);
	for (int i = 0; i < UM_FINAL_PAGE_COUNT; i++)
		if (um_str_is(code, um_final_page_code((enum um_final_page)i)))
			ending = (enum um_final_page)i;
	um_page_final(&ex->response, ending);
	ex->outcome = um_final_page_code(ending);
}

static void
plan(const struct um_context *context, struct um_exchange *ex)
{
	struct um_str path = ex->request.path;

	if (um_str_is(path, "/done")) {
		done(ex);
	} else if (um_str_is(path, "/healthz")) {
		/* No row has this id: an answer of any kind is what is asked. */
		if (um_check_method(ex, "GET, HEAD")) {
			ex->asked = 1;
			ex->op.kind = UM_OP_LOOK_UP;
			ex->op.provider = "";
		}
	} else if (um_str_is(path, "/metrics")) {
		if (!um_check_method(ex, "GET"))
			return;
		ex->response.status = 200;
		ex->response.content_type = "text/plain; version=0.0.4";
		um_metrics_write(context->metrics, &ex->response.body);
		ex->outcome = "ok";
	} else if (um_str_is(path, "/status")) {
		ex->plain = true;
		if (!um_check_method(ex, "GET") || !um_check_fields(ex))
			return;
		ex->provider = um_config_provider(context->config,
			um_form_get(&ex->form, "provider"));
		if (ex->provider == NULL)
			um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_PROVIDER);
		else if (um_check_state(context, ex, UM_PURPOSE_RETURN))
			um_exchange_request_op(ex, UM_OP_LOOK_UP);
	} else {
		um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_ROUTE);
	}
}

static void
answer(const struct um_context *context, struct um_exchange *ex)
{
	bool health = ex->provider == NULL;

	(void)context;
	if (health && ex->op.outcome == UM_OUTCOME_UNKNOWN) {
		show_json(ex, 200, "ok", NULL);
		ex->outcome = "ok";
	} else if (health) {
		show_json(ex, 503, "unavailable", NULL);
		ex->outcome = "unavailable";
	} else if (!um_exchange_answer_common(ex) && um_require_owner(ex)) {
		/* The page goes on to /done by itself. */
		if (ex->op.outcome == UM_OUTCOME_COMPLETED)
			um_response_cookie(&ex->response, UM_FINAL_PAGE_COOKIE,
				um_final_page_code(
					um_final_page_of(ex->op.row.action,
						ex->op.row.reason)),
				UM_FINAL_PAGE_MAX_AGE);
		show_json(ex, 200, um_outcome_text(ex->op.outcome),
			&ex->op.row);
	}
}

int
main(int argc, char **argv)
{
	static const struct um_program program = { "status", UM_BODY_MAX, plan,
		answer };

	return um_program_main(&program, argc, argv);
}
