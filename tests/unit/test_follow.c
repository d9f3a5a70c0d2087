/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "app/follow.h"
#include "program_case.h"

static const uint8_t id[UM_UUID_LEN] = { 1, 2, 3 };
static const uint8_t binding[UM_BINDING_LEN] = { 4, 5, 6 };

/* What a browser sends after um_follow_set(). The caller frees it. */
static char *
follow_cookie(void)
{
	struct um_exchange ex = { .provider = case_provider("demo") };
	const char *from;
	char *cookie;

	memcpy(ex.token.id, id, sizeof(id));
	memcpy(ex.token.binding, binding, sizeof(binding));
	um_follow_set(&case_context, &ex);
	assert_false(ex.response.headers.failed);
	um_buf_put(&ex.response.headers, "", 1);
	from = strstr(ex.response.headers.ptr, UM_FOLLOW_COOKIE "=");
	assert_non_null(from);
	assert_non_null(strstr(from, "; Max-Age=60; Secure; HttpOnly"));
	cookie = strndup(from, strcspn(from, ";"));
	um_response_free(&ex.response);
	return cookie;
}

static bool
follows(const char *cookie)
{
	struct um_exchange ex = { .request.cookie = um_str(cookie) };
	bool found = um_follow_read(&case_context, &ex);

	assert_int_equal(found, ex.provider != NULL);
	if (found) {
		assert_string_equal(ex.provider->name, "demo");
		assert_memory_equal(ex.token.id, id, sizeof(id));
		assert_memory_equal(ex.token.binding, binding, sizeof(binding));
	}
	return found;
}

TEST(the_row_that_was_set_is_followed_for_a_minute)
{
	char *cookie = follow_cookie();

	assert_true(follows(cookie));
	case_context.now_ms += 59 * INT64_C(1000);
	assert_true(follows(cookie));
	case_context.now_ms += 1000;
	assert_false(follows(cookie));
	case_context.now_ms -= 60 * INT64_C(1000);
	free(cookie);
}

TEST(whatever_is_not_ours_is_not_followed)
{
	char *cookie = follow_cookie();
	char *value = strchr(cookie, '=') + 1;

	assert_false(follows(""));
	assert_false(follows(UM_FOLLOW_COOKIE "="));
	assert_false(follows(UM_FOLLOW_COOKIE "=x"));
	for (size_t i = 0; i < strlen(value); i++) {
		value[i] = (char)(value[i] ^ 1);
		assert_row("one bit", !follows(cookie));
		value[i] = (char)(value[i] ^ 1);
	}
	assert_true(follows(cookie));
	free(cookie);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_row_that_was_set_is_followed_for_a_minute),
		cmocka_unit_test(whatever_is_not_ours_is_not_followed),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
