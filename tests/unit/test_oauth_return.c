/* SPDX-License-Identifier: MIT */
/* What oauth-return refuses, and never asks the database for. */
#include <string.h>

#include "crypto/seal.h"
#include "oauth_return.h"

#define NO_ROUTE(its_name, its_path, its_reason)                               \
	{                                                                      \
		.name = (its_name), .path = (its_path), .query = GOOD,         \
		.status = 404, .reason = (its_reason)                          \
	}

/* Refused by plan(), so without the database. */
TEST(refused_without_the_database)
{
	static const struct program_case cases[] = {
		NO_ROUTE("no route", "/oauth/demo/returned", "unknown_route"),
		NO_ROUTE("no provider in the path", "/oauth//return",
			"unknown_route"),
		NO_ROUTE("two segments", "/oauth/demo/x/return",
			"unknown_route"),
		NO_ROUTE("a suffix that overlaps", "/oauth/return",
			"unknown_route"),
		NO_ROUTE("no path", "", "unknown_route"),
		NO_ROUTE("unknown provider", "/oauth/nobody/return",
			"unknown_provider"),
		NO_ROUTE("encoded provider", "/oauth/dem%6f/return",
			"unknown_provider"),
		NO_ROUTE("a payment provider", "/oauth/shop/return",
			"unknown_provider"),
		{ .name = "HEAD",
			.method = "HEAD",
			.path = RETURN,
			.query = GOOD,
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "PUT",
			.method = "PUT",
			.path = RETURN,
			.query = GOOD,
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "prefetch",
			.path = RETURN,
			.query = GOOD,
			.prefetch = true,
			.status = 503,
			.reason = "prefetch" },
		{ .name = "no form",
			.method = "POST",
			.path = RETURN,
			.body = GOOD,
			.type = "application/json",
			.status = 415,
			.reason = "unsupported_media_type" },
		{ .name = "no type",
			.method = "POST",
			.path = RETURN,
			.body = GOOD,
			.type = "",
			.status = 415,
			.reason = "unsupported_media_type" },
		{ .name = "a body over its limit",
			.method = "POST",
			.path = RETURN,
			.body = "",
			.body_too_large = true,
			.status = 413,
			.reason = "body_too_large" },
		REFUSED("a state that is malformed", "state={bound}%0" CODE ISS,
			400, "malformed_parameters"),
		REFUSED("a state without UTF-8", "state={bound}%ff" CODE ISS,
			400, "malformed_parameters"),
		REFUSED("a state with a NUL", "state={bound}%00" CODE ISS, 400,
			"malformed_parameters"),
		REFUSED("a code without UTF-8", "state={bound}" CODE "%ff" ISS,
			400, "malformed_parameters"),
		REFUSED("an iss without UTF-8", GOOD "%ff", 400,
			"malformed_parameters"),
		REFUSED("state twice", GOOD "&state={bound}", 400,
			"duplicate_parameter"),
		REFUSED("code twice", GOOD CODE, 400, "duplicate_parameter"),
		REFUSED("iss twice", GOOD ISS, 400, "duplicate_parameter"),
		REFUSED("no query", "", 400, "state_missing"),
		REFUSED("no state", "x=1" CODE ISS, 400, "state_missing"),
		REFUSED("an empty state", "state=" CODE ISS, 400,
			"state_missing"),
		{ .name = "the state in the query of a POST",
			.method = "POST",
			.path = RETURN,
			.query = "state={bound}",
			.body = "x=1" CODE ISS,
			.status = 400,
			.reason = "query_and_form" },
		{ .name = "anything in the query of a POST",
			.method = "POST",
			.path = RETURN,
			.query = "x",
			.body = GOOD,
			.status = 400,
			.reason = "query_and_form" },
		REFUSED("a short state", "state=AQE" CODE ISS, 400,
			"state_invalid"),
		REFUSED("a character more", "state={bound}A" CODE ISS, 400,
			"state_invalid"),
		REFUSED("padding", "state={bound}=" CODE ISS, 400,
			"state_invalid"),
		REFUSED("white space", "state=+{bound}" CODE ISS, 400,
			"state_invalid"),
		REFUSED("a link", "state={link}" CODE ISS, 400,
			"state_invalid"),
		REFUSED("another purpose", "state={purpose}" CODE ISS, 400,
			"state_invalid"),
		REFUSED("another provider's state", "state={provider}" CODE ISS,
			400, "state_invalid"),
		{ .name = "a state on another provider's route",
			.path = "/oauth/lax/return",
			.query = GOOD,
			.status = 400,
			.reason = "state_invalid" },
		REFUSED("a key that was dropped", "state={key}" CODE ISS, 400,
			"unknown_key"),
		REFUSED("expired", "state={expired}" CODE ISS, 410,
			"state_expired"),
		{ .name = "no cookie",
			.path = RETURN,
			.query = GOOD,
			.cookie = "",
			.status = 403,
			.reason = "wrong_browser" },
		{ .name = "another cookie",
			.path = RETURN,
			.query = GOOD,
			.cookie = COOKIE("BBECAwQFBgcICQoLDA0ODw"),
			.status = 403,
			.reason = "wrong_browser" },
		{ .name = "two cookies of that name",
			.path = RETURN,
			.query = GOOD,
			.cookie = COOKIE(CASE_COOKIE) "; " COOKIE(CASE_COOKIE),
			.status = 403,
			.reason = "wrong_browser" },
		{ .name = "a cookie without a value",
			.path = RETURN,
			.query = GOOD,
			.cookie = UM_COOKIE_NAME,
			.status = 403,
			.reason = "wrong_browser" },
		{ .name = "a quoted cookie",
			.path = RETURN,
			.query = GOOD,
			.cookie = COOKIE("\"" CASE_COOKIE "\""),
			.status = 403,
			.reason = "wrong_browser" },
		REFUSED("another browser's state", "state={elsewhere}" CODE ISS,
			403, "wrong_browser"),
		REFUSED("a state for any browser", "state={unbound}" CODE ISS,
			403, "wrong_browser"),
	};

	program_case_run_all(&oauth_return, cases, LENGTH(cases));
}

/* RFC 9207 section 2.4, and RFC 6749 sections 4.1.2 and 4.1.2.1. */
TEST(a_response_that_is_refused)
{
	static const struct program_case cases[] = {
		REFUSED("no iss", "state={bound}" CODE, 400, "issuer_missing"),
		REFUSED("no iss in an error",
			"state={bound}&error=access_denied", 400,
			"issuer_missing"),
		REFUSED("another iss",
			"state={bound}" CODE "&iss=https://" SECRET, 400,
			"issuer_mismatch"),
		REFUSED("another iss in an error",
			"state={bound}&error=access_denied"
			"&iss=https://" SECRET,
			400, "issuer_mismatch"),
		REFUSED("an empty iss", "state={bound}" CODE "&iss=", 400,
			"issuer_mismatch"),
		REFUSED("an iss with a slash", GOOD "/", 400,
			"issuer_mismatch"),
		REFUSED("an iss in capitals",
			"state={bound}" CODE "&iss=https://Issuer.example", 400,
			"issuer_mismatch"),
		REFUSED("code and error", GOOD "&error=access_denied", 400,
			"response_ambiguous"),
	};
	struct tested_program lax_return = oauth_return;
	static const struct program_case sends_none = {
		.name = "a provider that need not send it",
		.path = "/oauth/lax/return",
		.query = "state={bound}" CODE "&iss=https://" SECRET,
		.status = 400,
		.reason = "issuer_mismatch",
	};

	program_case_run_all(&oauth_return, cases, LENGTH(cases));
	lax_return.provider = "lax";
	program_case_run(&lax_return, &sends_none);
}

/* A query of this many bytes, good but for its length. */
static void
run_query_of(size_t len, int status, const char *reason)
{
	struct program_case test = { .name = "a long query",
		.path = RETURN,
		.status = status,
		.reason = reason };
	/* {bound} becomes a token */
	size_t fixed = strlen(GOOD) - strlen("{bound}") + UM_TOKEN_LEN;
	struct um_buf query = { 0 };
	char pad[] = "&p0=";

	um_buf_puts(&query, GOOD);
	while (fixed != len) {
		size_t left = len - fixed;
		size_t run = left > 4008 ? 4000 : left - 4;

		assert_true(left > 4);
		um_buf_puts(&query, pad);
		for (size_t i = 0; i < run; i++)
			um_buf_puts(&query, "x");
		fixed += 4 + run;
		pad[2]++;
	}
	um_buf_put(&query, "", 1);
	test.query = query.ptr;
	if (status == 303) {
		test.asks = UM_OP_COMPLETE;
		test.says = "completed";
	}
	program_case_run(&oauth_return, &test);
	um_buf_free(&query);
}

TEST(a_query_as_long_as_the_limit)
{
	run_query_of(UM_QUERY_MAX, 303, "");
	run_query_of(UM_QUERY_MAX + 1, 400, "parameters_too_large");
}

/* JSON makes six characters of one: what no row takes is not tried. */
TEST(a_result_over_its_limit)
{
	for (size_t over = 0; over < 2; over++) {
		/* one JSON text: {"code":"…","iss":"…","a":"…","b":"…",…} */
		size_t left = UM_RESULT_MAX - UM_SEAL_OVERHEAD + over
			- strlen("{\"code\":\"" SECRET
				 "-code\",\"iss\":\"" CASE_ISSUER "\"}");
		struct program_case test = { .name = "a result",
			.method = "POST",
			.path = RETURN,
			.status = over ? 400 : 303,
			.reason = over ? "parameters_too_large" : "",
			.asks = over ? UM_OP_NONE : UM_OP_COMPLETE,
			.says = "completed" };
		struct um_buf body = { 0 };

		um_buf_puts(&body, GOOD);
		for (char name = 'a'; left != 0; name++) {
			size_t run = strlen(",\"a\":\"\"");

			um_buf_printf(&body, "&%c=", name);
			for (int i = 0; i < 4000 && run + 6 <= left; i++) {
				um_buf_puts(&body, "\x01");
				run += 6;
			}
			for (; left - run < 6 && run < left; run++)
				um_buf_puts(&body, "x");
			left -= run;
		}
		um_buf_put(&body, "", 1);
		test.body = body.ptr;
		program_case_run(&oauth_return, &test);
		um_buf_free(&body);
	}
}

TEST(as_many_parameters_as_the_limit)
{
	struct um_buf query = { 0 };

	um_buf_puts(&query, GOOD); /* three of them */
	for (int over = 0; over < 2; over++) {
		struct program_case test = { .name = "many parameters",
			.path = RETURN };

		for (int i = over ? UM_FORM_FIELDS_MAX : 3;
			i < UM_FORM_FIELDS_MAX + over; i++)
			um_buf_printf(&query, "&p%d=", i);
		um_buf_put(&query, "", 1);
		query.len--;
		test.query = query.ptr;
		test.status = over ? 400 : 303;
		test.reason = over ? "parameters_too_large" : "";
		test.asks = over ? UM_OP_NONE : UM_OP_COMPLETE;
		test.says = "completed";
		program_case_run(&oauth_return, &test);
	}
	um_buf_free(&query);
}

TEST(method_not_allowed_lists_the_methods)
{
	static const struct program_case test = { .name = "DELETE",
		.method = "DELETE",
		.path = RETURN,
		.query = GOOD };
	struct program_answer end;

	program_case_answer(&end, &oauth_return, &test);
	assert_str(program_answer_header(&end, "Allow"), "GET, POST");
	program_answer_free(&end);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_without_the_database),
		cmocka_unit_test(a_response_that_is_refused),
		cmocka_unit_test(a_query_as_long_as_the_limit),
		cmocka_unit_test(a_result_over_its_limit),
		cmocka_unit_test(as_many_parameters_as_the_limit),
		cmocka_unit_test(method_not_allowed_lists_the_methods),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
