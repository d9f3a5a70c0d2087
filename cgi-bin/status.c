/* SPDX-License-Identifier: MIT */
/*
 * /done      the last page; a cookie of one minute says which one
 * /status    JSON for the page that follows a payment: ?provider=&state=, with
 *            a return token, in the browser that went on from /connect
 * /metrics   what all programs of this host have counted, how they are and,
 *            while the database answers, what it says
 * /healthz   200 while the database and all programs answer; 503, and which
 *            does not
 * /healthz/live
 *            200 while this program answers
 */
#include "app/checks.h"
#include "core/json_put.h"
#include "http/cookie.h"
#include "http/page.h"
#include "server/main.h"
#include "server/metrics_page.h"

static um_step pinged, looked_up, payments_counted;

static void
plan_done(struct um_exchange *ex)
{
	enum um_final_page page = UM_FINAL_PAGE_DONE;
	struct um_str code;

	if (!um_check_method(ex, "GET"))
		return;
	um_cookie_get(&code, ex->request.cookie, UM_FINAL_PAGE_COOKIE);
	for (int i = 0; i < UM_FINAL_PAGE_COUNT; i++)
		if (um_str_is(code, um_final_page_code((enum um_final_page)i)))
			page = (enum um_final_page)i;
	um_page_final(&ex->response, &ex->request, page);
	ex->outcome = um_final_page_code(page);
}

static void
plan_status(const struct um_context *context, struct um_exchange *ex)
{
	ex->plain = true;
	if (!um_check_method(ex, "GET") || !um_check_fields(ex))
		return;
	ex->provider = um_config_provider(context->config,
		um_form_get(&ex->form, "provider"));
	if (ex->provider == NULL)
		um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_PROVIDER);
	else if (um_check_state(context, ex, UM_PURPOSE_RETURN))
		um_exchange_request_op(ex, UM_OP_LOOK_UP, looked_up);
}

static void
plan_metrics(struct um_exchange *ex)
{
	if (um_check_method(ex, "GET"))
		um_exchange_request_op(ex, UM_OP_COUNT_UNCLAIMED,
			payments_counted);
}

static void
plan_healthz(struct um_exchange *ex)
{
	if (um_check_method(ex, "GET, HEAD"))
		um_exchange_request_op(ex, UM_OP_PING, pinged);
}

static void
plan_live(struct um_exchange *ex)
{
	if (!um_check_method(ex, "GET, HEAD"))
		return;
	ex->outcome = "ok";
	ex->response.status = 200;
	ex->response.content_type = "application/json";
	um_buf_puts(&ex->response.body, "{\"status\":\"ok\"}");
}

static void
plan(const struct um_context *context, struct um_exchange *ex)
{
	struct um_str path = ex->request.path;

	if (um_str_is(path, "/done"))
		plan_done(ex);
	else if (um_str_is(path, "/status"))
		plan_status(context, ex);
	else if (um_str_is(path, "/metrics"))
		plan_metrics(ex);
	else if (um_str_is(path, "/healthz"))
		plan_healthz(ex);
	else if (um_str_is(path, "/healthz/live"))
		plan_live(ex);
	else
		um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_ROUTE);
}

static void
put_member(struct um_buf *json, const char *name, const char *value)
{
	um_json_put_key(json, um_str(name));
	if (value != NULL)
		um_json_put_string(json, um_str(value));
	else
		um_json_put_null(json);
}

/* Whether each of the programs that have run here answers. */
static bool
programs_answer(const struct um_context *context)
{
	for (size_t i = 0; i < UM_METRICS_PROGRAMS_LEN; i++) {
		enum um_metrics_health health =
			um_metrics_health(context->metrics, i,
				context->clock_ms);

		if (health != UM_METRICS_OK && health != UM_METRICS_UNKNOWN)
			return false;
	}
	return true;
}

static void
put_programs(const struct um_context *context, struct um_buf *json)
{
	static const char *const words[] = {
		[UM_METRICS_OK] = "ok",
		[UM_METRICS_SILENT] = "silent",
		[UM_METRICS_GONE] = "gone",
	};

	um_json_put_key(json, um_str("programs"));
	um_json_put_begin(json);
	for (size_t i = 0; i < UM_METRICS_PROGRAMS_LEN; i++) {
		enum um_metrics_health health =
			um_metrics_health(context->metrics, i,
				context->clock_ms);

		if (health != UM_METRICS_UNKNOWN)
			put_member(json, um_metrics_program_name(i),
				words[health]);
	}
	um_json_put_end(json);
}

static void
pinged(const struct um_context *context, struct um_exchange *ex)
{
	bool database = ex->op.status == UM_STORE_DONE;
	bool ok = database && programs_answer(context);

	ex->outcome = ok ? "ok" : "unavailable";
	ex->response.status = ok ? 200 : 503;
	ex->response.content_type = "application/json";
	um_json_put_begin(&ex->response.body);
	put_member(&ex->response.body, "status", ex->outcome);
	put_member(&ex->response.body, "database",
		database ? "ok" : "unavailable");
	put_programs(context, &ex->response.body);
	um_json_put_end(&ex->response.body);
}

/* The counters are there while the database is not. */
static void
payments_counted(const struct um_context *context, struct um_exchange *ex)
{
	ex->response.status = 200;
	ex->response.content_type = "text/plain; version=0.0.4";
	um_metrics_write(context->metrics, &ex->op, context->now_ms,
		context->clock_ms, &ex->response.body);
	ex->outcome = "ok";
}

static void
show_row(struct um_exchange *ex)
{
	const struct um_row *row = &ex->op.row;

	ex->response.status = 200;
	ex->response.content_type = "application/json";
	um_json_put_begin(&ex->response.body);
	put_member(&ex->response.body, "status", um_op_outcome_text(&ex->op));
	put_member(&ex->response.body, "action", row->action);
	put_member(&ex->response.body, "reason", row->reason);
	um_json_put_key(&ex->response.body, um_str("failed_attempts"));
	um_json_put_int(&ex->response.body, row->failed_attempts);
	um_json_put_key(&ex->response.body, um_str("late"));
	um_json_put_bool(&ex->response.body, row->late);
	um_json_put_end(&ex->response.body);
}

static void
looked_up(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_row *row = &ex->op.row;

	if (!um_check_done(ex))
		return;
	switch (ex->op.outcome.look_up) {
	case UM_LOOK_UP_COMPLETED:
		if (!um_require_owner(context, ex))
			return;
		/* For the page, which goes on to /done by itself. */
		um_response_cookie(&ex->response, UM_FINAL_PAGE_COOKIE,
			um_final_page_code(um_final_page_of(row->action,
				row->reason, row->late)),
			UM_FINAL_PAGE_MAX_AGE);
		show_row(ex);
		break;
	case UM_LOOK_UP_PENDING:
	case UM_LOOK_UP_OPENED:
	case UM_LOOK_UP_PROCESSING:
		if (um_require_owner(context, ex))
			show_row(ex);
		break;
	case UM_LOOK_UP_EXPIRED:
		um_exchange_refuse(ex, UM_REFUSAL_EXPIRED);
		break;
	case UM_LOOK_UP_UNKNOWN:
		um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_ELICITATION);
		break;
	}
}

int
main(int argc, char **argv)
{
	static const struct um_program program = { "status", UM_BODY_MAX,
		plan };

	return um_program_main(&program, argc, argv);
}
