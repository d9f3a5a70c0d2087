/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "crypto/check_signature.h"
#include "support.h"

#define ONE "1 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"
#define TWO "200 ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=\n"

TEST(every_key_of_the_file_opens_and_the_first_one_signs)
{
	struct um_keys *both = keys_of(TWO ONE), *one = keys_of(ONE);
	char signature[UM_CHECK_SIGNATURE_MAX + 1];
	struct um_str body = um_str("{\"check\":1}");

	assert_true(um_check_signature_make(signature, one, body));
	assert_memory_equal(signature, "1.", 2);
	assert_int_equal(strlen(signature), 2 + 64);
	assert_true(um_check_signature_is_good(signature, one, body));
	assert_true(um_check_signature_is_good(signature, both, body));
	assert_false(um_check_signature_is_good(signature, both,
		um_str("{\"check\":2}")));

	assert_true(um_check_signature_make(signature, both, body));
	assert_memory_equal(signature, "200.", 4);
	assert_int_equal(strlen(signature), UM_CHECK_SIGNATURE_MAX);
	assert_true(um_check_signature_is_good(signature, both, body));
	assert_false(um_check_signature_is_good(signature, one, body));
	um_keys_free(both);
	um_keys_free(one);
}

TEST(what_is_no_signature_is_refused)
{
	static const char *const texts[] = { NULL, "", ".", "1", "1.", "256.",
		"1000.00", "x.00", "-1.00", "1 .00", "2.00", "0001.00" };
	struct um_keys *keys = keys_of(ONE);
	char signature[UM_CHECK_SIGNATURE_MAX + 1];
	struct um_str body = um_str("body");

	for (size_t i = 0; i < LENGTH(texts); i++)
		assert_row(texts[i] != NULL ? texts[i] : "none",
			!um_check_signature_is_good(texts[i], keys, body));
	assert_true(um_check_signature_make(signature, keys, body));
	for (size_t i = 0; signature[i] != '\0'; i++) {
		signature[i] ^= 1;
		assert_row(signature,
			!um_check_signature_is_good(signature, keys, body));
		signature[i] ^= 1;
	}
	signature[strlen(signature) - 1] = '\0';
	assert_false(um_check_signature_is_good(signature, keys, body));
	um_keys_free(keys);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_key_of_the_file_opens_and_the_first_one_signs),
		cmocka_unit_test(what_is_no_signature_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
