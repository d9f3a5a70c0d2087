/* SPDX-License-Identifier: MIT */
#include "payment_return.h"

static char subject[] = "user-42";

TEST(refused_without_the_database)
{
	static const struct {
		const char *path;
		const char *query;
		int status;
		const char *reason;
	} cases[] = {
		{ "/payment/shop", "", 404, "unknown_route" },
		{ "/payment/shop/other", "", 404, "unknown_route" },
		{ "/cancel", "", 404, "unknown_route" },
		{ "/payment//return", "", 404, "unknown_route" },
		{ "/payment/nobody/return", "", 404, "unknown_provider" },
		{ "/payment/demo/return", "state={bound}", 404,
			"unknown_provider" },
		{ "/payment/intake/return", "state={bound}", 404,
			"unknown_provider" },
		{ "/payment/approvals/cancel", "state={bound}", 404,
			"unknown_provider" },
		{ BACK, "state={bound}&state={bound}", 400,
			"duplicate_parameter" },
		{ BACK, "state={bound}%ff", 400, "malformed_parameters" },
		{ BACK, "", 400, "state_missing" },
		{ BACK, "state=" SECRET, 400, "state_invalid" },
		{ BACK, "state={link}", 400, "state_invalid" },
		{ CANCEL, "state={link}", 400, "state_invalid" },
		{ BACK, "state={purpose}", 400, "state_invalid" },
		{ BACK, "state={provider}", 400, "state_invalid" },
		{ BACK, "state={expired}", 410, "state_expired" },
		{ BACK, "state=?state={bound}", 400, "state_missing" },
		{ CANCEL, "state={bound}", 400, "state_invalid" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = cases[i].path,
			.path = cases[i].path,
			.query = cases[i].query,
			.status = cases[i].status,
			.reason = cases[i].reason };

		program_case_run(&payment_return, &test);
	}
}

TEST(methods_prefetch_and_users)
{
	static const struct program_case cases[] = {
		{ .name = "POST",
			.method = "POST",
			.path = BACK,
			.body = "state={bound}",
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "HEAD",
			.method = "HEAD",
			.path = BACK,
			.query = "state={bound}",
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "prefetch",
			.path = BACK,
			.query = "state={bound}",
			.prefetch = true,
			.status = 503,
			.reason = "prefetch" },
		{ .name = "no name",
			.path = BACK,
			.query = "state={bound}",
			.user_check = "remote-user",
			.status = 500,
			.reason = "sign_in_not_set_up" },
		{ .name = "no ticket",
			.path = BACK,
			.query = "state={bound}",
			.user_check = "session-ticket",
			.status = 200,
			.reason = "sign_in_required" },
	};

	program_case_run_all(&payment_return, cases, LENGTH(cases));
}

/* A browser proves no payment: it looks, and follows. */
TEST(what_the_database_says)
{
	static const struct {
		const char *says;
		int status;
		struct um_row row;
		const char *reason;
		const char *sets_cookie;
		const char *on_page;
	} cases[] = {
		{ "unknown", 404, { 0 }, "unknown_elicitation", "", NULL },
		{ "expired", 410, { 0 }, "expired", "", NULL },
		{ "failed", 500, { 0 }, "internal_error", "", NULL },
		{ "unavailable", 503, { 0 }, "unavailable", "", NULL },
		{ "pending", 200, { .reason = none }, "", "", FOLLOWS },
		{ "opened", 200, { .reason = none }, "", "", FOLLOWS },
		{ "processing", 200, { .reason = none }, "", "", FOLLOWS },
		{ "completed", 303, { .action = accept, .reason = none }, "",
			DONE_COOKIE("done"), NULL },
		{ "completed", 303, { .action = gave_up, .reason = expired },
			"", DONE_COOKIE("expired"), NULL },
		{ "completed", 303,
			{ .action = gave_up, .reason = expired, .late = true },
			"", DONE_COOKIE("late"), NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct program_case test = { .name = cases[i].says,
			.path = BACK,
			.query = "state={bound}",
			.asks = UM_OP_LOOK_UP,
			.says = cases[i].says,
			.row = cases[i].row,
			.status = cases[i].status,
			.reason = cases[i].reason,
			.location = cases[i].status == 303 ? "/done" : "",
			.sets_cookie = cases[i].sets_cookie,
			.on_page = cases[i].on_page };

		program_case_run(&payment_return, &test);
	}
}

/* Another attempt is possible until one of them goes through. */
TEST(an_attempt_that_failed)
{
	static const struct {
		const char *says;
		int64_t failed_attempts;
		const char *on_page;
	} cases[] = {
		{ "opened", 0, "<p id=\"failed\" hidden>The last attempt" },
		{ "opened", 1, "<p id=\"failed\">The last attempt" },
		{ "opened", 3, "<p id=\"failed\">The last attempt" },
		{ "processing", 1, "<p id=\"failed\" hidden>The last attempt" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = cases[i].says,
			.path = BACK,
			.query = "state={bound}",
			.asks = UM_OP_LOOK_UP,
			.says = cases[i].says,
			.row = { .reason = none,
				.failed_attempts = cases[i].failed_attempts },
			.status = 200,
			.on_page = cases[i].on_page };

		program_case_run(&payment_return, &test);
	}
}

/* Providers append to an address that has a query, in any encoding. */
TEST(what_a_provider_appends)
{
	static const char *const queries[] = {
		"state={bound}?status=successful&tx_ref=1",
		"state={bound}%3Fstatus=successful",
		"state={bound}&name=Jos%E9",
		"state={bound}&x=%",
		"x=1&x=2&state={bound}",
	};

	for (size_t i = 0; i < LENGTH(queries); i++) {
		const struct program_case test = { .name = queries[i],
			.path = BACK,
			.query = queries[i],
			.asks = UM_OP_LOOK_UP,
			.says = "opened",
			.row = { .reason = none },
			.status = 200,
			.on_page = FOLLOWS };

		program_case_run(&payment_return, &test);
	}
}

#define ELSEWHERE "<h1>You can close this page</h1>"

/* A bank's application comes back in another browser: no page is a dead end. */
TEST(in_another_browser)
{
	struct program_case test = { .name = "bound to another browser",
		.path = BACK,
		.query = "state={elsewhere}",
		.status = 200,
		.outcome = "elsewhere",
		.reason = "wrong_browser",
		.sets_cookie = "",
		.on_page = ELSEWHERE };

	program_case_run(&payment_return, &test);
	test.path = CANCEL;
	program_case_run(&payment_cancel, &test);
	test.name = "nobody has signed in there";
	test.query = "state={bound}";
	test.user_check = "session-ticket";
	test.reason = "sign_in_required";
	program_case_run(&payment_cancel, &test);
	test.path = BACK;
	program_case_run(&payment_return, &test);
}

/* The MCP server mints for any browser: the row knows which one it is. */
TEST(in_the_browser_that_went_on)
{
	struct program_case test = { .name = "unbound",
		.path = BACK,
		.query = "state={unbound}",
		.asks = UM_OP_LOOK_UP,
		.says = "opened",
		.row = { .reason = none, .has_browser = true },
		.status = 200,
		.on_page = FOLLOWS };

	um_browser_digest(test.row.browser, case_context.keys,
		STR(CASE_COOKIE));
	program_case_run(&payment_return, &test);
	test.on_page = ELSEWHERE;
	test.outcome = "elsewhere";
	test.reason = "wrong_browser";
	um_browser_digest(test.row.browser, case_context.keys, STR("another"));
	program_case_run(&payment_return, &test);
	test.path = CANCEL;
	program_case_run(&payment_cancel, &test);
	test.row.has_browser = false;
	program_case_run(&payment_cancel, &test);
	test.cookie = "";
	program_case_run(&payment_cancel, &test);
}

TEST(another_user_is_refused)
{
	struct program_case test = { .name = "another user",
		.path = BACK,
		.query = "state={bound}",
		.user_check = "remote-user",
		.user = "user-43",
		.asks = UM_OP_LOOK_UP,
		.says = "opened",
		.row = { .subject = subject, .reason = none },
		.asks_then = UM_OP_EVENT,
		.says_then = "ignored",
		.status = 403,
		.reason = "wrong_user" };

	program_case_run(&payment_return, &test);
	test.path = CANCEL;
	program_case_run(&payment_cancel, &test);
	test.says_then = "unavailable";
	program_case_run(&payment_cancel, &test);
	test.user = subject;
	test.path = BACK;
	test.asks_then = UM_OP_NONE;
	test.status = 200;
	test.reason = "";
	program_case_run(&payment_return, &test);
}

TEST(back_without_paying)
{
	static const struct {
		const char *says_then;
		int status;
		const char *reason;
		const char *sets_cookie;
	} cases[] = {
		{ "completed", 303, NULL, DONE_COOKIE("declined") },
		{ "processing", 303, NULL, DONE_COOKIE("processing") },
		{ "already", 303, NULL, DONE_COOKIE("already") },
		{ "expired", 410, "expired", "" },
		{ "unknown", 404, "unknown_elicitation", "" },
		{ "failed", 500, "internal_error", "" },
		{ "unavailable", 503, "unavailable", "" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = cases[i].says_then,
			.path = CANCEL,
			.query = "state={bound}",
			.asks = UM_OP_LOOK_UP,
			.says = "opened",
			.row = { .reason = none },
			.asks_then = UM_OP_COMPLETE,
			.action = "decline",
			.op_reason = "cancelled",
			.result = "",
			.says_then = cases[i].says_then,
			.status = cases[i].status,
			.reason = cases[i].reason,
			.sets_cookie = cases[i].sets_cookie,
			.location = cases[i].status == 303 ? "/done" : "" };

		program_case_run(&payment_cancel, &test);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_without_the_database),
		cmocka_unit_test(methods_prefetch_and_users),
		cmocka_unit_test(what_the_database_says),
		cmocka_unit_test(an_attempt_that_failed),
		cmocka_unit_test(what_a_provider_appends),
		cmocka_unit_test(in_another_browser),
		cmocka_unit_test(in_the_browser_that_went_on),
		cmocka_unit_test(another_user_is_refused),
		cmocka_unit_test(back_without_paying),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
