/* SPDX-License-Identifier: MIT */
/* The rows of a CSV file (RFC 4180) as JSON objects. */
#include "operate/csv.h"
#include "support.h"

static const struct {
	const char *text;
	const char *rows;   /* one after the other */
	const char *reason; /* why it ends early, or "" */
} files[] = {
	{ "a,b\n1,2\n3,4\n",
		"{\"a\":\"1\",\"b\":\"2\"}"
		"{\"a\":\"3\",\"b\":\"4\"}",
		"" },
	{ "a,b\r\n1,2", "{\"a\":\"1\",\"b\":\"2\"}", "" },
	{ "\xef\xbb\xbf\"a\"\n\"x,\"\"y\"\"\n\"\n",
		"{\"a\":\"x,\\\"y\\\"\\n\"}", "" },
	/* Some exports end with empty lines. */
	{ "a,b\n1,2\n\n\r\n", "{\"a\":\"1\",\"b\":\"2\"}", "" },
	{ "a\n1\n\n", "{\"a\":\"1\"}{\"a\":\"\"}", "" },
	{ "a,b\n1\n", "", "line 2 has another number of fields" },
	{ "a,b\n\n1\n", "", "line 3 has another number of fields" },
	{ "a\n\"1\n", "", "has a quote that is not closed" },
	{ "a\n1\"\n", "", "has a quote inside of a field" },
	{ "a\n\"1\"x\n", "", "line 2 has text after a quoted field" },
	{ "a,b\n\"1\n\n\",2\n3\n", "{\"a\":\"1\\n\\n\",\"b\":\"2\"}",
		"line 5 has another number of fields" },
	{ "a\n\xff\n", "", "line 2 " },
};

TEST(each_file)
{
	for (size_t i = 0; i < LENGTH(files); i++) {
		struct um_csv csv;
		struct um_buf rows = { 0 };
		struct um_error err = { "" };

		assert_true(um_csv_begin(&csv, um_str(files[i].text), &err));
		while (um_csv_next(&csv, &rows, &err))
			;
		assert_row(files[i].text,
			um_str_eq(um_buf_str(&rows), um_str(files[i].rows)));
		assert_row(files[i].text,
			files[i].reason[0] == '\0'
				? err.text[0] == '\0'
				: strstr(err.text, files[i].reason) != NULL);
		um_buf_free(&rows);
		um_csv_free(&csv);
	}
}

TEST(as_many_columns_as_there_may_be)
{
	for (size_t len = UM_CSV_COLUMNS_MAX; len <= UM_CSV_COLUMNS_MAX + 1;
		len++) {
		struct um_csv csv;
		struct um_buf text = { 0 };
		struct um_error err = { "" };
		bool fits = len == UM_CSV_COLUMNS_MAX;

		row_begin("%zu columns", len);
		for (size_t i = 1; i < len; i++)
			um_buf_puts(&text, ",");
		assert_int_equal(um_csv_begin(&csv, um_buf_str(&text), &err),
			fits);
		assert_true(fits
			|| strstr(err.text, "has too many fields") != NULL);
		um_buf_free(&text);
		um_csv_free(&csv);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file),
		cmocka_unit_test(as_many_columns_as_there_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
