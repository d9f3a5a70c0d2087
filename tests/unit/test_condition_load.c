/* SPDX-License-Identifier: MIT */
/* Lists of conditions, and which of them agree with, or follow from, others. */
#include <stdio.h>
#include <string.h>

#include "description/condition_load.h"
#include "support.h"

#define A "{\"from\":{\"json\":\"/a\"},"
#define B "{\"from\":{\"json\":\"/b\"},"
#define THERE "\"present\":true}"
#define GONE "\"present\":false}"
#define X "\"is\":\"x\"}"
#define Y "\"is\":[\"y\"]}"
#define XY "\"is\":[\"x\",\"y\"]}"

static const char *
constant(const char *name, size_t index, void *arg)
{
	(void)arg;
	return strcmp(name, "kinds") == 0 && index < 2 ? index == 0 ? "x" : "y"
						       : NULL;
}

static const struct um_expr_scope scope = { .constant = constant };

static bool
load(struct um_conditions *conditions, const char *json, struct um_error *err)
{
	struct um_conf_loc at = um_conf_root("when", err);
	json_t *list = json_loads(json, 0, NULL);
	bool ok;

	assert_non_null(list);
	*conditions = (struct um_conditions){ 0 };
	ok = um_conditions_load(conditions, &at, list, &scope);
	json_decref(list);
	return ok;
}

TEST(which_lists_are_taken)
{
	static const struct {
		const char *json;
		const char *error; /* NULL: none */
	} rows[] = {
		{ "[" A THERE "]", NULL },
		{ "[" A X "," B XY "]", NULL },
		{ "[" A "\"is\":{\"site\":\"kinds\"}}]", NULL },
		{ "[]", "is not a list of 1 to 8 conditions" },
		{ "{}", "is not a list of 1 to 8 conditions" },
		{ "[" A X "," A X "," A X "," A X "," A X "," A X "," A X
		  "," A X "]",
			NULL },
		{ "[" A X "," A X "," A X "," A X "," A X "," A X "," A X
		  "," A X "," A X "]",
			"is not a list of 1 to 8 conditions" },
		{ "[" A "\"is\":\"x\"," THERE "]",
			"must have either `is` or `present`" },
		{ "[{\"from\":{\"json\":\"/a\"}}]",
			"must have either `is` or `present`" },
		{ "[" A "\"present\":1}]", "is not true or false" },
		{ "[" A "\"is\":[]}]", "/is" },
		{ "[" A "\"is\":7}]", "/is" },
		{ "[" A "\"is\":{\"else\":\"kinds\"}}]", "/is" },
		{ "[" A "\"is\":{\"site\":\"nobody\"}}]", "nobody" },
		{ "[" A "\"not\":\"x\"," X "]", "not" },
		{ "[{\"from\":\"the same for all\"," X "]", "/from" },
		{ "[7]", "/0" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_conditions conditions;
		struct um_error err = { "" };
		bool ok = load(&conditions, rows[i].json, &err);

		assert_row(rows[i].json, ok == (rows[i].error == NULL));
		assert_row(rows[i].json,
			rows[i].error == NULL
				|| strstr(err.text, rows[i].error) != NULL);
		um_conditions_free(&conditions);
	}
}

/* Two conditions of one value: whether one delivery can meet both. */
TEST(which_conditions_agree)
{
	static const struct {
		const char *a, *b;
		bool agree;
	} rows[] = {
		{ THERE, THERE, true },
		{ GONE, GONE, true },
		{ THERE, GONE, false },
		{ THERE, X, true },
		{ GONE, X, false },
		{ X, X, true },
		{ X, Y, false },
		{ X, XY, true },
		{ XY, Y, true },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_conditions both;
		struct um_error err;
		char json[256];

		snprintf(json, sizeof(json), "[" A "%s," A "%s]", rows[i].a,
			rows[i].b);
		assert_true(load(&both, json, &err));
		assert_row(json,
			um_condition_agrees(&both.condition[0],
				&both.condition[1])
				== rows[i].agree);
		assert_row(json,
			um_condition_agrees(&both.condition[1],
				&both.condition[0])
				== rows[i].agree);
		um_conditions_free(&both);
	}
}

/* Whether `a` holds for every delivery for which `b` does. */
TEST(which_conditions_follow)
{
	static const struct {
		const char *a, *b;
		bool follow;
	} rows[] = {
		{ A X, A X, true },
		{ A XY, A X, true },
		{ A X, A XY, false },
		{ A X, A Y, false },
		{ A X, B X, false },
		{ A THERE, A X, true },
		{ A X, A THERE, false },
		{ A GONE, A X, false },
		{ A GONE, A GONE, true },
		{ A THERE, A GONE, false },
		{ A X, A X "," B Y, true },
		{ A X "," B Y, A X, false },
		{ A X "," B Y, B Y "," A X, true },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_conditions a, b;
		struct um_error err;
		char json[2][256];

		snprintf(json[0], sizeof(json[0]), "[%s]", rows[i].a);
		snprintf(json[1], sizeof(json[1]), "[%s]", rows[i].b);
		assert_true(load(&a, json[0], &err));
		assert_true(load(&b, json[1], &err));
		row_begin("%s from %s", json[0], json[1]);
		assert_int_equal(um_conditions_follow(&a, &b), rows[i].follow);
		um_conditions_free(&a);
		um_conditions_free(&b);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_lists_are_taken),
		cmocka_unit_test(which_conditions_agree),
		cmocka_unit_test(which_conditions_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
