/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/strlist.h"
#include "support.h"

/* The list of these words, which a space separates. */
static struct um_strlist
list_of(const char *words)
{
	struct um_strlist list = { 0 };
	struct um_str rest = um_str(words);

	list.item = calloc(8, sizeof(char *));
	assert_non_null(list.item);
	while (rest.ptr != NULL && words[0] != '\0') {
		struct um_str word = um_str_cut(&rest, " ");

		list.item[list.len++] = strndup(word.ptr, word.len);
	}
	return list;
}

TEST(which_strings_are_in_a_list)
{
	static const struct {
		const char *words;
		struct um_str string;
		bool has;
	} rows[] = {
		{ "", { "a", 1 }, false },
		{ "", { "", 0 }, false },
		{ "a", { "a", 1 }, true },
		{ "a", { "ab", 2 }, false },
		{ "ab", { "ab", 1 }, false },
		{ "ab", { "a\0b", 3 }, false },
		{ "a", { "a\0", 2 }, false },
		{ "a", { "A", 1 }, false },
		{ "a b c", { "c", 1 }, true },
		{ "a b c", { "b c", 3 }, false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_strlist list = list_of(rows[i].words);

		assert_row(rows[i].words,
			um_strlist_has(&list, rows[i].string) == rows[i].has);
		um_strlist_free(&list);
		assert_int_equal(list.len, 0);
		assert_null(list.item);
		um_strlist_free(&list);
	}
}

TEST(which_lists_are_equal)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} rows[] = {
		{ "", "", true },
		{ "a b", "a b", true },
		{ "a b", "b a", false },
		{ "a", "a b", false },
		{ "a b", "a", false },
		{ "a b", "a B", false },
		{ "a a", "a b", false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_strlist a = list_of(rows[i].a),
				  b = list_of(rows[i].b);

		assert_row(rows[i].a,
			um_strlist_equal(&a, &b) == rows[i].equal);
		um_strlist_free(&a);
		um_strlist_free(&b);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_strings_are_in_a_list),
		cmocka_unit_test(which_lists_are_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
