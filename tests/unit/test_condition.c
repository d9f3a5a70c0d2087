/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "support.h"
#include "webhook/condition.h"

/* A condition over a literal, or over a value that is not there (NULL). */
struct row {
	const char *label, *value;
	const char *is[3]; /* none: `present` counts */
	bool present, holds;
};

static void
fill(struct um_condition *condition, const struct row *row)
{
	condition->present = row->present;
	if (row->value != NULL) {
		condition->from.kind = UM_EXPR_LITERAL;
		condition->from.text = (char *)row->value;
	}
	condition->is.item = (char **)row->is;
	while (condition->is.len < LENGTH(row->is)
		&& row->is[condition->is.len] != NULL)
		condition->is.len++;
}

static const struct row rows[] = {
	{ "there", "v", { NULL }, true, true },
	{ "not there", NULL, { NULL }, true, false },
	{ "there, and must not be", "v", { NULL }, false, false },
	{ "not there, as it must be", NULL, { NULL }, false, true },
	{ "one of one", "paid", { "paid" }, false, true },
	{ "one of two", "paid", { "open", "paid" }, false, true },
	{ "none of two", "paid", { "open", "void" }, false, false },
	{ "longer", "paid!", { "paid" }, false, false },
	{ "shorter", "pai", { "paid" }, false, false },
	{ "another case", "Paid", { "paid" }, false, false },
	{ "empty counts as not there", "", { NULL }, false, true },
	{ "empty is no value", "", { "" }, false, false },
	{ "not there is not empty", NULL, { "" }, false, false },
	{ "a list goes before `present`", NULL, { "paid" }, true, false },
};

static enum um_holding
hold(const struct um_conditions *conditions, const struct um_source *source)
{
	struct um_value unread;
	enum um_holding holding = um_conditions_hold(conditions, source,
		&unread);

	um_value_free(&unread);
	return holding;
}

TEST(one_condition)
{
	const struct um_source source = { 0 };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_conditions conditions = { .len = 1 };

		fill(&conditions.condition[0], &rows[i]);
		assert_row(rows[i].label,
			(hold(&conditions, &source) == UM_HOLDS)
				== rows[i].holds);
	}
}

/* All of them have to hold, wherever the one stands that does not. */
TEST(several_conditions)
{
	const struct um_source source = { 0 };
	struct um_conditions conditions = { 0 };

	assert_int_equal(hold(&conditions, &source), UM_HOLDS);
	conditions.len = UM_CONDITIONS_MAX;
	for (size_t i = 0; i < UM_CONDITIONS_MAX; i++)
		fill(&conditions.condition[i], &rows[0]);
	assert_int_equal(hold(&conditions, &source), UM_HOLDS);
	for (size_t i = 0; i < UM_CONDITIONS_MAX; i++) {
		conditions.condition[i].present = false;
		row_begin("condition %zu", i);
		assert_int_equal(hold(&conditions, &source), UM_HOLDS_NOT);
		conditions.condition[i].present = true;
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_condition),
		cmocka_unit_test(several_conditions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
