/* SPDX-License-Identifier: MIT */
/* The exchange, and what every program does with it. */
#include <stdlib.h>
#include <string.h>

#include "program_case.h"

static const char *request_id;

static const char *
get(const char *name, void *arg)
{
	(void)arg;
	return strcmp(name, "URLMODE_REQUEST_ID") == 0 ? request_id : NULL;
}

static void
begin(struct um_exchange *ex, struct um_buf *path)
{
	um_exchange_begin(ex, path, get, NULL, &case_context);
}

TEST(the_request_id_of_the_web_server_is_kept)
{
	struct um_exchange ex;
	struct um_buf path = { 0 };

	request_id = CASE_REQUEST_ID;
	begin(&ex, &path);
	assert_string_equal(ex.request.id, CASE_REQUEST_ID);
	um_exchange_free(&ex);
	um_buf_free(&path);
}

/* What is no id gets into no header and no log. */
TEST(another_request_id_is_replaced)
{
	static const char *const ids[] = { NULL, "", "0123456789abcdef",
		"0123456789ABCDEF0123456789ABCDEF",
		"0123456789abcdef0123456789abcdeg",
		"0123456789abcdef0123456789abcdef0",
		"0123456789abcdef\r\n23456789abcde",
		"\"<script>89abcdef0123456789abcde" };
	char seen[LENGTH(ids)][UM_REQUEST_ID_LEN + 1];

	for (size_t i = 0; i < LENGTH(ids); i++) {
		struct um_exchange ex;
		struct um_buf path = { 0 };

		row_begin("%s", ids[i] != NULL ? ids[i] : "none");
		request_id = ids[i];
		begin(&ex, &path);
		assert_int_equal(strlen(ex.request.id), UM_REQUEST_ID_LEN);
		assert_int_equal(strspn(ex.request.id, "0123456789abcdef"),
			UM_REQUEST_ID_LEN);
		memcpy(seen[i], ex.request.id, sizeof(seen[i]));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(seen[i], seen[j]);
		um_exchange_free(&ex);
		um_buf_free(&path);
	}
}

/* Out of memory, or a header that cannot be: a whole page all the same. */
TEST(an_answer_that_failed_becomes_an_error)
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
		um_exchange_write(&ex, &out);
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

static void
never(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	(void)ex;
	fail_msg("a step that was withdrawn");
}

/* Nothing is left of the response before it, or of a requested operation. */
TEST(a_refusal_replaces_what_was_planned)
{
	struct um_exchange ex = { .request.id = CASE_REQUEST_ID };

	um_exchange_request_op(&ex, UM_OP_COMPLETE, never);
	um_response_cookie(&ex.response, "a", "b", 1);
	um_buf_puts(&ex.response.body, "before");
	ex.response.allow = "GET";
	assert_false(um_exchange_refuse(&ex, UM_REFUSAL_STATE_INVALID));
	assert_null(ex.then);
	assert_null(ex.response.allow);
	assert_int_equal(ex.response.status, 400);
	assert_false(str_has(um_buf_str(&ex.response.body), STR("before")));
	assert_false(
		str_has(um_buf_str(&ex.response.headers), STR("Set-Cookie")));
	um_exchange_free(&ex);
}

static void
requests_another(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	um_exchange_request_op(ex, UM_OP_EVENT, never);
}

/* What one operation read is there for the next step; what it wrote is not. */
TEST(a_step_requests_the_next_operation)
{
	struct um_provider provider = { .name = "demo" };
	struct um_exchange ex = { .provider = &provider };

	memset(ex.token.id, 0x1d, sizeof(ex.token.id));
	memset(ex.token.binding, 0xb1, sizeof(ex.token.binding));
	um_exchange_request_op(&ex, UM_OP_COMPLETE, requests_another);
	assert_ptr_equal(ex.ops, &ex.op);
	assert_int_equal(ex.ops_len, 1);
	um_buf_puts(&ex.op.result, "sealed");
	ex.op.action = "accept";
	ex.op.row.reason = strdup("expired");
	ex.op.status = UM_STORE_DONE;

	um_exchange_continue(&case_context, &ex);
	assert_true(ex.then == never);
	assert_int_equal(ex.op.kind, UM_OP_EVENT);
	assert_int_equal(ex.op.status, UM_STORE_UNAVAILABLE);
	assert_int_equal(ex.op.result.len, 0);
	assert_null(ex.op.action);
	assert_string_equal(ex.op.row.reason, "expired");
	assert_string_equal(ex.op.provider, "demo");
	assert_memory_equal(ex.op.id, ex.token.id, sizeof(ex.op.id));
	assert_memory_equal(ex.op.binding, ex.token.binding,
		sizeof(ex.op.binding));
	um_exchange_free(&ex);
}

/* One that could not be carried out decides for all of them. */
TEST(all_operations_must_be_done)
{
	static const struct {
		enum um_store_status statuses[2];
		int status;
	} cases[] = {
		{ { UM_STORE_DONE, UM_STORE_DONE }, 0 },
		{ { UM_STORE_DONE, UM_STORE_FAILED }, 500 },
		{ { UM_STORE_FAILED, UM_STORE_DONE }, 500 },
		{ { UM_STORE_DONE, UM_STORE_UNAVAILABLE }, 503 },
		{ { UM_STORE_FAILED, UM_STORE_UNAVAILABLE }, 503 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_exchange ex = { .plain = true };
		struct um_op *ops = calloc(2, sizeof(*ops));

		row_begin("%d and %d", (int)cases[i].statuses[0],
			(int)cases[i].statuses[1]);
		assert_non_null(ops);
		um_exchange_request_ops(&ex, ops, 2, never);
		ops[0].status = cases[i].statuses[0];
		ops[1].status = cases[i].statuses[1];
		assert_int_equal(um_check_done(&ex), cases[i].status == 0);
		assert_int_equal(ex.response.status, cases[i].status);
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
		um_exchange_refuse(&ex, cases[i].refusal);
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

		um_exchange_refuse_unavailable(&ex, "/connect/demo?state=x");
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

TEST(an_exchange_is_freed_twice)
{
	struct um_exchange ex = { .cookie = CASE_COOKIE };

	um_buf_puts(&ex.response.body, "x");
	um_buf_puts(&ex.op.result, "x");
	assert_int_equal(um_form_parse(&ex.form, STR("a=b")), UM_FORM_GOOD);
	um_exchange_free(&ex);
	um_exchange_free(&ex);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_request_id_of_the_web_server_is_kept),
		cmocka_unit_test(another_request_id_is_replaced),
		cmocka_unit_test(an_answer_that_failed_becomes_an_error),
		cmocka_unit_test(a_refusal_replaces_what_was_planned),
		cmocka_unit_test(a_step_requests_the_next_operation),
		cmocka_unit_test(all_operations_must_be_done),
		cmocka_unit_test(the_log_outcome_of_a_refusal),
		cmocka_unit_test(unavailable_has_retry_after_and_refresh),
		cmocka_unit_test(an_exchange_is_freed_twice),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
