/* SPDX-License-Identifier: MIT */
/* /connect: the confirm page's answer, and who the user is known to be. */
#include <stdio.h>
#include <string.h>

#include "connect.h"

#define CONTINUE "state={bound}&answer=continue"
#define REFUSE "state={bound}&answer=refuse"

static char oauth[] = "oauth", payment[] = "payment";
static char subject[] = "user-42", other_subject[] = "user-43";

/* The last characters of the Location. */
static struct um_str
last_of(struct um_str text, size_t len)
{
	assert_true(text.len >= len);
	return (struct um_str){ text.ptr + text.len - len, len };
}

/* RFC 6749 section 4.1.1: the state is added to what the URL has. */
TEST(continue_redirects_to_the_target)
{
	static const struct {
		const char *target;
		const char *location;
	} cases[] = {
		{ "https://a.example/authorize?client_id=x",
			"https://a.example/authorize?client_id=x&state=*" },
		{ "https://a.example/authorize",
			"https://a.example/authorize?state=*" },
		{ "https://a.example/authorize?",
			"https://a.example/authorize?&state=*" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char target[64];
		const struct program_case test = { .name = cases[i].target,
			.method = "POST",
			.path = CONNECT,
			.body = CONTINUE,
			.asks = UM_OP_OPEN,
			.says = "opened",
			.row = { .kind = oauth,
				.target_url = target,
				.expires = CASE_NOW + 200 },
			.status = 303,
			.reason = "",
			.outcome = "opened",
			.location = cases[i].location,
			.sets_cookie = COOKIE(CASE_COOKIE) COOKIE_END };
		struct program_answer end;

		snprintf(target, sizeof(target), "%s", cases[i].target);
		program_case_run(&connect_program, &test);
		program_case_answer(&end, &connect_program, &test);
		assert_case_token(last_of(program_answer_header(&end,
						  "Location"),
					  UM_TOKEN_LEN),
			UM_PURPOSE_RETURN, CASE_NOW + 200, STR(CASE_COOKIE));
		program_answer_free(&end);
	}
}

/* The row learns which browser goes on. */
TEST(the_row_keeps_the_browser_that_continues)
{
	static const struct program_case test = { .name = "browser",
		.method = "POST",
		.path = CONNECT,
		.body = CONTINUE,
		.asks = UM_OP_OPEN,
		.says = "unknown" };
	uint8_t browser[UM_BROWSER_LEN];
	struct program_answer end;

	um_browser_digest(browser, case_context.keys, STR(CASE_COOKIE));
	program_case_answer(&end, &connect_program, &test);
	assert_memory_equal(end.ex.op.browser, browser, sizeof(browser));
	assert_null(end.ex.op.subject);
	program_answer_free(&end);
}

/* A payment's target has its own way back: nothing is added. */
TEST(nothing_is_added_to_the_target_of_a_payment)
{
	static char target[] = "https://pay.example/c/1?x=y";
	static const struct program_case test = { .name = "payment",
		.method = "POST",
		.path = "/connect/shop",
		.body = CONTINUE,
		.asks = UM_OP_OPEN,
		.says = "opened",
		.row = { .kind = payment, .target_url = target },
		.status = 303,
		.location = "https://pay.example/c/1?x=y" };
	struct tested_program program = connect_program;

	program.provider = "shop";
	program_case_run(&program, &test);
}

/* What could never stand in a row must not become a header either. */
TEST(a_target_with_a_line_break_is_an_error)
{
	static char target[] = "https://a.example/\r\nSet-Cookie: a=b";
	static const struct program_case test = { .name = "line break",
		.method = "POST",
		.path = CONNECT,
		.body = CONTINUE,
		.asks = UM_OP_OPEN,
		.says = "opened",
		.row = { .kind = oauth, .target_url = target },
		.status = 500,
		.reason = "internal_error",
		.location = "",
		.sets_cookie = "" };

	program_case_run(&connect_program, &test);
}

TEST(what_the_database_says_to_an_answer)
{
	static const struct {
		const char *pressed;
		const char *says;
		int status;
		const char *reason;
		const char *final_page;
	} cases[] = {
		{ "continue", "unknown", 404, "unknown_elicitation", "" },
		{ "continue", "wrong_kind", 404, "wrong_kind", "" },
		{ "continue", "expired", 410, "expired", "" },
		{ "continue", "failed", 500, "internal_error", "" },
		{ "continue", "processing", 303, "",
			DONE_COOKIE("processing") },
		{ "refuse", "unknown", 404, "unknown_elicitation", "" },
		{ "refuse", "expired", 410, "expired", "" },
		{ "refuse", "failed", 500, "internal_error", "" },
		{ "refuse", "completed", 303, "access_denied",
			DONE_COOKIE("declined") },
		{ "refuse", "processing", 303, "access_denied",
			DONE_COOKIE("processing") },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		bool refuse = strcmp(cases[i].pressed, "refuse") == 0;
		const struct program_case test = {
			.name = cases[i].says,
			.method = "POST",
			.path = CONNECT,
			.body = refuse ? REFUSE : CONTINUE,
			.asks = refuse ? UM_OP_COMPLETE : UM_OP_OPEN,
			.action = refuse ? "decline" : "",
			.op_reason = refuse ? "access_denied" : "",
			.result = "",
			.says = cases[i].says,
			.status = cases[i].status,
			.reason = cases[i].reason,
			.location = cases[i].status == 303 ? "/done" : "",
			.sets_cookie = cases[i].final_page,
		};

		program_case_run(&connect_program, &test);
	}
}

/* What was completed earlier may have been paid since. */
TEST(an_answer_after_the_end)
{
	static char cancel[] = "cancel";
	static const struct {
		const char *body;
		enum um_op_kind asks;
		const char *says;
		const char *says_then;
		char *action;
		bool late;
		int status;
		const char *final_page;
	} cases[] = {
		{ CONTINUE, UM_OP_OPEN, "completed", "completed", NULL, false,
			303, DONE_COOKIE("already") },
		{ CONTINUE, UM_OP_OPEN, "completed", "completed", cancel, true,
			303, DONE_COOKIE("late") },
		{ REFUSE, UM_OP_COMPLETE, "already", "completed", NULL, false,
			303, DONE_COOKIE("already") },
		{ REFUSE, UM_OP_COMPLETE, "already", "completed", cancel, true,
			303, DONE_COOKIE("late") },
		{ CONTINUE, UM_OP_OPEN, "completed", "completed", cancel, false,
			303, DONE_COOKIE("ended") },
		{ REFUSE, UM_OP_COMPLETE, "already", "completed", cancel, false,
			303, DONE_COOKIE("ended") },
		{ REFUSE, UM_OP_COMPLETE, "already", "unavailable", NULL, false,
			503, "" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = {
			.name = cases[i].says,
			.method = "POST",
			.path = CONNECT,
			.body = cases[i].body,
			.asks = cases[i].asks,
			.says = cases[i].says,
			.row = { .action = cases[i].action,
				.late = cases[i].late },
			.asks_then = UM_OP_LOOK_UP,
			.says_then = cases[i].says_then,
			.status = cases[i].status,
			.location = cases[i].status == 303 ? "/done" : "",
			.sets_cookie = cases[i].final_page,
		};

		program_case_run(&connect_program, &test);
	}
}

/* 503 to a POST: the page asks again by GET, with a token for this browser. */
TEST(while_the_database_is_away)
{
	static const char *const bodies[] = { CONTINUE, REFUSE };
	static const char before[] = "3; url=/connect/demo?state=";

	for (size_t i = 0; i < LENGTH(bodies); i++) {
		const struct program_case test = { .name = bodies[i],
			.method = "POST",
			.path = CONNECT,
			.body = bodies[i],
			.asks = i == 0 ? UM_OP_OPEN : UM_OP_COMPLETE,
			.says = "unavailable",
			.status = 503,
			.reason = "unavailable",
			.sets_cookie = "",
			.location = "" };
		struct program_answer end;
		struct um_str refresh;

		program_case_run(&connect_program, &test);
		program_case_answer(&end, &connect_program, &test);
		refresh = program_answer_header(&end, "Refresh");
		assert_int_equal(refresh.len, strlen(before) + UM_TOKEN_LEN);
		assert_memory_equal(refresh.ptr, before, strlen(before));
		assert_case_token(last_of(refresh, UM_TOKEN_LEN),
			UM_PURPOSE_CONNECT, CASE_NOW + 300, STR(CASE_COOKIE));
		assert_str(program_answer_header(&end, "Retry-After"), "3");
		program_answer_free(&end);
	}
}

/* Without a confirm page: GET opens for the subject alone, POST is none. */
TEST(who_the_user_is)
{
	static char target[] = "https://a.example/authorize",
		    cancel[] = "cancel";
	static const struct program_case cases[] = {
		{ .name = "no name",
			.path = CONNECT,
			.query = "state={link}",
			.user_check = "remote-user",
			.status = 500,
			.reason = "sign_in_not_set_up" },
		{ .name = "no ticket",
			.path = CONNECT,
			.query = "state={link}",
			.user_check = "session-ticket",
			.status = 403,
			.reason = "sign_in_required" },
		{ .name = "a POST",
			.method = "POST",
			.path = CONNECT,
			.body = CONTINUE,
			.user = subject,
			.user_check = "remote-user",
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "the subject",
			.path = CONNECT,
			.query = "state={link}",
			.user = subject,
			.user_check = "remote-user",
			.asks = UM_OP_OPEN_LINK,
			.says = "opened",
			.row = { .kind = oauth, .target_url = target },
			.status = 303,
			.location = "https://a.example/authorize?state=*",
			.sets_cookie = COOKIE(CASE_COOKIE) COOKIE_END },
		{ .name = "ended before the user came",
			.path = CONNECT,
			.query = "state={link}",
			.user = subject,
			.user_check = "remote-user",
			.asks = UM_OP_OPEN_LINK,
			.says = "completed",
			.asks_then = UM_OP_LOOK_UP,
			.says_then = "completed",
			.row = { .action = cancel },
			.status = 303,
			.location = "/done",
			.sets_cookie = DONE_COOKIE("ended") },
		{ .name = "another user",
			.path = CONNECT,
			.query = "state={link}",
			.user = other_subject,
			.user_check = "remote-user",
			.asks = UM_OP_OPEN_LINK,
			.says = "wrong_user",
			.asks_then = UM_OP_EVENT,
			.says_then = "ignored",
			.status = 403,
			.reason = "wrong_user",
			.location = "",
			.sets_cookie = "" },
	};

	program_case_run_all(&connect_program, cases, LENGTH(cases));
}

#define HEAD(its_name, its_user, its_says, its_status, its_reason)             \
	{                                                                      \
		.name = (its_name), .method = "HEAD", .path = CONNECT,         \
		.query = "state={link}", .user = (its_user),                   \
		.user_check = "remote-user", .asks = UM_OP_LOOK_UP_LINK,       \
		.says = (its_says),                                            \
		.row = { .requester = requester,                               \
			.subject = subject,                                    \
			.action = cancel,                                      \
			.expires = CASE_NOW + 200 },                           \
		.status = (its_status), .reason = (its_reason),                \
		.location = "", .sets_cookie = ""                              \
	}

/* HEAD looks, and another user learns as little as with GET. */
TEST(head_changes_nothing_and_tells_nothing)
{
	static char requester[] = "Notes", cancel[] = "cancel";
	static const struct program_case cases[] = {
		{ .name = "nobody",
			.method = "HEAD",
			.path = CONNECT,
			.query = "state={link}",
			.user_check = "remote-user",
			.status = 500,
			.reason = "sign_in_not_set_up" },
		HEAD("the subject", subject, "pending", 200, NULL),
		HEAD("the subject, too late", subject, "expired", 410,
			"expired"),
		HEAD("another user", other_subject, "pending", 403,
			"wrong_user"),
		HEAD("another user, opened", other_subject, "opened", 403,
			"wrong_user"),
		HEAD("another user, processing", other_subject, "processing",
			403, "wrong_user"),
		HEAD("another user, completed", other_subject, "completed", 403,
			"wrong_user"),
		HEAD("another user, too late", other_subject, "expired", 403,
			"wrong_user"),
		{ .name = "no row",
			.method = "HEAD",
			.path = CONNECT,
			.query = "state={link}",
			.user = other_subject,
			.user_check = "remote-user",
			.asks = UM_OP_LOOK_UP_LINK,
			.says = "unknown",
			.status = 404,
			.reason = "unknown_elicitation" },
	};

	program_case_run_all(&connect_program, cases, LENGTH(cases));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(continue_redirects_to_the_target),
		cmocka_unit_test(the_row_keeps_the_browser_that_continues),
		cmocka_unit_test(nothing_is_added_to_the_target_of_a_payment),
		cmocka_unit_test(a_target_with_a_line_break_is_an_error),
		cmocka_unit_test(what_the_database_says_to_an_answer),
		cmocka_unit_test(an_answer_after_the_end),
		cmocka_unit_test(while_the_database_is_away),
		cmocka_unit_test(who_the_user_is),
		cmocka_unit_test(head_changes_nothing_and_tells_nothing),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
