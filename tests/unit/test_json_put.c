/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/json_put.h"
#include "support.h"

/* The bytes of a literal, for a table. */
#define BYTES(literal)                                                         \
	{                                                                      \
		(literal), sizeof(literal) - 1                                 \
	}

/* Every character that is text, alone and among others. */
TEST(what_is_put_reads_the_same)
{
	static const char *const others[] = { "", "\"", "\\", "ab", "abcdefg",
		"abcdefgh", "abcdefghi", "\xc3\xa9" };

	for (int c = 1; c < 0x80; c++)
		for (size_t i = 0; i < LENGTH(others); i++) {
			struct um_buf want = { 0 }, json = { 0 }, got = { 0 };
			struct um_json_node *list;

			row_begin("%s%c%s", others[i], c, others[i]);
			um_buf_printf(&want, "%s%c%s", others[i], c, others[i]);
			um_buf_puts(&json, "[");
			um_json_put_string(&json, um_buf_str(&want));
			um_buf_puts(&json, "]");
			list = um_json_parse(um_buf_str(&json),
				UM_JSON_VALUES_MAX, NULL);

			assert_true(
				um_json_text(um_json_next(list, NULL), &got));
			assert_true(
				um_str_eq(um_buf_str(&got), um_buf_str(&want)));
			um_buf_free(&got);
			um_buf_free(&json);
			um_buf_free(&want);
			free(list);
		}
}

TEST(what_is_put)
{
	static const struct {
		struct um_str text;
		const char *json;
	} cases[] = {
		{ BYTES(""), "\"\"" },
		{ BYTES("plain / \x7f \xf0\x9f\x98\x80"),
			"\"plain / \x7f \xf0\x9f\x98\x80\"" },
		{ BYTES("a\"b\\\n"), "\"a\\\"b\\\\\\n\"" },
		{ { NULL, 0 }, "\"\"" },
		{ BYTES("\b\f\r\t"), "\"\\b\\f\\r\\t\"" },
		{ BYTES("\x1f"), "\"\\u001f\"" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf out = { 0 };

		row_begin("%s", cases[i].json);
		um_json_put_string(&out, cases[i].text);
		assert_str(um_buf_str(&out), cases[i].json);
		um_buf_free(&out);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_reads_the_same),
		cmocka_unit_test(what_is_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
