/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "program_case.h"

#define main program_main
#include "../../cgi-bin/status.c" // NOLINT(bugprone-suspicious-include)
#undef main

#define QUERY "provider=demo&state={bound}"

static const struct tested_program status_program = {
	{ .name = "status", .routes = routes, .measures = UM_OP_NONE },
	UM_PURPOSE_RETURN,
	"demo",
};

static char accept[] = "accept", decline[] = "decline", cancel[] = "cancel";
static char denied[] = "access_denied", expired[] = "expired", none[] = "";

TEST(other_routes_and_methods)
{
	static const struct program_case cases[] = {
		{ .name = "no path",
			.path = "",
			.status = 404,
			.reason = "unknown_route" },
		{ .name = "another path",
			.path = "/done/",
			.status = 404,
			.reason = "unknown_route" },
		{ .name = "another case",
			.path = "/Done",
			.status = 404,
			.reason = "unknown_route" },
		{ .name = "POST /done",
			.method = "POST",
			.path = "/done",
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "HEAD /status",
			.method = "HEAD",
			.path = "/status",
			.query = QUERY,
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "POST /status",
			.method = "POST",
			.path = "/status",
			.body = QUERY,
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "POST /healthz",
			.method = "POST",
			.path = "/healthz",
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "POST /metrics",
			.method = "POST",
			.path = "/metrics",
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "prefetched",
			.path = "/done",
			.prefetch = true,
			.status = 503,
			.reason = "prefetch" },
	};

	program_case_run_all(&status_program, cases, LENGTH(cases));
}

/* Which ending it is stands in a cookie; what else stands there does not. */
TEST(each_final_page_on_done)
{
	static const struct {
		const char *cookie;
		const char *title;
		const char *outcome;
	} cases[] = {
		{ UM_FINAL_PAGE_COOKIE "=done", "<h1>All done</h1>", "done" },
		{ UM_FINAL_PAGE_COOKIE "=declined", "<h1>Declined</h1>",
			"declined" },
		{ UM_FINAL_PAGE_COOKIE "=failed", "<h1>That did not work</h1>",
			"failed" },
		{ UM_FINAL_PAGE_COOKIE "=processing",
			"<h1>Still processing</h1>", "processing" },
		{ UM_FINAL_PAGE_COOKIE "=already", "<h1>Already done</h1>",
			"already" },
		{ UM_FINAL_PAGE_COOKIE "=ended",
			"<h1>This request has ended</h1>", "ended" },
		{ UM_FINAL_PAGE_COOKIE "=late",
			"<h1>Your payment has arrived</h1>", "late" },
		{ UM_FINAL_PAGE_COOKIE "=expired",
			"<h1>This request has expired</h1>", "expired" },
		{ UM_FINAL_PAGE_COOKIE "=connected",
			"<h1>The account is connected</h1>", "connected" },
		{ UM_FINAL_PAGE_COOKIE "=not_connected",
			"<h1>The account is not connected</h1>",
			"not_connected" },
		{ "", "<h1>You can go back</h1>", "returned" },
		{ UM_FINAL_PAGE_COOKIE "=" SECRET, "<h1>", NULL },
		{ UM_FINAL_PAGE_COOKIE "=done; " UM_FINAL_PAGE_COOKIE
				       "=" SECRET,
			"<h1>", NULL },
		{ UM_FINAL_PAGE_COOKIE, "<h1>", NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = cases[i].cookie,
			.path = "/done",
			.cookie = cases[i].cookie,
			.query = "code=" SECRET,
			.status = 200,
			.on_page = cases[i].title,
			.reason = "",
			.outcome = cases[i].outcome,
			.sets_cookie = "" };

		program_case_run(&status_program, &test);
	}
}

TEST(healthz_pings_the_database)
{
	static const struct program_case cases[] = {
		{ .name = "well",
			.path = "/healthz",
			.asks = UM_OP_PING,
			.says = "ok",
			.status = 200,
			.on_page = "{\"status\":\"ok\",\"database\":\"ok\","
				   "\"commit\":\"ok\",\"programs\":{}}",
			.outcome = "ok" },
		{ .name = "away",
			.path = "/healthz",
			.asks = UM_OP_PING,
			.says = "unavailable",
			.status = 503,
			.on_page = "{\"status\":\"unavailable\","
				   "\"database\":\"unavailable\","
				   "\"commit\":\"ok\",\"programs\":{}}",
			.outcome = "unavailable" },
		{ .name = "ill",
			.path = "/healthz",
			.asks = UM_OP_PING,
			.says = "failed",
			.status = 503 },
		{ .name = "HEAD",
			.method = "HEAD",
			.path = "/healthz",
			.asks = UM_OP_PING,
			.says = "ok",
			.status = 200 },
	};

	program_case_run_all(&status_program, cases, LENGTH(cases));
}

TEST(healthz_live_asks_nobody)
{
	static const struct program_case cases[] = {
		{ .name = "GET",
			.path = "/healthz/live",
			.status = 200,
			.on_page = "{\"status\":\"ok\"}",
			.outcome = "ok" },
		{ .name = "HEAD",
			.method = "HEAD",
			.path = "/healthz/live",
			.status = 200 },
		{ .name = "POST",
			.method = "POST",
			.path = "/healthz/live",
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "ready",
			.path = "/healthz/ready",
			.status = 200,
			.on_page = "{\"status\":\"ok\",\"programs\":{}}",
			.outcome = "ok" },
		{ .name = "another",
			.path = "/healthz/other",
			.status = 404,
			.reason = "unknown_route" },
	};

	program_case_run_all(&status_program, cases, LENGTH(cases));
}

/* One program that hangs or has ended makes the host not ready. */
TEST(healthz_names_the_program_that_does_not_answer)
{
	struct um_metrics *metrics = case_context.metrics;
	struct program_case test = { .name = "well",
		.path = "/healthz",
		.asks = UM_OP_PING,
		.says = "ok",
		.status = 200,
		.on_page = "\"programs\":{\"status\":\"ok\"}}",
		.outcome = "ok" };

	um_metrics_join(metrics);
	um_metrics_heartbeat(metrics, 1000, 0, 0, -1);
	case_context.monotonic_ms = 1000 + UM_METRICS_SILENT_MS;
	program_case_run(&status_program, &test);

	um_metrics_set_keys(metrics, true);
	test.on_page = "\"programs\":{\"status\":\"ok\"},"
		       "\"keys\":\"refused\"}";
	program_case_run(&status_program, &test);
	um_metrics_set_keys(metrics, false);

	case_context.monotonic_ms++;
	test.name = "silent";
	test.status = 503;
	test.on_page = "{\"status\":\"unavailable\",\"database\":\"ok\","
		       "\"commit\":\"ok\","
		       "\"programs\":{\"status\":\"silent\"}}";
	test.outcome = "unavailable";
	program_case_run(&status_program, &test);
	program_case_run(&status_program,
		&(struct program_case){ .name = "not ready",
			.path = "/healthz/ready",
			.status = 503,
			.on_page = "{\"status\":\"unavailable\","
				   "\"programs\":{\"status\":\"silent\"}}",
			.outcome = "unavailable" });

	metrics->file.own = UM_METRICS_PROCESSES_MAX;
	test.name = "gone";
	test.on_page = "\"programs\":{\"status\":\"gone\"}}";
	program_case_run(&status_program, &test);

	metrics->program->heartbeat_ms = 0;
	case_context.monotonic_ms = 0;
}

/* The database answers, and nothing that is written comes to its end. */
TEST(healthz_says_that_nothing_commits)
{
	struct um_metrics *metrics = case_context.metrics;
	struct program_case test = { .name = "30 seconds ago",
		.path = "/healthz",
		.asks = UM_OP_PING,
		.says = "ok",
		.status = 200,
		.on_page = "\"commit\":\"ok\",",
		.outcome = "ok" };

	metrics->committed_ms = 1000;
	case_context.monotonic_ms = 1000 + UM_METRICS_COMMIT_MS;
	program_case_run(&status_program, &test);

	case_context.monotonic_ms++;
	test.name = "longer ago";
	test.status = 503;
	test.on_page = "{\"status\":\"unavailable\",\"database\":\"ok\","
		       "\"commit\":\"stalled\",";
	test.outcome = "unavailable";
	program_case_run(&status_program, &test);

	metrics->committed_ms = 0;
	case_context.monotonic_ms = 0;
}

/* What the database counts is left out while it does not answer. */
TEST(the_metrics_page)
{
	static const struct {
		const char *says;
		const char *gauge;
	} cases[] = {
		{ "ok", "\nurlmode_unclaimed_payments 7\n" },
		{ "unavailable", NULL },
		{ "failed", NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = cases[i].says,
			.path = "/metrics",
			.asks = UM_OP_MEASURE,
			.says = cases[i].says,
			.row = { .unclaimed = 7 },
			.status = 200,
			.outcome = "ok" };
		struct program_answer end;
		struct um_str body;

		program_case_answer(&end, &status_program, &test);
		program_case_check(&test, &end);
		body = um_buf_str(&end.ex.response.body);
		assert_true(str_has(body, STR("urlmode_requests_total{")));
		assert_true(str_has(body,
				    cases[i].gauge != NULL
					    ? um_str(cases[i].gauge)
					    : STR("urlmode_unclaimed_payments"))
			== (cases[i].gauge != NULL));
		program_answer_free(&end);
	}
}

TEST(status_refused_without_the_database)
{
	static const struct {
		const char *query;
		int status;
		const char *reason;
	} cases[] = {
		{ "", 404, "unknown_provider" },
		{ "state={bound}", 404, "unknown_provider" },
		{ "provider=nobody&state={bound}", 404, "unknown_provider" },
		{ "provider=demo&state={bound}&state=x", 400,
			"duplicate_parameter" },
		{ "provider=demo&state={bound}%", 400, "malformed_parameters" },
		{ "provider=demo", 400, "state_missing" },
		{ "provider=demo&state=" SECRET, 400, "state_invalid" },
		{ "provider=demo&state={link}", 400, "state_invalid" },
		{ "provider=demo&state={purpose}", 400, "state_invalid" },
		{ "provider=demo&state={provider}", 400, "state_invalid" },
		{ "provider=lax&state={bound}", 400, "state_invalid" },
		{ "provider=demo&state={expired}", 410, "state_expired" },
		{ "provider=demo&state={elsewhere}", 403, "wrong_browser" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = cases[i].query,
			.path = "/status",
			.query = cases[i].query,
			.status = cases[i].status,
			.reason = cases[i].reason };

		program_case_run(&status_program, &test);
	}
}

#define NOTHING_MORE ",\"failed_attempts\":0,\"late\":false}"

TEST(status_shows_the_row)
{
	static const struct {
		const char *says;
		int status;
		struct um_row row;
		const char *reason;
		const char *body;
		const char *sets_cookie;
	} cases[] = {
		{ "pending", 200, { .reason = none }, "",
			"{\"status\":\"pending\",\"action\":null,"
			"\"reason\":\"\"" NOTHING_MORE,
			"" },
		{ "opened", 200, { .reason = none }, "",
			"{\"status\":\"opened\",\"action\":null,"
			"\"reason\":\"\"" NOTHING_MORE,
			"" },
		{ "processing", 200, { .reason = none }, "",
			"{\"status\":\"processing\",\"action\":null,"
			"\"reason\":\"\"" NOTHING_MORE,
			"" },
		{ "completed", 200, { .action = accept, .reason = none }, "",
			"{\"status\":\"completed\",\"action\":\"accept\","
			"\"reason\":\"\"" NOTHING_MORE,
			DONE_COOKIE("done") },
		{ "completed", 200, { .action = decline, .reason = denied }, "",
			"{\"status\":\"completed\",\"action\":\"decline\","
			"\"reason\":\"access_denied\"" NOTHING_MORE,
			DONE_COOKIE("declined") },
		{ "completed", 200, { .action = cancel, .reason = expired }, "",
			"{\"status\":\"completed\",\"action\":\"cancel\","
			"\"reason\":\"expired\"" NOTHING_MORE,
			DONE_COOKIE("expired") },
		{ "opened", 200, { .reason = none, .failed_attempts = 2 }, "",
			"\"reason\":\"\",\"failed_attempts\":2,\"late\":false}",
			"" },
		{ "completed", 200,
			{ .action = cancel, .reason = expired, .late = true },
			"",
			"{\"status\":\"completed\",\"action\":\"cancel\","
			"\"reason\":\"expired\",\"failed_attempts\":0,"
			"\"late\":true}",
			DONE_COOKIE("late") },
		{ "unknown", 404, { 0 }, "unknown_elicitation", NULL, "" },
		{ "expired", 410, { 0 }, "expired", NULL, "" },
		{ "failed", 500, { 0 }, "internal_error", NULL, "" },
		{ "unavailable", 503, { 0 }, "unavailable", NULL, "" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = "status",
			.path = "/status",
			.query = QUERY,
			.asks = UM_OP_LOOK_UP,
			.says = cases[i].says,
			.row = cases[i].row,
			.status = cases[i].status,
			.reason = cases[i].reason,
			.on_page = cases[i].body,
			.sets_cookie = cases[i].sets_cookie,
			.refresh = "" };

		program_case_run(&status_program, &test);
	}
}

/* A token for any browser: the one that went on from /connect counts. */
TEST(status_only_for_the_browser_of_the_row)
{
	struct program_case test = { .name = "unbound",
		.path = "/status",
		.query = "provider=demo&state={unbound}",
		.asks = UM_OP_LOOK_UP,
		.says = "opened",
		.row = { .reason = none, .has_browser = true },
		.status = 200,
		.on_page = "\"opened\"" };

	um_browser_digest(test.row.browser, case_context.keys,
		STR(CASE_COOKIE));
	program_case_run(&status_program, &test);

	test.on_page = NULL;
	test.status = 403;
	test.reason = "wrong_browser";
	test.cookie = "";
	program_case_run(&status_program, &test);
	um_browser_digest(test.row.browser, case_context.keys, STR(""));
	program_case_run(&status_program, &test);
	test.cookie = NULL;
	um_browser_digest(test.row.browser, case_context.keys, STR("another"));
	program_case_run(&status_program, &test);
	um_browser_digest(test.row.browser, case_context.keys,
		STR(CASE_COOKIE));
	test.row.has_browser = false;
	program_case_run(&status_program, &test);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_routes_and_methods),
		cmocka_unit_test(each_final_page_on_done),
		cmocka_unit_test(healthz_pings_the_database),
		cmocka_unit_test(healthz_live_asks_nobody),
		cmocka_unit_test(
			healthz_names_the_program_that_does_not_answer),
		cmocka_unit_test(healthz_says_that_nothing_commits),
		cmocka_unit_test(the_metrics_page),
		cmocka_unit_test(status_refused_without_the_database),
		cmocka_unit_test(status_shows_the_row),
		cmocka_unit_test(status_only_for_the_browser_of_the_row),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
