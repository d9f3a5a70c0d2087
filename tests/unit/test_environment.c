/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/environment.h"
#include "support.h"

#define SECRET "1 ERERERERERERERERERERERERERERERERERERERERERE"

TEST(what_is_not_there_is_not_taken)
{
	struct um_environment environment;

	unsetenv("URLMODE_KEYS");
	unsetenv("URLMODE_CGI_DATABASE_URL");
	assert_true(um_environment_take(&environment));
	assert_null(environment.keys);
	assert_null(environment.database_url);
	um_environment_free(&environment);
}

/* The bytes are the ones that /proc/PID/environ shows. */
TEST(what_is_taken_is_overwritten_and_unset)
{
	char keys[] = "URLMODE_KEYS=" SECRET;
	char again[] = "URLMODE_KEYS=another";
	char url[] = "URLMODE_CGI_DATABASE_URL=host=db";
	char like[] = "URLMODE_KEYS_FILE=stays";
	char *entries[] = { keys, like, again, url, NULL };
	char **before = environ;
	struct um_environment environment;

	environ = entries;
	assert_true(um_environment_take(&environment));
	assert_string_equal(environment.keys, SECRET);
	assert_string_equal(environment.database_url, "host=db");
	assert_null(getenv("URLMODE_KEYS"));
	assert_null(getenv("URLMODE_CGI_DATABASE_URL"));
	assert_string_equal(getenv("URLMODE_KEYS_FILE"), "stays");
	environ = before;
	for (size_t i = strlen("URLMODE_KEYS="); i < sizeof(keys); i++)
		assert_int_equal(keys[i], 0);
	assert_string_equal(again, "URLMODE_KEYS=");
	assert_string_equal(url, "URLMODE_CGI_DATABASE_URL=");
	um_environment_free(&environment);
	assert_null(environment.keys);
}

TEST(an_empty_value_is_one)
{
	struct um_environment environment;

	setenv("URLMODE_KEYS", "", 1);
	assert_true(um_environment_take(&environment));
	assert_string_equal(environment.keys, "");
	um_environment_free(&environment);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_there_is_not_taken),
		cmocka_unit_test(what_is_taken_is_overwritten_and_unset),
		cmocka_unit_test(an_empty_value_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
