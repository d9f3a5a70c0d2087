/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "trial.h"

#define main program_main
#include "../../cgi-bin/status.c" // NOLINT(bugprone-suspicious-include)
#undef main

#define QUERY "provider=demo&state={bound}"

static const struct trial_program status_program = {
	{ "status", UM_BODY_MAX, plan, answer },
	UM_PURPOSE_RETURN,
	"demo",
};

static char accept[] = "accept", decline[] = "decline", cancel[] = "cancel";
static char denied[] = "access_denied", expired[] = "expired", none[] = "";

TEST(other_routes_and_methods)
{
	static const struct trial trials[] = {
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

	trial_run_all(&status_program, trials, LENGTH(trials));
}

/* Which ending it is stands in a cookie; what else stands there does not. */
TEST(each_ending_on_done)
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
		{ UM_FINAL_PAGE_COOKIE "=expired",
			"<h1>This request has expired</h1>", "expired" },
		{ "", "<h1>", NULL },
		{ UM_FINAL_PAGE_COOKIE "=" SECRET, "<h1>", NULL },
		{ UM_FINAL_PAGE_COOKIE "=done; " UM_FINAL_PAGE_COOKIE
				       "=" SECRET,
			"<h1>", NULL },
		{ UM_FINAL_PAGE_COOKIE, "<h1>", NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct trial trial = { .name = cases[i].cookie,
			.path = "/done",
			.cookie = cases[i].cookie,
			.query = "code=" SECRET,
			.status = 200,
			.on_page = cases[i].title,
			.reason = "",
			.outcome = cases[i].outcome,
			.sets_cookie = "" };

		trial_run(&status_program, &trial);
	}
}

TEST(how_the_database_is)
{
	static const struct trial trials[] = {
		{ .name = "well",
			.path = "/healthz",
			.asks = UM_OP_LOOK_UP,
			.says = UM_OUTCOME_UNKNOWN,
			.status = 200,
			.on_page = "{\"status\":\"ok\"}",
			.outcome = "ok" },
		{ .name = "away",
			.path = "/healthz",
			.asks = UM_OP_LOOK_UP,
			.says = UM_OUTCOME_UNAVAILABLE,
			.status = 503,
			.on_page = "{\"status\":\"unavailable\"}",
			.outcome = "unavailable" },
		{ .name = "ill",
			.path = "/healthz",
			.asks = UM_OP_LOOK_UP,
			.says = UM_OUTCOME_FAILED,
			.status = 503 },
		{ .name = "HEAD",
			.method = "HEAD",
			.path = "/healthz",
			.asks = UM_OP_LOOK_UP,
			.says = UM_OUTCOME_UNKNOWN,
			.status = 200 },
	};

	trial_run_all(&status_program, trials, LENGTH(trials));
}

TEST(metrics)
{
	static const struct trial trial = { .name = "metrics",
		.path = "/metrics",
		.status = 200,
		.on_page = "# TYPE " };

	trial_run(&status_program, &trial);
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
		{ "provider=demo&state={purpose}", 400, "state_invalid" },
		{ "provider=demo&state={provider}", 400, "state_invalid" },
		{ "provider=lax&state={bound}", 400, "state_invalid" },
		{ "provider=demo&state={expired}", 410, "state_expired" },
		{ "provider=demo&state={elsewhere}", 403, "wrong_browser" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct trial trial = { .name = cases[i].query,
			.path = "/status",
			.query = cases[i].query,
			.status = cases[i].status,
			.reason = cases[i].reason };

		trial_run(&status_program, &trial);
	}
}

TEST(status_as_the_row_has_it)
{
	static const struct {
		enum um_outcome says;
		int status;
		struct um_row row;
		const char *reason;
		const char *body;
		const char *sets_cookie;
	} cases[] = {
		{ UM_OUTCOME_PENDING, 200, { .reason = none }, "",
			"{\"status\":\"pending\",\"action\":null,"
			"\"reason\":\"\"}",
			"" },
		{ UM_OUTCOME_OPENED, 200, { .reason = none }, "",
			"{\"status\":\"opened\",\"action\":null,"
			"\"reason\":\"\"}",
			"" },
		{ UM_OUTCOME_PROCESSING, 200, { .reason = none }, "",
			"{\"status\":\"processing\",\"action\":null,"
			"\"reason\":\"\"}",
			"" },
		{ UM_OUTCOME_COMPLETED, 200,
			{ .action = accept, .reason = none }, "",
			"{\"status\":\"completed\",\"action\":\"accept\","
			"\"reason\":\"\"}",
			DONE_COOKIE("done") },
		{ UM_OUTCOME_COMPLETED, 200,
			{ .action = decline, .reason = denied }, "",
			"{\"status\":\"completed\",\"action\":\"decline\","
			"\"reason\":\"access_denied\"}",
			DONE_COOKIE("declined") },
		{ UM_OUTCOME_COMPLETED, 200,
			{ .action = cancel, .reason = expired }, "",
			"{\"status\":\"completed\",\"action\":\"cancel\","
			"\"reason\":\"expired\"}",
			DONE_COOKIE("expired") },
		{ UM_OUTCOME_UNKNOWN, 404, { 0 }, "unknown_elicitation", NULL,
			"" },
		{ UM_OUTCOME_EXPIRED, 410, { 0 }, "expired", NULL, "" },
		{ UM_OUTCOME_FAILED, 500, { 0 }, "internal_error", NULL, "" },
		{ UM_OUTCOME_UNAVAILABLE, 503, { 0 }, "unavailable", NULL, "" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct trial trial = { .name = "status",
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

		trial_run(&status_program, &trial);
	}
}

/* A token for any browser: the one that went on from /connect counts. */
TEST(status_for_the_rows_browser_alone)
{
	struct trial trial = { .name = "unbound",
		.path = "/status",
		.query = "provider=demo&state={unbound}",
		.asks = UM_OP_LOOK_UP,
		.says = UM_OUTCOME_OPENED,
		.row = { .reason = none, .has_browser = true },
		.status = 200,
		.on_page = "\"opened\"" };

	um_browser_digest(trial.row.browser, STR(TRIAL_COOKIE));
	trial_run(&status_program, &trial);

	trial.on_page = NULL;
	trial.status = 403;
	trial.reason = "wrong_browser";
	trial.cookie = "";
	trial_run(&status_program, &trial);
	um_browser_digest(trial.row.browser, STR(""));
	trial_run(&status_program, &trial);
	trial.cookie = NULL;
	um_browser_digest(trial.row.browser, STR("another"));
	trial_run(&status_program, &trial);
	um_browser_digest(trial.row.browser, STR(TRIAL_COOKIE));
	trial.row.has_browser = false;
	trial_run(&status_program, &trial);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_routes_and_methods),
		cmocka_unit_test(each_ending_on_done),
		cmocka_unit_test(how_the_database_is),
		cmocka_unit_test(metrics),
		cmocka_unit_test(status_refused_without_the_database),
		cmocka_unit_test(status_as_the_row_has_it),
		cmocka_unit_test(status_for_the_rows_browser_alone),
	};

	return cmocka_run_group_tests(tests, trial_set_up, trial_tear_down);
}
