/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "postgres/op.h"
#include "support.h"

static const enum um_outcome outcomes[] = {
#define X(name, text) UM_OUTCOME_##name,
	UM_OUTCOMES(X)
#undef X
};

TEST(each_word_there_and_back)
{
	for (size_t i = 0; i < LENGTH(outcomes); i++) {
		const char *word = um_outcome_text(outcomes[i]);
		enum um_outcome back = UM_OUTCOME_FAILED;

		assert_row(word, um_outcome_parse(&back, word));
		assert_row(word, back == outcomes[i]);
	}
}

TEST(other_words_are_none)
{
	static const char *const words[] = { "", "complete", "completed ",
		"Completed", "completedx" };
	enum um_outcome outcome = UM_OUTCOME_PENDING;

	for (size_t i = 0; i < LENGTH(words); i++)
		assert_row(words[i], !um_outcome_parse(&outcome, words[i]));
	assert_int_equal(outcome, UM_OUTCOME_PENDING);
}

/* Whoever forgets to set an outcome has not reached the database. */
TEST(zeroed_is_unavailable)
{
	const struct um_op op = { 0 };

	assert_int_equal(op.outcome, UM_OUTCOME_UNAVAILABLE);
	assert_int_equal(op.kind, UM_OP_NONE);
}

/* A leak checker sees what is left. */
TEST(freed_twice_is_fine)
{
	struct um_op op = { .kind = UM_OP_LOOK_UP };

	um_buf_puts(&op.result, "sealed");
	op.row.requester = strdup("a");
	op.row.subject = strdup("b");
	op.row.action = strdup("c");
	op.row.reason = strdup("d");
	op.row.kind = strdup("e");
	op.row.target_url = strdup("f");
	um_op_free(&op);
	assert_null(op.result.ptr);
	assert_null(op.row.target_url);
	um_op_free(&op);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_word_there_and_back),
		cmocka_unit_test(other_words_are_none),
		cmocka_unit_test(zeroed_is_unavailable),
		cmocka_unit_test(freed_twice_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
