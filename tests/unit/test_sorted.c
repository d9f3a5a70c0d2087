/* SPDX-License-Identifier: MIT */
#include "support.h"
#include "webhook/sorted.h"

static const struct row {
	const char *query, *expected; /* NULL: no field is left */
} rows[] = {
	{ "b=2&a=1", "a=1&b=2" },
	{ "a=1&B=2", "B=2&a=1" },
	{ "ab=1&a=2", "a=2&ab=1" },
	{ "b=%C3%A9+x&a=%41", "a=%41&b=%C3%A9+x" },
	{ "a=b=c&a2=&a1", "a=b=c&a1=&a2=" },
	{ "&&b=1&=&&a=2&", "a=2&b=1" },
	{ "=x&a=1", "=x&a=1" },
	{ "left=1&a=2&out=3", "a=2" },
	{ "left=1&out=2", NULL },
	{ "", NULL },
};

/* As they were sent, and byte for byte, as Shopify signs them. */
TEST(fields_of_a_query)
{
	char *item[] = { (char *)"left", (char *)"out" };
	const struct um_strlist without = { LENGTH(item), item };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_buf out = { 0 };

		row_begin("%s", rows[i].query);
		assert_int_equal(um_sorted_put(&out, um_str(rows[i].query),
					 &without),
			rows[i].expected != NULL);
		assert_str(um_buf_str(&out),
			rows[i].expected != NULL ? rows[i].expected : "");
		um_buf_free(&out);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_a_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
