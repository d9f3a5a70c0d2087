/* SPDX-License-Identifier: MIT */
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

static enum um_refusal
never(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	(void)ex;
	fail_msg("a step that was withdrawn");
	return UM_REFUSAL_NONE;
}

static enum um_refusal
requests_another(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	um_exchange_request_op(ex, UM_OP_EVENT, never);
	return UM_REFUSAL_NONE;
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

	um_exchange_step(&case_context, &ex, ex.then);
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

static enum um_refusal
requests_and_refuses(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	um_exchange_request_op(ex, UM_OP_COMPLETE, never);
	return UM_REFUSAL_INTERNAL_ERROR;
}

TEST(a_refusal_withdraws_what_was_requested)
{
	struct um_exchange ex = { 0 };

	um_exchange_step(&case_context, &ex, requests_and_refuses);
	assert_null(ex.then);
	assert_int_equal(ex.refusal, UM_REFUSAL_INTERNAL_ERROR);
	um_exchange_free(&ex);
}

static enum um_refusal
is_of_another_user(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	(void)ex;
	return UM_REFUSAL_WRONG_USER;
}

#define MALLORY                                                                \
	"c0a497761b175379ed63397cc9805465"                                     \
	"59faa84ca9cbeede773117c31508b6ac"

/* For the operator; whatever the database says, the user is refused. */
TEST(a_wrong_user_is_recorded_once)
{
	struct um_exchange ex = { .request.id = CASE_REQUEST_ID,
		.user = "mallory" };

	um_exchange_step(&case_context, &ex, is_of_another_user);
	assert_non_null(ex.then);
	assert_int_equal(ex.op.kind, UM_OP_EVENT);
	assert_string_equal(ex.op.event->type, "wrong_user");
	assert_int_equal(ex.op.event->effect, UM_EFFECT_IGNORE);
	/* The same of each request of this user. */
	assert_string_equal(ex.op.event->identity,
		"wrong_user:00000000-0000-0000-0000-000000000000:" MALLORY);

	ex.op.status = UM_STORE_FAILED;
	um_exchange_step(&case_context, &ex, ex.then);
	assert_null(ex.then);
	assert_int_equal(ex.refusal, UM_REFUSAL_WRONG_USER);
	um_exchange_free(&ex);
}

static void
all_ones(void *out, size_t len)
{
	memset(out, 0xff, len);
}

/* With a nonce that is used twice, AES-GCM protects nothing. */
TEST(a_state_token_is_sealed_with_a_random_nonce)
{
	struct um_context context = case_context;
	struct um_exchange ex = { .provider = case_provider("shop") };
	struct um_token token = { .expires = CASE_NOW + 60 };
	uint8_t nonce[UM_NONCE_LEN];
	char expected[UM_TOKEN_LEN + 1];

	context.random = all_ones;
	all_ones(nonce, sizeof(nonce));
	um_browser_digest(token.browser, context.keys, um_str(""));
	assert_true(um_token_mint(expected, &token, context.keys,
		UM_PURPOSE_RETURN, "shop", nonce));
	assert_int_equal(um_exchange_mint(&context, &ex, UM_PURPOSE_RETURN,
				 token.expires),
		UM_REFUSAL_NONE);
	assert_string_equal(ex.state, expected);
	um_exchange_free(&ex);
}

TEST(an_exchange_is_freed_twice)
{
	struct um_exchange ex = { .cookie = CASE_COOKIE };

	um_buf_puts(&ex.response.body, "x");
	um_buf_puts(&ex.op.result, "x");
	assert_int_equal(um_form_parse(&ex.form, STR("a=b")), UM_REFUSAL_NONE);
	um_exchange_free(&ex);
	um_exchange_free(&ex);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_request_id_of_the_web_server_is_kept),
		cmocka_unit_test(another_request_id_is_replaced),
		cmocka_unit_test(a_step_requests_the_next_operation),
		cmocka_unit_test(a_refusal_withdraws_what_was_requested),
		cmocka_unit_test(a_wrong_user_is_recorded_once),
		cmocka_unit_test(a_state_token_is_sealed_with_a_random_nonce),
		cmocka_unit_test(an_exchange_is_freed_twice),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
