/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/pointer.h"
#include "support.h"

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
	document = um_json_parse((struct um_str){ copy, text.len },
		UM_JSON_VALUES_MAX, NULL);
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
		{ BYTES("{\"a\": \"\\udc00\"}"), false },
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
/* However many names an object has, the last one may be any of them. */
TEST(names_are_there_once)
{
	for (int len = 1; len <= 20; len++)
		for (int again = 0; again <= len; again++) {
			struct um_buf text = { 0 };

			row_begin("%d names, and %d", len, again);
			um_buf_puts(&text, "{");
			for (int n = 0; n < len; n++)
				um_buf_printf(&text, "\"%d\":{\"0\":1},", n);
			um_buf_printf(&text, "\"%d\":[\"0\"]}", again);
			assert_int_equal(parses(um_buf_str(&text)),
				again == len);
			um_buf_free(&text);
		}
}

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
		list = um_json_parse(um_buf_str(&text), UM_JSON_VALUES_MAX,
			NULL);
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

/* What a lenient reading takes of "/a", and of "/b", which is always 1. */
TEST(what_nobody_reads_is_nobodys_error)
{
	static const struct {
		struct um_str text;
		const char *why; /* "/a" is unreadable; NULL: it is "x" */
	} cases[] = {
		{ BYTES("{\"a\":\"x\",\"b\":1}"), NULL },
		{ BYTES("\xef\xbb\xbf{\"a\":\"x\",\"b\":1}"), NULL },
		{ BYTES("{\"c\":\"Jo\\ud83d\",\"a\":\"x\",\"b\":1}"), NULL },
		{ BYTES("{\"c\":1,\"c\":2,\"a\":\"x\",\"b\":1}"), NULL },
		{ BYTES("{\"c\":{\"a\":1,\"a\":2},\"a\":\"x\",\"b\":1}"),
			NULL },
		/* A name that cannot be decoded equals none. */
		{ BYTES("{\"a\\ud83d\":2,\"a\":\"x\",\"b\":1}"), NULL },
		{ BYTES("{\"\xff\":2,\"a\":\"x\",\"b\":1}"), NULL },
		{ BYTES("{\"a\":\"Jo\\ud83d\",\"b\":1}"), "surrogate" },
		{ BYTES("{\"a\":\"Jo\\ud83d\\\"\",\"b\":1}"), "surrogate" },
		{ BYTES("{\"a\":\"\\udc00\",\"b\":1}"), "surrogate" },
		{ BYTES("{\"a\":\"\\u0000\",\"b\":1}"), "NUL" },
		{ BYTES("{\"a\":\"\\x\",\"b\":1}"), "escape" },
		{ BYTES("{\"a\":\"\\u12\",\"b\":1}"), "escape" },
		{ BYTES("{\"a\":\"\0\",\"b\":1}"), "control" },
		{ BYTES("{\"a\":\"\n\",\"b\":1}"), "control" },
		{ BYTES("{\"a\":\"Jos\xe9\",\"b\":1}"), "UTF-8" },
		{ BYTES("{\"a\":1e999,\"b\":1}"), "too large" },
		{ BYTES("{\"a\":0.00000000000000000000000000000000000000000000"
			"0000000000000000000001,\"b\":1}"),
			"too long" },
		{ BYTES("{\"a\":9223372036854775808,\"b\":1}"), "64 bits" },
		{ BYTES("{\"a\":\"x\",\"b\":1,\"a\":\"x\"}"), "twice" },
		{ BYTES("{\"a\":\"x\",\"b\":1,\"\\u0061\":2}"), "twice" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char *copy = malloc(cases[i].text.len);
		struct um_json_node *root;
		struct um_pointer a, b;
		const struct um_json_node *found;

		row_begin("%zu: %s", i, cases[i].text.ptr);
		assert_non_null(copy);
		memcpy(copy, cases[i].text.ptr, cases[i].text.len);
		root = um_json_parse_lenient((struct um_str){ copy,
						     cases[i].text.len },
			UM_JSON_VALUES_MAX, NULL);
		free(copy);
		assert_non_null(root);
		assert_true(um_pointer_compile(&a, "/a"));
		assert_true(um_pointer_compile(&b, "/b"));
		found = um_pointer_find(&a, root);
		if (cases[i].why == NULL) {
			assert_str(um_json_str(found), "x");
		} else {
			assert_int_equal(found->kind, UM_JSON_UNREADABLE);
			assert_non_null(strstr(found->text, cases[i].why));
			assert_false(um_json_text(found, NULL));
		}
		assert_str(um_json_str(um_pointer_find(&b, root)), "1");
		um_pointer_free(&a);
		um_pointer_free(&b);
		free(root);
	}
}

/* What is nested too deep is passed over, whatever its strings have. */
TEST(a_lenient_reading_passes_over_what_is_too_deep)
{
	static const char *const cores[] = { "1", "\"]\"", "\"\\\"]}\"", "{}",
		"{\"a\":[1,{}]}" };

	for (size_t i = 0; i < LENGTH(cores); i++) {
		struct um_buf text = { 0 };
		struct um_json_node *root;
		struct um_pointer deep, next;

		row_begin("%s", cores[i]);
		um_buf_puts(&text, "{\"a\":");
		for (size_t n = 0; n < UM_JSON_DEPTH_MAX; n++)
			um_buf_puts(&text, "[");
		um_buf_puts(&text, cores[i]);
		for (size_t n = 0; n < UM_JSON_DEPTH_MAX; n++)
			um_buf_puts(&text, "]");
		um_buf_puts(&text, ",\"b\":2}");
		root = um_json_parse_lenient(um_buf_str(&text),
			UM_JSON_VALUES_MAX, NULL);
		assert_non_null(root);
		assert_true(um_pointer_compile(&next, "/b"));
		assert_str(um_json_str(um_pointer_find(&next, root)), "2");
		assert_true(um_pointer_compile(&deep,
			"/a/0/0/0/0/0/0/0/0/0/0/0/0/0/0"));
		assert_int_equal(um_pointer_find(&deep, root)->kind,
			UM_JSON_ARRAY);
		um_pointer_free(&next);
		um_pointer_free(&deep);
		free(root);
		um_buf_free(&text);
	}
}

/* Leniency ends where a document does: each of these has no end, or another. */
TEST(a_lenient_reading_refuses_what_is_no_document)
{
	static const struct um_str cases[] = {
		BYTES(""),
		BYTES("\xef\xbb\xbf"),
		BYTES("{\"a\":\"\\"),
		BYTES("{\"a\":\"\\ud83d"),
		BYTES("{\"a\":\"\n"),
		BYTES("{\"a\":\"\0"),
		BYTES("{\"a\":1}}"),
		BYTES("{\"a\":1,}"),
		BYTES("{\"a\":01}"),
		BYTES("{\"a\" 1}"),
		BYTES("\"a\""),
	};
	struct um_buf deep = { 0 };

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char *copy = malloc(cases[i].len + 1);

		assert_non_null(copy);
		memcpy(copy, cases[i].ptr, cases[i].len);
		assert_row(cases[i].ptr,
			um_json_parse_lenient((struct um_str){ copy,
						      cases[i].len },
				UM_JSON_VALUES_MAX, NULL)
				== NULL);
		free(copy);
	}
	for (size_t n = 0; n < UM_JSON_DEPTH_MAX + 2; n++)
		um_buf_puts(&deep, "[");
	for (size_t more = 0; more < 3; more++) {
		assert_null(um_json_parse_lenient(um_buf_str(&deep),
			UM_JSON_VALUES_MAX, NULL));
		um_buf_puts(&deep, "\"");
	}
	um_buf_free(&deep);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents),
		cmocka_unit_test(names_are_there_once),
		cmocka_unit_test(every_byte_at_every_place_of_a_string),
		cmocka_unit_test(depth),
		cmocka_unit_test(a_bomb_is_not_even_begun),
		cmocka_unit_test(the_text_of_a_node),
		cmocka_unit_test(what_nobody_reads_is_nobodys_error),
		cmocka_unit_test(
			a_lenient_reading_passes_over_what_is_too_deep),
		cmocka_unit_test(a_lenient_reading_refuses_what_is_no_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
