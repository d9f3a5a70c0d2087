/* SPDX-License-Identifier: MIT */
#include "http/header.h"

#include "support.h"

/* RFC 6265 section 4.2.1. */
TEST(cookies_are_found_unless_they_are_ambiguous)
{
	const struct {
		struct um_str header;
		struct um_str value; /* .ptr NULL: none, or several */
	} cases[] = {
		{ STR("c=v"), STR("v") },
		{ STR("a=1; c=v; b=2"), STR("v") },
		{ STR("a=1;c=v;b=2"), STR("v") },
		{ STR("a=1; \t c=v"), STR("v") },
		{ STR("c=a=b"), STR("a=b") },
		{ STR("c="), STR("") },
		{ STR("c=\"v\""), STR("\"v\"") },
		{ STR("c=v;"), STR("v") },
		{ STR(";;; c=v"), STR("v") },
		{ STR("cc=1; xc=2; c2=3; C=4; c =5"), { 0 } },
		{ STR("a=c=v"), { 0 } },
		{ STR("a=1, c=v"), { 0 } },
		{ STR(""), { 0 } },
		{ STR(";"), { 0 } },
		{ STR("="), { 0 } },
		/* a value without a name, as browsers send it */
		{ STR("c"), { 0 } },
		{ STR("c; a=1"), { 0 } },
		{ STR("c; c=v"), STR("v") },
		{ STR("c=1; c=2"), { 0 } },
		{ STR("c=1; a=2; c=1"), { 0 } },
		{ STR("c=; c="), { 0 } },
		{ STR("c=a\0b"), STR("a\0b") },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_str value = um_cookie_get(cases[i].header, "c");

		assert_row(cases[i].header.ptr,
			um_str_eq(value, cases[i].value));
		assert_row(cases[i].header.ptr,
			(value.ptr == NULL) == (cases[i].value.ptr == NULL));
	}
	assert_null(um_cookie_get(um_str(NULL), "c").ptr);
}

/* Neither a longer type nor a NUL behind it is taken for the same. */
TEST(media_types_are_compared_whole)
{
	static const char type[] = "multipart/form-data";

	assert_true(um_media_type_is(STR("multipart/form-data"), type));
	assert_true(um_media_type_is(STR("MULTIPART/form-data;x"), type));
	assert_true(um_media_type_is(STR("multipart/form-data\t;x"), type));
	assert_false(um_media_type_is(STR("multipart/form-data\0"), type));
	assert_false(um_media_type_is(STR("multipart/form-data2"), type));
	assert_false(um_media_type_is(STR("multipart/form"), type));
	assert_false(um_media_type_is(um_str(NULL), type));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookies_are_found_unless_they_are_ambiguous),
		cmocka_unit_test(media_types_are_compared_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
