/* SPDX-License-Identifier: MIT */
#include "trial.h"

#define main program_main
#include "../../cgi-bin/payment-return.c" // NOLINT(bugprone-suspicious-include)
#undef main

#define BACK "/payment/shop/return"
#define CANCEL "/payment/shop/cancel"
#define FOLLOWS "<h1>Waiting for confirmation</h1>"

static char accept[] = "accept", gave_up[] = "cancel";
static char none[] = "", expired[] = "expired", subject[] = "user-42";

static const struct trial_program payment_return = {
	{ "payment-return", UM_BODY_MAX, plan, answer },
	UM_PURPOSE_RETURN,
	"shop",
};

static const struct trial_program payment_cancel = {
	{ "payment-return", UM_BODY_MAX, plan, answer },
	UM_PURPOSE_CANCEL,
	"shop",
};

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
		{ BACK, "state={bound}&state={bound}", 400,
			"duplicate_parameter" },
		{ BACK, "state={bound}&x=%", 400, "malformed_parameters" },
		{ BACK, "", 400, "state_missing" },
		{ BACK, "state=" SECRET, 400, "state_invalid" },
		{ BACK, "state={purpose}", 400, "state_invalid" },
		{ BACK, "state={provider}", 400, "state_invalid" },
		{ BACK, "state={expired}", 410, "state_expired" },
		{ BACK, "state={elsewhere}", 403, "wrong_browser" },
		{ CANCEL, "state={bound}", 400, "state_invalid" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct trial trial = { .name = cases[i].path,
			.path = cases[i].path,
			.query = cases[i].query,
			.status = cases[i].status,
			.reason = cases[i].reason };

		trial_run(&payment_return, &trial);
	}
}

TEST(methods_prefetch_and_users)
{
	static const struct trial trials[] = {
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
			.checks_user = true,
			.user_check = UM_USER_REMOTE,
			.status = 500,
			.reason = "sign_in_not_set_up" },
		{ .name = "no ticket",
			.path = BACK,
			.query = "state={bound}",
			.checks_user = true,
			.user_check = UM_USER_TICKET,
			.status = 403,
			.reason = "sign_in_required" },
	};

	trial_run_all(&payment_return, trials, LENGTH(trials));
}

/* A browser proves no payment: it looks, and follows. */
TEST(what_the_database_says)
{
	static const struct {
		enum um_outcome says;
		int status;
		struct um_row row;
		const char *reason;
		const char *sets_cookie;
		const char *on_page;
	} cases[] = {
		{ UM_OUTCOME_UNKNOWN, 404, { 0 }, "unknown_elicitation", "",
			NULL },
		{ UM_OUTCOME_EXPIRED, 410, { 0 }, "expired", "", NULL },
		{ UM_OUTCOME_FAILED, 500, { 0 }, "internal_error", "", NULL },
		{ UM_OUTCOME_UNAVAILABLE, 503, { 0 }, "unavailable", "", NULL },
		{ UM_OUTCOME_PENDING, 200, { .reason = none }, "", "",
			FOLLOWS },
		{ UM_OUTCOME_OPENED, 200, { .reason = none }, "", "", FOLLOWS },
		{ UM_OUTCOME_PROCESSING, 200, { .reason = none }, "", "",
			FOLLOWS },
		{ UM_OUTCOME_COMPLETED, 303,
			{ .action = accept, .reason = none }, "",
			DONE_COOKIE("done"), NULL },
		{ UM_OUTCOME_COMPLETED, 303,
			{ .action = gave_up, .reason = expired }, "",
			DONE_COOKIE("expired"), NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct trial trial = { .name = "return",
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

		trial_run(&payment_return, &trial);
	}
}

/* The MCP server mints for any browser: the row knows which one it is. */
TEST(in_the_browser_that_went_on)
{
	struct trial trial = { .name = "unbound",
		.path = BACK,
		.query = "state={unbound}",
		.asks = UM_OP_LOOK_UP,
		.says = UM_OUTCOME_OPENED,
		.row = { .reason = none, .has_browser = true },
		.status = 200,
		.on_page = FOLLOWS };

	um_browser_digest(trial.row.browser, STR(TRIAL_COOKIE));
	trial_run(&payment_return, &trial);
	trial.on_page = NULL;
	trial.status = 403;
	trial.reason = "wrong_browser";
	um_browser_digest(trial.row.browser, STR("another"));
	trial_run(&payment_return, &trial);
	trial.path = CANCEL;
	trial_run(&payment_cancel, &trial);
	trial.row.has_browser = false;
	trial_run(&payment_cancel, &trial);
	trial.cookie = "";
	trial_run(&payment_cancel, &trial);
}

TEST(by_the_user_that_it_is_for)
{
	struct trial trial = { .name = "another user",
		.path = BACK,
		.query = "state={bound}",
		.checks_user = true,
		.user_check = UM_USER_REMOTE,
		.user = "user-43",
		.asks = UM_OP_LOOK_UP,
		.says = UM_OUTCOME_OPENED,
		.row = { .subject = subject, .reason = none },
		.asks_then = UM_OP_EVENT,
		.says_then = UM_OUTCOME_IGNORED,
		.status = 403,
		.reason = "wrong_user" };

	trial_run(&payment_return, &trial);
	trial.path = CANCEL;
	trial_run(&payment_cancel, &trial);
	trial.says_then = UM_OUTCOME_UNAVAILABLE;
	trial_run(&payment_cancel, &trial);
	trial.user = subject;
	trial.path = BACK;
	trial.asks_then = UM_OP_NONE;
	trial.status = 200;
	trial.reason = "";
	trial_run(&payment_return, &trial);
}

TEST(back_without_paying)
{
	static const struct {
		enum um_outcome says_then;
		int status;
		const char *reason;
		const char *sets_cookie;
	} cases[] = {
		{ UM_OUTCOME_COMPLETED, 303, NULL, DONE_COOKIE("declined") },
		{ UM_OUTCOME_PROCESSING, 303, NULL, DONE_COOKIE("processing") },
		{ UM_OUTCOME_ALREADY, 303, NULL, DONE_COOKIE("already") },
		{ UM_OUTCOME_EXPIRED, 410, "expired", "" },
		{ UM_OUTCOME_UNKNOWN, 404, "unknown_elicitation", "" },
		{ UM_OUTCOME_FAILED, 500, "internal_error", "" },
		{ UM_OUTCOME_UNAVAILABLE, 503, "unavailable", "" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct trial trial = { .name = "cancel",
			.path = CANCEL,
			.query = "state={bound}",
			.asks = UM_OP_LOOK_UP,
			.says = UM_OUTCOME_OPENED,
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

		trial_run(&payment_cancel, &trial);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_without_the_database),
		cmocka_unit_test(methods_prefetch_and_users),
		cmocka_unit_test(what_the_database_says),
		cmocka_unit_test(in_the_browser_that_went_on),
		cmocka_unit_test(by_the_user_that_it_is_for),
		cmocka_unit_test(back_without_paying),
	};

	return cmocka_run_group_tests(tests, trial_set_up, trial_tear_down);
}
