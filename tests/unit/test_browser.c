/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "app/browser.h"
#include "program_case.h"

TEST(its_value_is_read_unless_it_could_not_be_ours)
{
	static const struct {
		const char *header, *value;
	} cases[] = {
		{ "", "" },
		{ "other=x", "" },
		{ UM_COOKIE_NAME, "" },
		{ COOKIE(""), "" },
		{ COOKIE(CASE_COOKIE), CASE_COOKIE },
		{ "a=b; " COOKIE(CASE_COOKIE) "; c=d", CASE_COOKIE },
		{ COOKIE(CASE_COOKIE) "; " COOKIE(CASE_COOKIE), "" },
		{ COOKIE("has space"), "" },
		{ COOKIE("\"quoted\""), "" },
		{ COOKIE("short"), "short" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char cookie[UM_COOKIE_MAX + 1] = "before";

		row_begin("%s", cases[i].header);
		um_browser_read_cookie(cookie, um_str(cases[i].header));
		assert_string_equal(cookie, cases[i].value);
	}
}

TEST(a_value_that_is_long_enough_is_kept)
{
	char kept[UM_COOKIE_MAX + 1] = CASE_COOKIE;
	char replaced[UM_COOKIE_MAX + 1] = "AAECAwQFBgcICQoLDA0OD";
	char another[UM_COOKIE_MAX + 1] = "";

	assert_int_equal(strlen(kept), UM_COOKIE_LEN);
	um_browser_ensure_cookie(kept, &case_context);
	assert_string_equal(kept, CASE_COOKIE);
	um_browser_ensure_cookie(replaced, &case_context);
	um_browser_ensure_cookie(another, &case_context);
	assert_int_equal(strlen(replaced), UM_COOKIE_LEN);
	assert_int_equal(strlen(another), UM_COOKIE_LEN);
	assert_string_not_equal(replaced, another);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_value_is_read_unless_it_could_not_be_ours),
		cmocka_unit_test(a_value_that_is_long_enough_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
