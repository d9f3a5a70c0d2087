/* SPDX-License-Identifier: MIT */
#include "app/respond.h"
#include "program_case.h"

/* Leaves the response in ex->response. */
static void
respond(struct um_exchange *ex)
{
	struct um_buf out = { 0 };

	um_respond(&case_context, ex, &out);
	assert_false(out.failed);
	um_buf_free(&out);
}

/* No memory, or a header that cannot be sent: still a whole page. */
TEST(a_response_that_failed_becomes_an_error)
{
	for (int place = 0; place < 2; place++) {
		struct um_exchange ex = { .request.id = CASE_REQUEST_ID };
		struct um_buf out = { 0 };

		ex.response.status = 303;
		um_buf_puts(&ex.response.headers, "Location: /done\r\n");
		if (place == 0)
			ex.response.headers.failed = true;
		else
			ex.response.body.failed = true;
		um_respond(&case_context, &ex, &out);
		assert_false(out.failed);
		assert_memory_equal(out.ptr, "Status: 500\r\n", 13);
		assert_true(str_has(um_buf_str(&out),
			STR("<code>internal_error</code>")));
		assert_false(str_has(um_buf_str(&out), STR("Location")));
		assert_string_equal(ex.reason, "internal_error");
		um_buf_free(&out);
		um_exchange_free(&ex);
	}
}

/* Nothing is left of the response that a step had begun. */
TEST(a_refusal_replaces_the_response)
{
	struct um_exchange ex = { .request.id = CASE_REQUEST_ID,
		.cookie = CASE_COOKIE,
		.sets_cookie = true };

	um_response_cookie(&ex.response, "a", STR("b"), 1, "Lax");
	um_buf_puts(&ex.response.body, "before");
	um_buf_puts(&ex.url, "/before");
	ex.refusal = UM_REFUSAL_STATE_INVALID;
	respond(&ex);
	assert_int_equal(ex.response.status, 400);
	assert_true(str_has(um_buf_str(&ex.response.body),
		STR("<code>state_invalid</code>")));
	assert_false(str_has(um_buf_str(&ex.response.body), STR("before")));
	assert_false(
		str_has(um_buf_str(&ex.response.headers), STR("Set-Cookie")));
	assert_false(str_has(um_buf_str(&ex.response.headers), STR("before")));
	um_exchange_free(&ex);
}

/* RFC 9110 section 15.5.6. */
TEST(method_not_allowed_names_the_methods)
{
	for (int plain = 0; plain < 2; plain++) {
		struct um_exchange ex = { .plain = plain, .allow = "GET" };

		ex.refusal = UM_REFUSAL_METHOD_NOT_ALLOWED;
		respond(&ex);
		assert_int_equal(ex.response.status, 405);
		assert_true(str_has(um_buf_str(&ex.response.headers),
			STR("Allow: GET\r\n")));
		um_exchange_free(&ex);
	}
}

TEST(the_log_outcome_of_a_refusal)
{
	static const struct {
		enum um_refusal refusal;
		const char *outcome;
	} cases[] = {
		{ UM_REFUSAL_STATE_INVALID, "refused" },
		{ UM_REFUSAL_UNAVAILABLE, "unavailable" },
		{ UM_REFUSAL_INTERNAL_ERROR, "failed" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_exchange ex = { 0 };

		row_begin("%s", um_refusal_code(cases[i].refusal));
		ex.refusal = cases[i].refusal;
		respond(&ex);
		assert_string_equal(ex.outcome, cases[i].outcome);
		assert_string_equal(ex.reason,
			um_refusal_code(cases[i].refusal));
		um_exchange_free(&ex);
	}
}

/* A browser tries again by itself; a program has the header to go by. */
TEST(unavailable_has_retry_after_and_refresh)
{
	for (int plain = 0; plain < 2; plain++) {
		struct um_exchange ex = { .plain = plain };
		struct um_str headers;

		um_buf_puts(&ex.url, "/connect/demo?state=x");
		ex.refusal = UM_REFUSAL_UNAVAILABLE;
		respond(&ex);
		headers = um_buf_str(&ex.response.headers);
		assert_int_equal(ex.response.status, 503);
		assert_true(str_has(headers, STR("Retry-After: 3\r\n")));
		assert_int_equal(str_has(headers,
					 STR("Refresh: 3; url=/connect/"
					     "demo?state=x\r\n")),
			!plain);
		assert_false(
			str_has(um_buf_str(&ex.response.body), STR("state=x")));
		um_exchange_free(&ex);
	}
}

TEST(the_redirect_to_done_has_a_clean_address)
{
	struct um_exchange ex = { 0 };

	um_exchange_finish(&ex, UM_FINAL_PAGE_DECLINED);
	respond(&ex);
	assert_int_equal(ex.response.status, 303);
	assert_str(um_buf_str(&ex.response.headers),
		"Set-Cookie: __Host-urlmode-done=declined; Path=/; Max-Age=60; "
		"Secure; HttpOnly; SameSite=Lax\r\nLocation: /done\r\n");
	assert_int_equal(ex.response.body.len, 0);
	um_exchange_free(&ex);
}

/* The address may hold a state or a code. */
TEST(a_redirect_without_memory_is_none)
{
	struct um_exchange ex = { .answer = UM_ANSWER_REDIRECT };

	um_buf_puts(&ex.url, "https://half");
	ex.url.failed = true;
	respond(&ex);
	assert_int_equal(ex.response.status, 500);
	um_exchange_free(&ex);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_response_that_failed_becomes_an_error),
		cmocka_unit_test(a_refusal_replaces_the_response),
		cmocka_unit_test(method_not_allowed_names_the_methods),
		cmocka_unit_test(the_log_outcome_of_a_refusal),
		cmocka_unit_test(unavailable_has_retry_after_and_refresh),
		cmocka_unit_test(the_redirect_to_done_has_a_clean_address),
		cmocka_unit_test(a_redirect_without_memory_is_none),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
