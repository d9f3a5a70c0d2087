/* SPDX-License-Identifier: MIT */
/* What the tests of the programs do not reach; they try each check. */
#include <stdlib.h>

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

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_operations_must_be_done),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
