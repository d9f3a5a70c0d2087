/* SPDX-License-Identifier: MIT */
/* What oauth-return says when it asks the database, and when it need not. */
#include <stdlib.h>
#include <string.h>

#include "oauth_return.h"

#define DENIED "state={bound}&error=access_denied&error_description=" SECRET ISS
#define BROKEN                                                                 \
	"state={bound}&error=server_error&error_description=%3Cb%3E" SECRET ISS

/* What is written into the row, and what the user sees. */
TEST(a_response_completes_the_row)
{
	static const struct program_case cases[] = {
		{ COMPLETES("a code", "accept", GOOD), .op_reason = "",
			.result = "{\"code\":\"" SECRET "-code\","
				  "\"iss\":\"" CASE_ISSUER "\"}",
			.reason = "", .outcome = "completed",
			.sets_cookie = DONE_COOKIE("returned") },
		{ COMPLETES("form_post", "accept", ""), .method = "POST",
			.body = GOOD,
			.result = "{\"code\":\"" SECRET "-code\","
				  "\"iss\":\"" CASE_ISSUER "\"}",
			.reason = "", .sets_cookie = DONE_COOKIE("returned") },
		{ COMPLETES("an empty error beside the code", "accept",
			GOOD "&error=") },
		{ COMPLETES("our cookie among others", "accept", GOOD),
			.cookie = "a=b; " COOKIE(CASE_COOKIE) "; c" },
		{ COMPLETES("any other parameter is kept", "accept",
			  "scope=a+b&state={bound}&code=" SECRET ISS
			  "&session_state=%C3%AB%22"),
			.result = "{\"scope\":\"a b\",\"code\":\"" SECRET
				  "\",\"iss\":\"" CASE_ISSUER
				  "\",\"session_state\":\"\xc3\xab\\\"\"}" },
		{ COMPLETES("access_denied", "decline", DENIED),
			.op_reason = "access_denied",
			.result = "{\"error\":\"access_denied\","
				  "\"error_description\":\"" SECRET "\","
				  "\"iss\":\"" CASE_ISSUER "\"}",
			.reason = "access_denied",
			.sets_cookie = DONE_COOKIE("declined") },
		{ COMPLETES("any other error", "cancel", BROKEN),
			.op_reason = "provider_error",
			.result = "{\"error\":\"server_error\","
				  "\"error_description\":\"<b>" SECRET "\","
				  "\"iss\":\"" CASE_ISSUER "\"}",
			.reason = "provider_error",
			.sets_cookie = DONE_COOKIE("failed") },
		{ COMPLETES("neither code nor error", "cancel",
			  "state={bound}&hint=x" ISS),
			.op_reason = "provider_error",
			.result = "{\"hint\":\"x\",\"iss\":\"" CASE_ISSUER
				  "\"}",
			.reason = "provider_error",
			.sets_cookie = DONE_COOKIE("failed") },
		{ COMPLETES("an empty code", "cancel",
			  "state={bound}&code=" ISS),
			.op_reason = "provider_error" },
		{ COMPLETES("an empty error", "cancel",
			  "state={bound}&error=&code=" ISS),
			.op_reason = "provider_error" },
		{ COMPLETES("a description in Latin-1", "decline",
			  "state={bound}&error=access_denied"
			  "&error_description=refus%E9%20d'acc\xe8s" ISS),
			.result = "{\"error\":\"access_denied\","
				  "\"error_description\":"
				  "\"refus? d'acc?s\","
				  "\"iss\":\"" CASE_ISSUER "\"}" },
		{ COMPLETES("a bad %-sequence in what nobody reads", "accept",
			  GOOD "&x=100%&y=%00"),
			.result = "{\"code\":\"" SECRET
				  "-code\",\"iss\":\"" CASE_ISSUER
				  "\",\"x\":\"100%\",\"y\":\"?\"}" },
		{ COMPLETES("what nobody reads twice", "accept",
			  GOOD "&x=1&x=2&y=3"),
			.result = "{\"code\":\"" SECRET
				  "-code\",\"iss\":\"" CASE_ISSUER
				  "\",\"y\":\"3\"}" },
	};

	program_case_run_all(&oauth_return, cases, LENGTH(cases));
}

/* "lax" has an issuer, but need not send it; "plain" has none. */
TEST(completed_without_an_issuer)
{
	static const struct {
		const char *provider;
		const char *path;
		const char *query;
	} cases[] = {
		{ "lax", "/oauth/lax/return", "state={bound}" CODE },
		{ "lax", "/oauth/lax/return", GOOD },
		{ "plain", "/oauth/plain/return", "state={bound}" CODE },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct tested_program program = oauth_return;
		struct program_case test = { COMPLETES(cases[i].query, "accept",
			cases[i].query) };

		program.provider = cases[i].provider;
		test.path = cases[i].path;
		program_case_run(&program, &test);
	}
}

/* Each outcome that the database can give. */
TEST(what_the_database_says)
{
	static const struct {
		const char *says;
		int status;
		const char *reason;
	} cases[] = {
		{ "unknown", 404, "unknown_elicitation" },
		{ "expired", 410, "expired" },
		{ "failed", 500, "internal_error" },
		{ "unavailable", 503, "unavailable" },
	};
	static char cancel[] = "cancel";
	struct program_case test = { .name = "already",
		.path = RETURN,
		.query = GOOD,
		.asks = UM_OP_COMPLETE,
		.says = "already",
		.asks_then = UM_OP_LOOK_UP,
		.says_then = "completed",
		.status = 200,
		.outcome = "already",
		.location = "",
		.sets_cookie = "",
		.on_page = "<h1>Already done</h1>" };

	program_case_run(&oauth_return, &test);
	test.row.action = cancel;
	test.on_page = "<h1>This request has ended</h1>";
	program_case_run(&oauth_return, &test);
	test.row.action = NULL;
	test.says_then = "unavailable";
	test.status = 503;
	test.reason = test.outcome = "unavailable";
	test.on_page = NULL;
	program_case_run(&oauth_return, &test);
	test.asks_then = UM_OP_NONE;
	test.reason = NULL;
	test.says = "processing";
	test.on_page = test.outcome = NULL;
	test.status = 303;
	test.location = "/done";
	test.sets_cookie = DONE_COOKIE("processing");
	program_case_run(&oauth_return, &test);
	test.location = test.sets_cookie = "";
	for (size_t i = 0; i < LENGTH(cases); i++) {
		test.name = test.reason = cases[i].reason;
		test.says = cases[i].says;
		test.status = cases[i].status;
		test.refresh = cases[i].status == 503 ? "3" : "";
		program_case_run(&oauth_return, &test);
	}
}

/* The URL of the GET that stands for a POST, with every field in it. */
static void
assert_same_answer(struct um_str url, const char *before)
{
	struct um_form form = { 0 };
	struct um_token token;

	assert_true(um_str_take_prefix(&url, before));
	assert_int_equal(um_form_parse(&form, url), UM_REFUSAL_NONE);
	assert_int_equal(form.len, 4);
	assert_int_equal(um_token_open(&token, um_form_get(&form, "state"),
				 case_context.keys, UM_PURPOSE_RETURN, "demo",
				 CASE_NOW),
		UM_TOKEN_GOOD);
	assert_str(um_form_get(&form, "code"), SECRET "-code");
	assert_str(um_form_get(&form, "iss"), CASE_ISSUER);
	assert_str(um_form_get(&form, "x"), "a b&\r\n\"'<\xc3\xab");
	um_form_free(&form);
}

#define FOUR_FIELDS GOOD "&x=a+b%26%0d%0a%22'<%C3%AB"

/* A cross-site POST carries no Lax cookie; the GET after a 303 does. */
TEST(form_post_without_a_cookie_comes_again_by_get)
{
	struct program_case test = { .name = "form_post",
		.method = "POST",
		.path = RETURN,
		.body = FOUR_FIELDS,
		.cookie = "" };
	struct program_answer end;

	program_case_answer(&end, &oauth_return, &test);
	assert_int_equal(end.ex.response.status, 303);
	assert_int_equal(end.ex.response.body.len, 0);
	assert_same_answer(program_answer_header(&end, "Location"),
		"/oauth/demo/return?");
	assert_null(program_answer_header(&end, "Set-Cookie").ptr);
	assert_false(str_has(um_buf_str(&end.log), STR(SECRET)));
	program_answer_free(&end);

	/* With another browser's cookie it is another browser's. */
	test.cookie = COOKIE("BBECAwQFBgcICQoLDA0ODw");
	test.status = 403;
	test.reason = "wrong_browser";
	program_case_run(&oauth_return, &test);
}

TEST(form_post_without_a_cookie_or_a_good_state)
{
	static const struct {
		const char *body;
		int status;
		const char *reason;
	} cases[] = {
		{ "state={expired}" CODE, 410, "state_expired" },
		{ "state={purpose}" CODE, 400, "state_invalid" },
		{ "state={unbound}" CODE ISS, 403, "wrong_browser" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = cases[i].reason,
			.method = "POST",
			.path = RETURN,
			.body = cases[i].body,
			.cookie = "",
			.status = cases[i].status,
			.reason = cases[i].reason,
			.location = "" };

		program_case_run(&oauth_return, &test);
	}
}

/* What cannot come again by GET is refused now, not by the web server. */
TEST(form_post_that_no_query_can_hold)
{
	struct um_buf body = { 0 };
	struct program_case test = { .name = "a long form_post",
		.method = "POST",
		.path = RETURN,
		.cookie = "",
		.status = 400,
		.reason = "parameters_too_large",
		.location = "" };

	/* Bytes that no address has: they take three times as much there. */
	um_buf_puts(&body, GOOD "&x=");
	for (int i = 0; i < UM_QUERY_MAX / 3; i++)
		um_buf_puts(&body, "\xff");
	um_buf_put(&body, "", 1);
	test.body = body.ptr;
	program_case_run(&oauth_return, &test);
	um_buf_free(&body);

	/* A form of 16 KB can. */
	test.name = "a form as long as the limit";
	um_buf_puts(&body, GOOD "&x=");
	while (body.len + UM_TOKEN_LEN - strlen("{bound}") < UM_BODY_MAX)
		um_buf_puts(&body, "x");
	um_buf_put(&body, "", 1);
	test.body = body.ptr;
	test.status = 303;
	test.reason = NULL;
	test.location = NULL;
	program_case_run(&oauth_return, &test);
	um_buf_free(&body);
}

/* 503 to a POST: the page comes again by GET, the address stays off it. */
TEST(form_post_while_the_database_is_away)
{
	static const struct program_case test = { .name = "away",
		.method = "POST",
		.path = RETURN,
		.body = FOUR_FIELDS,
		.asks = UM_OP_COMPLETE,
		.says = "unavailable" };
	struct program_answer end;

	program_case_answer(&end, &oauth_return, &test);
	assert_int_equal(end.ex.response.status, 503);
	assert_str(program_answer_header(&end, "Retry-After"), "3");
	assert_same_answer(program_answer_header(&end, "Refresh"),
		"3; url=/oauth/demo/return?");
	assert_false(str_has(um_buf_str(&end.ex.response.body), STR(SECRET)));
	assert_false(str_has(um_buf_str(&end.log), STR(SECRET)));
	program_answer_free(&end);
}

TEST(who_the_user_is)
{
	static const struct program_case cases[] = {
		{ .name = "no name",
			.path = RETURN,
			.query = GOOD,
			.user_check = "remote-user",
			.status = 500,
			.reason = "sign_in_not_set_up" },
		{ .name = "an empty name",
			.path = RETURN,
			.query = GOOD,
			.user_check = "remote-user",
			.user = "",
			.status = 500,
			.reason = "sign_in_not_set_up" },
		{ .name = "no ticket",
			.path = RETURN,
			.query = GOOD,
			.user_check = "session-ticket",
			.status = 403,
			.reason = "sign_in_required" },
		{ .name = "a name",
			.path = RETURN,
			.query = GOOD,
			.user_check = "remote-user",
			.user = "user-42",
			.asks = UM_OP_COMPLETE,
			.says = "completed",
			.action = "accept",
			.status = 303,
			.location = "/done" },
		{ .name = "another name",
			.path = RETURN,
			.query = GOOD,
			.user_check = "remote-user",
			.user = "user-43",
			.asks = UM_OP_COMPLETE,
			.says = "wrong_user",
			.asks_then = UM_OP_EVENT,
			.says_then = "ignored",
			.status = 403,
			.reason = "wrong_user",
			.location = "",
			.sets_cookie = "" },
		{ .name = "another name, and the event is lost",
			.method = "POST",
			.path = RETURN,
			.body = GOOD,
			.user_check = "remote-user",
			.user = "user-43",
			.asks = UM_OP_COMPLETE,
			.says = "wrong_user",
			.asks_then = UM_OP_EVENT,
			.says_then = "unavailable",
			.status = 403,
			.reason = "wrong_user" },
	};

	program_case_run_all(&oauth_return, cases, LENGTH(cases));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_response_completes_the_row),
		cmocka_unit_test(completed_without_an_issuer),
		cmocka_unit_test(what_the_database_says),
		cmocka_unit_test(form_post_without_a_cookie_comes_again_by_get),
		cmocka_unit_test(form_post_without_a_cookie_or_a_good_state),
		cmocka_unit_test(form_post_that_no_query_can_hold),
		cmocka_unit_test(form_post_while_the_database_is_away),
		cmocka_unit_test(who_the_user_is),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
