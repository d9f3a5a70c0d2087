/* SPDX-License-Identifier: MIT */
#include "http/media_type.h"
#include "support.h"

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
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(media_types_are_compared_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
