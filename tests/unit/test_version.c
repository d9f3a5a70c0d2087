/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "server/version.h"
#include "support.h"

TEST(it_is_that_of_the_changelog)
{
	FILE *file = fopen("nginx/debian/changelog", "r");
	char line[128], expected[64];

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	assert_int_equal(sscanf(line, "urlmode (%63[0-9.]", expected), 1);
	assert_string_equal(um_version(), expected);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_that_of_the_changelog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
