/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json_put.h"
#include "support.h"
#include "webhook/json.h"
#include "webhook/pointer.h"

/* The bytes of a literal, for a table. */
#define BYTES(literal)                                                         \
	{                                                                      \
		(literal), sizeof(literal) - 1                                 \
	}

static bool
parses(struct um_str text)
{
	/* No byte more than there is. */
	char *copy = malloc(text.len != 0 ? text.len : 1);
	struct um_json_node *document;

	assert_non_null(copy);
	memcpy(copy, text.ptr, text.len);
	document = um_json_parse((struct um_str){ copy, text.len });
	free(copy);
	free(document);
	return document != NULL;
}

TEST(documents)
{
	static const struct {
		struct um_str text;
		bool good;
	} cases[] = {
		{ BYTES("{}"), true },
		{ BYTES("[]"), true },
		{ BYTES(" \r\n\t{\"a\": [1, -2, 1e3, true, null]}\n"), true },
		{ BYTES("{\"\": \"\"}"), true },
		{ BYTES("{\"a\": \"\\ud83d\\ude00\"}"), true },
		{ BYTES("[9223372036854775807, -9223372036854775808]"), true },
		/* What stands in strings counts as text only. */
		{ BYTES("[\"[[[[\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]"),
			true },
		{ BYTES(""), false },
		{ BYTES(" "), false },
		{ BYTES("{"), false },
		{ BYTES("{}}"), false },
		{ BYTES("]["), false },
		{ BYTES("{} {}"), false },
		{ BYTES("{}x"), false },
		{ BYTES("{}\0"), false },
		{ BYTES("1"), false },
		{ BYTES("\"text\""), false },
		{ BYTES("null"), false },
		{ BYTES("{\"a\": 1, \"a\": 1}"), false },
		{ BYTES("{\"a\": {\"b\": 1, \"b\": 2}}"), false },
		{ BYTES("{\"a\": 1, \"\\u0061\": 2}"), false },
		{ BYTES("{\"a\": \"\\u0000\"}"), false },
		{ BYTES("{\"a\": \"\0\"}"), false },
		{ BYTES("{\"a\0b\": 1}"), false },
		{ BYTES("{\"a\": \"\xff\"}"), false },
		{ BYTES("{\"a\": \"\xc0\xaf\"}"), false },
		{ BYTES("{\"a\": \"\xed\xa0\x80\"}"), false },
		{ BYTES("{\"a\": \"\\ud800\"}"), false },
		{ BYTES("\xef\xbb\xbf{}"), false },
		{ BYTES("{\"a\": 9223372036854775808}"), false },
		{ BYTES("{\"a\": 1e999}"), false },
		{ BYTES("{\"a\": -1e999}"), false },
		{ BYTES("{\"a\": 01}"), false },
		{ BYTES("{\"a\": +1}"), false },
		{ BYTES("{\"a\": NaN}"), false },
		{ BYTES("{'a': 1}"), false },
		{ BYTES("{\"a\": 1,}"), false },
		{ BYTES("{\"a\": 1 /* one */}"), false },
		{ BYTES("{\"a\": \"\n\"}"), false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i].text.ptr,
			parses(cases[i].text) == cases[i].good);
}

static struct um_str
nested(size_t depth, const char *open, const char *close)
{
	struct um_buf text = { 0 };

	for (size_t i = 0; i < depth; i++)
		um_buf_puts(&text, open);
	um_buf_puts(&text, "1");
	for (size_t i = 0; i < depth; i++)
		um_buf_puts(&text, close);
	assert_false(text.failed);
	return um_buf_str(&text);
}

/* A string is looked at eight bytes at a time: each byte at each place. */
TEST(every_byte_at_every_place_of_a_string)
{
	for (size_t len = 0; len < 20; len++)
		for (size_t at = 0; at < len; at++)
			for (int byte = 0; byte < 256; byte++) {
				char text[32] = "[\"";
				bool good = byte >= ' ' && byte < 0x80
					&& byte != '"' && byte != '\\';

				memset(text + 2, 'a', len);
				text[2 + at] = (char)byte;
				text[2 + len] = '"';
				text[3 + len] = ']';
				assert_int_equal(parses((struct um_str){ text,
							 len + 4 }),
					good);
			}
}

TEST(depth)
{
	static const struct {
		const char *open, *close;
		size_t most;
	} cases[] = {
		{ "[", "]", UM_JSON_DEPTH_MAX },
		{ "{\"a\":", "}", UM_JSON_DEPTH_MAX },
		{ "[{\"a\":", "}]", UM_JSON_DEPTH_MAX / 2 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		for (size_t more = 0; more < 2; more++) {
			struct um_str text = nested(cases[i].most + more,
				cases[i].open, cases[i].close);

			assert_row(cases[i].open, parses(text) == (more == 0));
			free((void *)text.ptr);
		}
	}
}

TEST(a_bomb_is_not_even_begun)
{
	static char bomb[1000000];

	memset(bomb, '[', sizeof(bomb));
	assert_false(parses((struct um_str){ bomb, sizeof(bomb) }));
	memset(bomb, '{', sizeof(bomb));
	assert_false(parses((struct um_str){ bomb, sizeof(bomb) }));
	/* Flat, and too many all the same. */
	for (size_t i = 1; i < sizeof(bomb) - 1; i++)
		bomb[i] = (char)(i % 2 == 0 ? ',' : '0');
	bomb[0] = '[';
	bomb[sizeof(bomb) - 1] = ']';
	assert_false(parses((struct um_str){ bomb, sizeof(bomb) }));
	bomb[2 * UM_JSON_VALUES_MAX - 2] = ']';
	assert_true(
		parses((struct um_str){ bomb, 2 * UM_JSON_VALUES_MAX - 1 }));
}

TEST(pointers)
{
	/* The document and the answers of RFC 6901 section 5. */
	static const char text[] =
		"{\"foo\": [\"bar\", \"baz\"], \"\": 0, \"a/b\": 1,"
		" \"c%d\": 2, \"e^f\": 3, \"g|h\": 4, \"i\\\\j\": 5,"
		" \"k\\\"l\": 6, \" \": 7, \"m~n\": 8, \"o\": {\"\": 9}}";
	static const struct {
		const char *pointer;
		const char *found; /* NULL: nothing, or no text */
	} cases[] = {
		{ "/foo/0", "bar" },
		{ "/foo/1", "baz" },
		{ "/", "0" },
		{ "/a~1b", "1" },
		{ "/c%d", "2" },
		{ "/e^f", "3" },
		{ "/g|h", "4" },
		{ "/i\\j", "5" },
		{ "/k\"l", "6" },
		{ "/ ", "7" },
		{ "/m~0n", "8" },
		{ "/o/", "9" },
		{ "", NULL },
		{ "/foo", NULL },
		{ "/foo/2", NULL },
		{ "/foo/00", NULL },
		{ "/foo/-", NULL },
		{ "/foo/-1", NULL },
		{ "/foo/1e0", NULL },
		{ "/foo/18446744073709551616", NULL },
		{ "/foo/0/x", NULL },
		{ "/nothing", NULL },
		{ "/nothing/x", NULL },
	};
	struct um_json_node *document = um_json_parse(um_str(text));

	assert_non_null(document);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf out = { 0 };
		struct um_pointer pointer;

		row_begin("%s", cases[i].pointer);
		assert_row(cases[i].pointer,
			um_pointer_compile(&pointer, cases[i].pointer));
		assert_row(cases[i].pointer,
			um_json_text(um_pointer_find(&pointer, document), &out)
				== (cases[i].found != NULL));
		if (cases[i].found != NULL)
			assert_str(um_buf_str(&out), cases[i].found);
		um_pointer_free(&pointer);
		um_buf_free(&out);
	}
	free(document);
}

TEST(pointers_that_are_none)
{
	static const char *const cases[] = { "foo", "~", "/~", "/~2", "/a~",
		"#/foo", "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q" };
	char longest[UM_POINTER_MAX + 2];
	struct um_pointer pointer;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		assert_row(cases[i], !um_pointer_compile(&pointer, cases[i]));
		assert_row(cases[i], pointer.token == NULL);
	}
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[UM_POINTER_MAX + 1] = '\0';
	assert_false(um_pointer_compile(&pointer, longest));
	longest[UM_POINTER_MAX] = '\0';
	assert_true(um_pointer_compile(&pointer, longest));
	um_pointer_free(&pointer);
}

TEST(the_text_of_a_node)
{
	static const struct {
		const char *json;
		const char *text;
	} cases[] = {
		{ "\"x\"", "x" },
		{ "\"\"", "" },
		{ "12", "12" },
		{ "-9223372036854775808", "-9223372036854775808" },
		{ "-0", "0" },
		{ "\"\\u00e9\\ud83d\\ude00\\n\\/\"",
			"\xc3\xa9\xf0\x9f\x98\x80\n/" },
		{ "true", "true" },
		{ "false", "false" },
		{ "null", NULL },
		/* Exact to 15 significant digits, in their shortest form. */
		{ "10.5", "10.5" },
		{ "10.50", "10.5" },
		{ "1.0", "1" },
		{ "1e2", "100" },
		{ "1.05E+1", "10.5" },
		{ "-0.01", "-0.01" },
		{ "1234567890123.45", "1234567890123.45" },
		{ "1e20", "1e+20" },
		{ "12345678901234.567", NULL },
		{ "0.30000000000000004", NULL },
		{ "[]", NULL },
		{ "{}", NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf text = { 0 }, out = { 0 };
		struct um_json_node *list;
		const struct um_json_node *node;

		row_begin("%s", cases[i].json);
		um_buf_printf(&text, "[%s]", cases[i].json);
		list = um_json_parse(um_buf_str(&text));
		node = um_json_next(list, NULL);

		assert_row(cases[i].json,
			um_json_text(node, &out) == (cases[i].text != NULL));
		assert_str(um_buf_str(&out),
			cases[i].text != NULL ? cases[i].text : "");
		um_buf_free(&out);
		um_buf_free(&text);
		free(list);
	}
	assert_false(um_json_text(NULL, NULL));
}

/* Every character that is text, alone and among others. */
TEST(what_is_put_reads_the_same)
{
	static const char *const others[] = { "", "\"", "\\", "ab",
		"\xc3\xa9" };

	for (int c = 1; c < 0x80; c++)
		for (size_t i = 0; i < LENGTH(others); i++) {
			struct um_buf want = { 0 }, json = { 0 }, got = { 0 };
			struct um_json_node *list;

			row_begin("%s%c%s", others[i], c, others[i]);
			um_buf_printf(&want, "%s%c%s", others[i], c, others[i]);
			um_buf_puts(&json, "[");
			um_json_put_string(&json, um_buf_str(&want));
			um_buf_puts(&json, "]");
			list = um_json_parse(um_buf_str(&json));

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
		cmocka_unit_test(documents),
		cmocka_unit_test(every_byte_at_every_place_of_a_string),
		cmocka_unit_test(depth),
		cmocka_unit_test(a_bomb_is_not_even_begun),
		cmocka_unit_test(pointers),
		cmocka_unit_test(pointers_that_are_none),
		cmocka_unit_test(the_text_of_a_node),
		cmocka_unit_test(what_is_put_reads_the_same),
		cmocka_unit_test(what_is_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
