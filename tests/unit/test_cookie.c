/* SPDX-License-Identifier: MIT */
#include "http/cookie.h"
#include "support.h"

/* RFC 6265 section 4.2.1. */
TEST(cookies_are_found_unless_they_are_ambiguous)
{
	const struct {
		struct um_str header;
		enum um_cookie_state state;
		const char *value;
	} cases[] = {
		{ STR("c=v"), UM_COOKIE_FOUND, "v" },
		{ STR("a=1; c=v; b=2"), UM_COOKIE_FOUND, "v" },
		{ STR("a=1;c=v;b=2"), UM_COOKIE_FOUND, "v" },
		{ STR("a=1; \t c=v"), UM_COOKIE_FOUND, "v" },
		{ STR("c=a=b"), UM_COOKIE_FOUND, "a=b" },
		{ STR("c="), UM_COOKIE_FOUND, "" },
		{ STR("c=\"v\""), UM_COOKIE_FOUND, "\"v\"" },
		{ STR("c=v;"), UM_COOKIE_FOUND, "v" },
		{ STR(";;; c=v"), UM_COOKIE_FOUND, "v" },
		{ STR("cc=1; xc=2; c2=3; C=4; c =5"), UM_COOKIE_NONE, "" },
		{ STR("a=c=v"), UM_COOKIE_NONE, "" },
		{ STR("a=1, c=v"), UM_COOKIE_NONE, "" },
		{ STR(""), UM_COOKIE_NONE, "" },
		{ STR(";"), UM_COOKIE_NONE, "" },
		{ STR("="), UM_COOKIE_NONE, "" },
		/* a value without a name, as browsers send it */
		{ STR("c"), UM_COOKIE_NONE, "" },
		{ STR("c; a=1"), UM_COOKIE_NONE, "" },
		{ STR("c; c=v"), UM_COOKIE_FOUND, "v" },
		{ STR("c=1; c=2"), UM_COOKIE_DUPLICATE, "" },
		{ STR("c=1; a=2; c=1"), UM_COOKIE_DUPLICATE, "" },
		{ STR("c=; c="), UM_COOKIE_DUPLICATE, "" },
		{ STR("c=a\0b"), UM_COOKIE_FOUND, NULL },
	};
	struct um_str value;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		row_begin("%s", cases[i].header.ptr);
		assert_row(cases[i].header.ptr,
			um_cookie_get(&value, cases[i].header, "c")
				== cases[i].state);
		if (cases[i].value != NULL)
			assert_str(value, cases[i].value);
		else
			assert_true(um_str_eq(value, STR("a\0b")));
		if (cases[i].state == UM_COOKIE_FOUND)
			assert_non_null(value.ptr);
	}
	assert_int_equal(um_cookie_get(&value, um_str(NULL), "c"),
		UM_COOKIE_NONE);
	assert_null(value.ptr);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookies_are_found_unless_they_are_ambiguous),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
