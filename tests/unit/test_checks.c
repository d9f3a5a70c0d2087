/* SPDX-License-Identifier: MIT */
/* What the tests of the programs do not reach; they try each check. */
#include <stdlib.h>
#include <string.h>

#include "program_case.h"

static enum um_refusal
never(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	(void)ex;
	fail_msg("a step that was withdrawn");
	return UM_REFUSAL_NONE;
}

/* One that could not be carried out decides for all of them. */
TEST(all_operations_must_be_done)
{
	static const struct {
		enum um_store_status statuses[2];
		enum um_refusal refusal;
	} cases[] = {
		{ { UM_STORE_DONE, UM_STORE_DONE }, UM_REFUSAL_NONE },
		{ { UM_STORE_DONE, UM_STORE_FAILED },
			UM_REFUSAL_INTERNAL_ERROR },
		{ { UM_STORE_FAILED, UM_STORE_DONE },
			UM_REFUSAL_INTERNAL_ERROR },
		{ { UM_STORE_DONE, UM_STORE_UNAVAILABLE },
			UM_REFUSAL_UNAVAILABLE },
		{ { UM_STORE_FAILED, UM_STORE_UNAVAILABLE },
			UM_REFUSAL_UNAVAILABLE },
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
		assert_int_equal(um_check_done(&ex), cases[i].refusal);
		um_exchange_free(&ex);
	}
}

static const char *
user_header(const char *name, void *arg)
{
	return strcmp(name, "REMOTE_USER") == 0 ? arg : NULL;
}

TEST(a_name_of_the_web_server_is_as_long_as_a_subject)
{
	struct um_config config = { .user_check = UM_USER_REMOTE };
	const struct um_context context = { .config = &config };
	char name[UM_SUBJECT_MAX + 2];

	for (size_t len = 0; len <= UM_SUBJECT_MAX + 1; len++) {
		struct um_exchange ex = { .request = { .get = user_header,
						  .get_arg = name } };
		bool fits = len >= 1 && len <= UM_SUBJECT_MAX;

		row_begin("%zu bytes", len);
		memset(name, 'x', len);
		name[len] = '\0';
		assert_int_equal(um_check_user(&context, &ex),
			fits ? UM_REFUSAL_NONE : UM_REFUSAL_SIGN_IN_NOT_SET_UP);
		assert_string_equal(ex.user, fits ? name : "");
	}
}

TEST(each_byte_of_the_browser_of_a_row_is_compared)
{
	struct um_exchange ex = { .cookie = CASE_COOKIE };
	uint8_t *browser = ex.op.row.browser;

	ex.op.row.has_browser = true;
	um_browser_digest(browser, case_context.keys, STR(CASE_COOKIE));
	assert_int_equal(um_require_owner(&case_context, &ex), UM_REFUSAL_NONE);
	for (size_t i = 0; i < UM_BROWSER_LEN; i++) {
		row_begin("byte %zu", i);
		browser[i] ^= 1;
		assert_int_equal(um_require_owner(&case_context, &ex),
			UM_REFUSAL_WRONG_BROWSER);
		browser[i] ^= 1;
	}
	ex.op.row.has_browser = false;
	assert_int_equal(um_require_owner(&case_context, &ex),
		UM_REFUSAL_WRONG_BROWSER);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_operations_must_be_done),
		cmocka_unit_test(
			a_name_of_the_web_server_is_as_long_as_a_subject),
		cmocka_unit_test(each_byte_of_the_browser_of_a_row_is_compared),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
