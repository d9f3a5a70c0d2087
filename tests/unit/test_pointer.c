/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pointer.h"
#include "support.h"

TEST(pointers)
{
	/* The document and the answers of RFC 6901 section 5. */
	static const char text[] =
		"{\"foo\": [\"bar\", \"baz\"], \"\": 0, \"a/b\": 1,"
		" \"c%d\": 2, \"e^f\": 3, \"g|h\": 4, \"i\\\\j\": 5,"
		" \"k\\\"l\": 6, \" \": 7, \"m~n\": 8, \"o\": {\"\": 9}}";
	static const struct {
		const char *pointer;
		const char *found; /* NULL: nothing, or no text */
	} cases[] = {
		{ "/foo/0", "bar" },
		{ "/foo/1", "baz" },
		{ "/", "0" },
		{ "/a~1b", "1" },
		{ "/c%d", "2" },
		{ "/e^f", "3" },
		{ "/g|h", "4" },
		{ "/i\\j", "5" },
		{ "/k\"l", "6" },
		{ "/ ", "7" },
		{ "/m~0n", "8" },
		{ "/o/", "9" },
		{ "", NULL },
		{ "/foo", NULL },
		{ "/foo/2", NULL },
		{ "/foo/00", NULL },
		{ "/foo/-", NULL },
		{ "/foo/-1", NULL },
		{ "/foo/1e0", NULL },
		{ "/foo/18446744073709551616", NULL },
		{ "/foo/0/x", NULL },
		{ "/nothing", NULL },
		{ "/nothing/x", NULL },
	};
	struct um_json_node *document = um_json_parse(um_str(text),
		UM_JSON_VALUES_MAX, NULL);

	assert_non_null(document);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf out = { 0 };
		struct um_pointer pointer;

		row_begin("%s", cases[i].pointer);
		assert_row(cases[i].pointer,
			um_pointer_compile(&pointer, cases[i].pointer));
		assert_row(cases[i].pointer,
			um_json_text(um_pointer_find(&pointer, document), &out)
				== (cases[i].found != NULL));
		if (cases[i].found != NULL)
			assert_str(um_buf_str(&out), cases[i].found);
		um_pointer_free(&pointer);
		um_buf_free(&out);
	}
	free(document);
}

TEST(pointers_that_are_none)
{
	static const char *const cases[] = { "foo", "~", "/~", "/~2", "/a~",
		"#/foo", "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q" };
	char longest[UM_POINTER_MAX + 2];
	struct um_pointer pointer;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		assert_row(cases[i], !um_pointer_compile(&pointer, cases[i]));
		assert_row(cases[i], pointer.token == NULL);
	}
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[UM_POINTER_MAX + 1] = '\0';
	assert_false(um_pointer_compile(&pointer, longest));
	longest[UM_POINTER_MAX] = '\0';
	assert_true(um_pointer_compile(&pointer, longest));
	um_pointer_free(&pointer);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers),
		cmocka_unit_test(pointers_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
