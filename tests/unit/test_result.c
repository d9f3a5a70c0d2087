/* SPDX-License-Identifier: MIT */
/* How large an outcome may be that goes into a notification. */
#include <stdlib.h>
#include <string.h>

#include "app/result.h"
#include "store_fixture.h"

#define KEY "1 ERERERERERERERERERERERERERERERERERERERERERE\n"

/* How long the outcome of a code of so many bytes is, sealed; 0: left out. */
static size_t
sealed_len(const struct um_keys *keys, size_t code_len)
{
	char code[UM_FORM_VALUE_MAX];
	const struct um_context context = { .keys = (struct um_keys *)keys,
		.random = counting_random };
	struct um_field field = { .name = STR("code"),
		.value = { code, code_len } };
	const struct um_form form = { .len = 1, .field = &field };
	struct um_op op = { .action = "accept", .reason = "" };
	size_t len;

	memset(code, 'c', code_len);
	assert_true(um_result_of_form(&op, &form, &context));
	assert_true(op.result.len > code_len);
	len = op.notified.len;
	um_buf_free(&op.result);
	um_buf_free(&op.notified);
	return len;
}

static bool
is_announced(size_t len)
{
	char *text = sql(admin_db,
		"SELECT urlmode.notification(gen_random_uuid(), 'completed',"
		" convert_to(repeat('x', %zu), 'UTF8'))",
		len);
	bool has_outcome;

	assert_non_null(text);
	has_outcome = strstr(text, "\"outcome\":") != NULL;
	free(text);
	return has_outcome;
}

/* The limit stands in both, and neither may be changed alone. */
TEST(what_is_sealed_is_as_large_as_what_is_announced)
{
	struct um_keys *keys = keys_of(KEY);
	size_t code_len = 2000, largest = 0, len;

	while ((len = sealed_len(keys, code_len)) != 0) {
		largest = len;
		code_len++;
	}
	assert_true(is_announced(largest));
	assert_false(is_announced(largest + 1));
	um_keys_free(keys);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_is_sealed_is_as_large_as_what_is_announced),
	};

	return cmocka_run_group_tests(tests, store_fixture_group_set_up,
		store_fixture_group_tear_down);
}
