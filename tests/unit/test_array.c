/* SPDX-License-Identifier: MIT */
#include "postgres/array.h"
#include "support.h"

#define INT8 20
#define TEXT 25
#define JSONB 3802

/* Of a type with this OID in hexadecimal: one dimension, maybe NULLs, from 1. */
#define HEAD(type, len) "0000000100000001" type len "00000001"

static void
assert_bytes(struct um_buf *array, const char *hex)
{
	uint8_t expected[128];
	size_t len = strlen(hex) / 2;

	assert_true(len <= sizeof(expected));
	bytes_of_hex(expected, len, hex);
	assert_false(array->failed);
	assert_int_equal(array->len, len);
	assert_memory_equal(array->ptr, expected, len);
	um_buf_free(array);
}

/* An empty text is no NULL, except where nothing is known. */
TEST(texts)
{
	struct um_buf array = { 0 };

	um_array_begin(&array, TEXT, 3);
	um_array_put_text(&array, "ab");
	um_array_put_text(&array, "");
	um_array_put_text(&array, NULL);
	assert_bytes(&array,
		HEAD("00000019", "00000003") "000000026162"
					     "00000000"
					     "ffffffff");
	um_array_begin(&array, TEXT, 3);
	um_array_put_known(&array, "ab");
	um_array_put_known(&array, "");
	um_array_put_known(&array, NULL);
	assert_bytes(&array,
		HEAD("00000019", "00000003") "000000026162"
					     "ffffffff"
					     "ffffffff");
}

TEST(numbers)
{
	struct um_buf array = { 0 };

	um_array_begin(&array, INT8, 3);
	um_array_put_int64(&array, 258, true);
	um_array_put_int64(&array, -1, true);
	um_array_put_int64(&array, 258, false);
	assert_bytes(&array,
		HEAD("00000014", "00000003") "000000080000000000000102"
					     "00000008ffffffffffffffff"
					     "ffffffff");
}

/* The version of the form stands before the text. */
TEST(json)
{
	struct um_buf array = { 0 };

	um_array_begin(&array, JSONB, 2);
	um_array_put_json(&array, um_str("{}"));
	um_array_put_json(&array, um_str(""));
	assert_bytes(&array,
		HEAD("00000eda", "00000002") "00000003017b7d"
					     "ffffffff");
}

TEST(nothing)
{
	struct um_buf array = { 0 };

	um_array_begin(&array, TEXT, 0);
	assert_bytes(&array, HEAD("00000019", "00000000"));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(numbers),
		cmocka_unit_test(json),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
