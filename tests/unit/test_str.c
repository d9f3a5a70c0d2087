/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

TEST(no_text_is_no_bytes)
{
	struct um_str none = um_str(NULL);

	assert_null(none.ptr);
	assert_int_equal(none.len, 0);
	assert_int_equal(um_str("").len, 0);
	assert_int_equal(um_str("abc").len, 3);
}

TEST(equal_is_every_byte_and_the_length)
{
	assert_true(um_str_eq(STR("a\0b"), STR("a\0b")));
	assert_false(um_str_eq(STR("a\0b"), STR("a\0c")));
	assert_false(um_str_eq(STR("ab"), STR("abc")));
	assert_false(um_str_eq(STR("abc"), STR("ab")));
	assert_true(um_str_eq(um_str(NULL), STR("")));
	assert_true(um_str_is(STR("abc"), "abc"));
	assert_false(um_str_is(STR("abc\0"), "abc"));
	assert_false(um_str_is(um_str(NULL), "a"));
	assert_true(um_str_is(um_str(NULL), ""));
	assert_true(um_str_is(STR(""), NULL));
	assert_false(um_str_is(STR("a"), NULL));
}

TEST(what_begins_or_ends_a_text_is_taken_off)
{
	struct um_str text = STR("/a/end");

	assert_false(um_str_take_prefix(&text, "/b"));
	assert_false(um_str_take_suffix(&text, "/a/end/"));
	assert_str(text, "/a/end");
	assert_true(um_str_take_prefix(&text, "/a"));
	assert_str(text, "/end");
	assert_true(um_str_take_suffix(&text, "/end"));
	assert_int_equal(text.len, 0);
	assert_false(um_str_take_suffix(&text, "/"));
	text = um_str(NULL);
	assert_false(um_str_take_prefix(&text, "/"));
	assert_false(um_str_take_suffix(&text, "/"));
}

TEST(blanks_around_a_text_are_left_out)
{
	assert_str(um_str_trim(STR("a")), "a");
	assert_str(um_str_trim(STR(" \t a b\t ")), "a b");
	assert_str(um_str_trim(STR("\na\n")), "\na\n");
	assert_int_equal(um_str_trim(STR(" \t")).len, 0);
	assert_int_equal(um_str_trim(um_str(NULL)).len, 0);
}

TEST(a_text_is_cut_at_the_first_separator)
{
	struct um_str rest = STR("a, b, c");

	assert_str(um_str_cut(&rest, ", "), "a");
	assert_str(rest, "b, c");
	assert_str(um_str_cut(&rest, ","), "b");
	assert_str(rest, " c");
	assert_str(um_str_cut(&rest, ", "), " c");
	assert_null(rest.ptr);
	assert_int_equal(um_str_cut(&rest, ",").len, 0);
	rest = STR(",");
	assert_int_equal(um_str_cut(&rest, ",").len, 0);
	assert_non_null(rest.ptr);
	assert_int_equal(rest.len, 0);
}

TEST(texts_and_numbers_one_after_another)
{
	static const struct {
		int64_t value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 9, "9" },
		{ 10, "10" },
		{ -1, "-1" },
		{ INT64_MAX, "9223372036854775807" },
		{ INT64_MIN, "-9223372036854775808" },
	};
	struct um_buf buf = { 0 };

	um_buf_cat(&buf, "a", "", "bc");
	assert_true(um_str_is(um_buf_str(&buf), "abc"));
	for (size_t i = 0; i < LENGTH(cases); i++) {
		row_begin("%s", cases[i].text);
		buf.len = 0;
		um_buf_int(&buf, cases[i].value);
		assert_true(um_str_is(um_buf_str(&buf), cases[i].text));
	}
	um_buf_free(&buf);
}

/* RFC 3629 section 3 and 4: each length's first and last, and the gaps. */
TEST(text_is_utf8_without_nul)
{
	const struct um_str good[] = {
		STR(""),
		STR("\x01 ~\x7f"),
		STR("\xc2\x80"),
		STR("\xdf\xbf"),
		STR("\xe0\xa0\x80"),
		STR("\xed\x9f\xbf"),
		STR("\xee\x80\x80"),
		STR("\xef\xbf\xbf"),
		STR("\xf0\x90\x80\x80"),
		STR("\xf4\x8f\xbf\xbf"),
		STR("zo\xc3\xab@\xe4\xbe\x8b\xe3\x81\x88"),
	};
	const struct um_str bad[] = {
		STR("\0"),
		STR("a\0b"),
		STR("\x80"),
		STR("\xbf"),
		STR("\xc0\x80"),         /* NUL, too long */
		STR("\xc1\xbf"),         /* too long */
		STR("\xe0\x9f\xbf"),     /* too long */
		STR("\xf0\x8f\xbf\xbf"), /* too long */
		STR("\xed\xa0\x80"),     /* surrogate */
		STR("\xed\xbf\xbf"),     /* surrogate */
		STR("\xf4\x90\x80\x80"), /* over U+10FFFF */
		STR("\xf5\x80\x80\x80"),
		STR("\xf8\x88\x80\x80\x80"),
		STR("\xfe"),
		STR("\xff"),
		STR("\xc2"), /* cut */
		STR("\xe2\x82"),
		STR("\xf0\x9f\x98"),
		STR("\xc2"
		    "a"), /* no continuation */
		STR("\xe2\x82"
		    "a"),
		STR("\xe2"
		    "a\x82"),
		STR("\xf0\x9f\x98"
		    "a"),
		STR("\xc2\xc2\x80"),
	};

	for (size_t i = 0; i < LENGTH(good); i++)
		if (!um_str_is_text(good[i]))
			fail_msg("good[%zu] was refused", i);
	for (size_t i = 0; i < LENGTH(bad); i++)
		if (um_str_is_text(bad[i]))
			fail_msg("bad[%zu] was accepted", i);
	assert_true(um_str_is_text(um_str(NULL)));
}

/* A sequence that ends with its memory: a sanitizer sees a byte too many. */
TEST(text_is_never_read_past_its_end)
{
	static const char whole[] = "\xf0\x9f\x98\x80";

	for (size_t len = 1; len < sizeof(whole); len++) {
		char *cut = malloc(len);

		assert_non_null(cut);
		memcpy(cut, whole, len);
		assert_int_equal(um_str_is_text((struct um_str){ cut, len }),
			len == sizeof(whole) - 1);
		free(cut);
	}
}

TEST(a_buffer_grows_and_keeps_every_byte)
{
	struct um_buf b = { 0 };
	struct um_str s;

	for (int i = 0; i < 1000; i++)
		um_buf_put(&b, "x\0y", 3);
	um_buf_puts(&b, "end");
	um_buf_put(&b, "", 0);
	s = um_buf_str(&b);
	assert_false(b.failed);
	assert_int_equal(s.len, 3003);
	for (size_t i = 0; i < 3000; i += 3)
		assert_memory_equal(s.ptr + i, "x\0y", 3);
	assert_memory_equal(s.ptr + 3000, "end", 3);
	um_buf_free(&b);
	assert_null(b.ptr);
	assert_int_equal(b.len, 0);
	um_buf_puts(&b, "again");
	assert_str(um_buf_str(&b), "again");
	um_buf_free(&b);
	um_buf_free(&b);

	/* Of one byte, too. */
	um_buf_puts(&b, "x");
	assert_true(um_buf_reserve(&b, b.cap));
	assert_str(um_buf_str(&b), "x");
	um_buf_free(&b);
}

TEST(a_buffer_is_emptied_and_wiped)
{
	struct um_buf b = { 0 };
	char *ptr;

	um_buf_clear(&b);
	um_buf_puts(&b, "secret");
	ptr = b.ptr;
	um_buf_clear(&b);
	assert_int_equal(b.len, 0);
	assert_ptr_equal(b.ptr, ptr);
	assert_memory_equal(ptr, "\0\0\0\0\0\0", 6);
	b.failed = true;
	um_buf_clear(&b);
	um_buf_puts(&b, "again");
	assert_str(um_buf_str(&b), "again");
	um_buf_free(&b);
}

TEST(a_buffer_prints_at_every_length)
{
	for (int len = 0; len < 600; len++) {
		struct um_buf b = { 0 };

		um_buf_printf(&b, "%*s", len, "");
		um_buf_printf(&b, "%d", len);
		assert_int_equal(b.len,
			(size_t)len
				+ (len > 99               ? 3
						: len > 9 ? 2
							  : 1));
		assert_false(b.failed);
		um_buf_free(&b);
	}
}

TEST(a_buffer_that_failed_drops_what_comes_after)
{
	struct um_buf b = { 0 };

	um_buf_puts(&b, "before");
	um_buf_put(&b, "x", SIZE_MAX / 4);
	assert_true(b.failed);
	um_buf_puts(&b, "after");
	um_buf_printf(&b, "%d", 1);
	um_buf_put(&b, "x", SIZE_MAX);
	assert_str(um_buf_str(&b), "before");
	assert_true(b.failed);
	um_buf_free(&b);
	assert_false(b.failed);
}

TEST(an_error_is_cut_to_its_room)
{
	struct um_error err;
	char text[2 * sizeof(err.text)];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_false(um_error(&err, "%s", text));
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_false(um_error(&err, "%s: %d", "file", 7));
	assert_string_equal(err.text, "file: 7");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_text_is_no_bytes),
		cmocka_unit_test(equal_is_every_byte_and_the_length),
		cmocka_unit_test(text_is_utf8_without_nul),
		cmocka_unit_test(text_is_never_read_past_its_end),
		cmocka_unit_test(what_begins_or_ends_a_text_is_taken_off),
		cmocka_unit_test(blanks_around_a_text_are_left_out),
		cmocka_unit_test(a_text_is_cut_at_the_first_separator),
		cmocka_unit_test(texts_and_numbers_one_after_another),
		cmocka_unit_test(a_buffer_grows_and_keeps_every_byte),
		cmocka_unit_test(a_buffer_is_emptied_and_wiped),
		cmocka_unit_test(a_buffer_prints_at_every_length),
		cmocka_unit_test(a_buffer_that_failed_drops_what_comes_after),
		cmocka_unit_test(an_error_is_cut_to_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
