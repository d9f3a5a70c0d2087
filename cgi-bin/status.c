/* SPDX-License-Identifier: MIT */
/*
 * /done      the last page, which a cookie of one minute names. That of an account
 *            follows the row until it is known whether the account is connected
 * /status    JSON for the page that follows a payment, or the check of a form:
 *            ?provider=&state=, with a return or a form token, in the browser that
 *            opened the row at /connect
 * /metrics   the counters and the state of all programs of this host, and of the
 *            database while it answers
 * /healthz   200 while the database and all programs answer and transactions
 *            commit, else 503; it names each and its state
 * /healthz/ready
 *            200 while all programs answer, whatever the database does
 * /healthz/live
 *            200 while this program answers
 */
#include "app/checks.h"
#include "app/cookies.h"
#include "core/json_put.h"
#include "server/main.h"
#include "server/metrics_page.h"

/* Seconds until the browser asks again whether the account is connected. */
#define FOLLOW_EVERY "2"

static um_step pinged, looked_up, measured, followed;

static enum um_refusal
plan_done(const struct um_context *context, struct um_exchange *ex)
{
	ex->answer = UM_ANSWER_FINAL;
	ex->final = um_final_page_of_cookie(ex->request.cookie);
	ex->outcome = um_final_page_code(ex->final);
	if (ex->final != UM_FINAL_PAGE_RETURNED)
		return UM_REFUSAL_NONE;
	ex->provider = um_follow_read(&ex->token, context, ex->request.cookie);
	if (ex->provider != NULL)
		um_exchange_request_op(ex, UM_OP_LOOK_UP, followed);
	return UM_REFUSAL_NONE;
}

/*
 * While the database does not answer, and when the cookie has expired, the page
 * stays neutral. A header asks again, so that the page needs no script.
 */
static enum um_refusal
followed(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	if (ex->op.status == UM_STORE_DONE
		&& ex->op.outcome == UM_ROW_COMPLETED)
		ex->final = um_final_page_of_account(ex->op.row.reason);
	if (ex->final == UM_FINAL_PAGE_RETURNED)
		um_response_header(&ex->response, "Refresh",
			um_str(FOLLOW_EVERY));
	ex->outcome = um_final_page_code(ex->final);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
plan_status(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	ex->provider = um_config_provider(context->config,
		um_form_get(&ex->form, "provider"));
	if (ex->provider == NULL)
		return UM_REFUSAL_UNKNOWN_PROVIDER;
	if ((refusal = um_check_state(context, ex,
		     um_provider_has_form(ex->provider) ? UM_PURPOSE_FORM
							: UM_PURPOSE_RETURN)))
		return refusal;
	um_exchange_request_op(ex, UM_OP_LOOK_UP, looked_up);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
plan_metrics(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	um_exchange_request_op(ex, UM_OP_MEASURE, measured);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
plan_health(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	um_exchange_request_op(ex, UM_OP_PING, pinged);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
plan_live(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	ex->outcome = "ok";
	ex->response.status = 200;
	ex->response.content_type = "application/json";
	um_buf_puts(&ex->response.body, "{\"status\":\"ok\"}");
	return UM_REFUSAL_NONE;
}

static void
put_member(struct um_buf *json, const char *name, const char *value)
{
	um_json_put_key(json, um_str(name));
	if (value != NULL)
		um_json_put_string(json, um_str(value));
	else
		um_buf_puts(json, "null");
}

/* Whether each program that has run on this host answers. */
static bool
programs_answer(const struct um_context *context)
{
	for (size_t i = 0; i < UM_METRICS_PROGRAMS_LEN; i++) {
		enum um_metrics_health health =
			um_metrics_health(context->metrics, i,
				context->monotonic_ms);

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
				context->monotonic_ms);

		if (health != UM_METRICS_UNKNOWN)
			put_member(json, um_metrics_program_name(i),
				words[health]);
	}
	um_json_put_end(json);
}

/* For a balancer: another host has the same database. */
static enum um_refusal
plan_ready(const struct um_context *context, struct um_exchange *ex)
{
	bool ok = programs_answer(context);

	ex->outcome = ok ? "ok" : "unavailable";
	ex->response.status = ok ? 200 : 503;
	ex->response.content_type = "application/json";
	um_json_put_begin(&ex->response.body);
	put_member(&ex->response.body, "status", ex->outcome);
	put_programs(context, &ex->response.body);
	um_json_put_end(&ex->response.body);
	return UM_REFUSAL_NONE;
}

static bool
keys_are_refused(const struct um_context *context)
{
	size_t count = 0;

	for (size_t i = 0; i < UM_METRICS_PROGRAMS_LEN; i++)
		count += um_metrics_keys_refused(context->metrics, i);
	return count != 0;
}

static enum um_refusal
pinged(const struct um_context *context, struct um_exchange *ex)
{
	bool database = ex->op.status == UM_STORE_DONE;
	bool commits = um_metrics_commits(context->metrics,
		context->monotonic_ms);
	bool ok = database && commits && programs_answer(context);

	ex->outcome = ok ? "ok" : "unavailable";
	ex->response.status = ok ? 200 : 503;
	ex->response.content_type = "application/json";
	um_json_put_begin(&ex->response.body);
	put_member(&ex->response.body, "status", ex->outcome);
	put_member(&ex->response.body, "database",
		database ? "ok" : "unavailable");
	put_member(&ex->response.body, "commit", commits ? "ok" : "stalled");
	put_programs(context, &ex->response.body);
	/* Warnings, and no reason for 503: what will fail later. */
	if (keys_are_refused(context))
		put_member(&ex->response.body, "keys", "refused");
	if (context->metrics->config_refused)
		put_member(&ex->response.body, "configuration", "refused");
	if (um_metrics_queue_is_filling(context->metrics))
		put_member(&ex->response.body, "notification_queue", "filling");
	um_json_put_end(&ex->response.body);
	return UM_REFUSAL_NONE;
}

/* /metrics answers without the database, too. */
static enum um_refusal
measured(const struct um_context *context, struct um_exchange *ex)
{
	ex->response.status = 200;
	ex->response.content_type = "text/plain; version=0.0.4";
	um_metrics_write(context->metrics, &ex->op, context->now_ms,
		context->monotonic_ms, &ex->response.body);
	ex->outcome = "ok";
	return UM_REFUSAL_NONE;
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

static enum um_refusal
looked_up(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_row *row = &ex->op.row;
	enum um_refusal refusal;

	if ((refusal = um_check_done(ex)) || (refusal = um_check_row(ex))
		|| (refusal = um_require_owner(context, ex)))
		return refusal;
	/* For the page, which then goes to /done by itself. */
	if (ex->op.outcome == UM_ROW_COMPLETED)
		um_final_page_set_cookie(&ex->response,
			um_provider_has_form(ex->provider)
				? um_final_page_of_form(row->action,
					row->reason, false)
				: um_final_page_of(row->action, row->reason,
					row->late));
	show_row(ex);
	return UM_REFUSAL_NONE;
}

static const struct um_route routes[] = {
	{ .prefix = "/done", .methods = "GET", .plan = plan_done },
	{ .prefix = "/status",
		.methods = "GET",
		.value_max = UM_FORM_VALUE_MAX,
		.plain = true,
		.plan = plan_status },
	{ .prefix = "/metrics", .methods = "GET", .plan = plan_metrics },
	{ .prefix = "/healthz", .methods = "GET, HEAD", .plan = plan_health },
	{ .prefix = "/healthz/ready",
		.methods = "GET, HEAD",
		.plan = plan_ready },
	{ .prefix = "/healthz/live",
		.methods = "GET, HEAD",
		.plan = plan_live },
	{ 0 },
};

int
main(int argc, char **argv)
{
	static const struct um_program program = { .name = "status",
		.routes = routes,
		.measures = UM_OP_MEASURE,
		.beats = true };

	return um_program_main(&program, argc, argv);
}
