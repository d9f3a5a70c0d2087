/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "crypto/binding.h"
#include "support.h"

TEST(subject_and_session_do_not_run_together)
{
	struct um_keys *keys = keys_of(
		"1 ERERERERERERERERERERERERERERERERERERERERERE\n");
	uint8_t a[UM_BINDING_LEN];
	uint8_t b[UM_BINDING_LEN];

	um_binding_digest(a, keys, STR("ab"), STR("c"));
	um_binding_digest(b, keys, STR("a"), STR("bc"));
	assert_memory_not_equal(a, b, sizeof(a));
	um_binding_digest(b, keys, STR("abc"), um_str(NULL));
	assert_memory_not_equal(a, b, sizeof(a));
	um_keys_free(keys);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(subject_and_session_do_not_run_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
