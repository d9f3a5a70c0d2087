/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "postgres/op.h"
#include "support.h"

static const struct {
	enum um_op_kind kind;
	const char *words[23];
} kinds[] = {
	{ UM_OP_LOOK_UP,
		{ "unknown", "expired", "pending", "opened", "processing",
			"completed" } },
	{ UM_OP_LOOK_UP_LINK,
		{ "unknown", "expired", "pending", "opened", "processing",
			"completed" } },
	{ UM_OP_LINK_TENANT, { "unknown", "wrong_tenant", "pending" } },
	{ UM_OP_OPEN,
		{ "unknown", "expired", "wrong_user", "opened", "processing",
			"completed" } },
	{ UM_OP_OPEN_LINK,
		{ "unknown", "expired", "wrong_user", "opened", "processing",
			"completed" } },
	{ UM_OP_COMPLETE,
		{ "unknown", "expired", "wrong_user", "processing", "completed",
			"already" } },
#define WORD(name, word) word,
	{ UM_OP_EVENT, { UM_EVENT_OUTCOMES(WORD) } },
#undef WORD
	{ UM_OP_UNREADABLE, { NULL } },
	{ UM_OP_PING, { NULL } },
	{ UM_OP_MEASURE, { NULL } },
	{ UM_OP_BEAT, { NULL } },
};

static bool
has_word(size_t kind, const char *word)
{
	for (size_t i = 0; kinds[kind].words[i] != NULL; i++)
		if (strcmp(kinds[kind].words[i], word) == 0)
			return true;
	return false;
}

/* A kind takes its own words, and no word that only another one has. */
TEST(each_kind_takes_its_own_words)
{
	for (size_t k = 0; k < LENGTH(kinds); k++) {
		for (size_t from = 0; from < LENGTH(kinds); from++) {
			for (size_t i = 0; kinds[from].words[i] != NULL; i++) {
				struct um_op op = { .kind = kinds[k].kind,
					.status = UM_STORE_DONE };
				const char *word = kinds[from].words[i];
				bool taken = um_op_parse_outcome(&op, word);

				assert_row(word, taken == has_word(k, word));
				assert_row(word,
					!taken
						|| strcmp(um_op_outcome_text(
								  &op),
							   word)
							== 0);
			}
		}
	}
}

TEST(other_words_are_refused)
{
	static const char *const words[] = { "", "complete", "completed ",
		"Completed", "completedx", "unavailable", "failed" };
	struct um_op op = { .kind = UM_OP_LOOK_UP, .outcome = UM_ROW_PENDING };

	for (size_t i = 0; i < LENGTH(words); i++)
		assert_row(words[i], !um_op_parse_outcome(&op, words[i]));
	assert_int_equal(op.outcome, UM_ROW_PENDING);
}

TEST(an_operation_that_is_not_done)
{
	struct um_op op = { .kind = UM_OP_COMPLETE,
		.outcome = UM_ROW_COMPLETED };

	op.status = UM_STORE_UNAVAILABLE;
	assert_string_equal(um_op_outcome_text(&op), "unavailable");
	op.status = UM_STORE_FAILED;
	assert_string_equal(um_op_outcome_text(&op), "failed");
}

/* An operation that nobody has carried out is never taken for done. */
TEST(a_zeroed_operation_is_unavailable)
{
	const struct um_op op = { 0 };

	assert_int_equal(op.status, UM_STORE_UNAVAILABLE);
	assert_int_equal(op.kind, UM_OP_NONE);
}

/* A leak checker finds what um_op_free() would leave. */
TEST(an_operation_is_freed_twice)
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
		cmocka_unit_test(each_kind_takes_its_own_words),
		cmocka_unit_test(other_words_are_refused),
		cmocka_unit_test(an_operation_that_is_not_done),
		cmocka_unit_test(a_zeroed_operation_is_unavailable),
		cmocka_unit_test(an_operation_is_freed_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
