/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "http/form.h"
#include "support.h"

static struct um_form form;

static enum um_refusal
parse(struct um_str text)
{
	um_form_free(&form);
	return um_form_parse(&form, text);
}

static int
tear_down(void **state)
{
	(void)state;
	um_form_free(&form);
	return 0;
}

static void
assert_field(size_t i, struct um_str name, struct um_str value)
{
	assert_true(i < form.len);
	assert_true(um_str_eq(form.field[i].name, name));
	assert_true(um_str_eq(form.field[i].value, value));
}

TEST(fields_keep_their_order)
{
	assert_int_equal(parse(STR("code=abc&state=x%2By&empty=&bare&=none")),
		UM_REFUSAL_NONE);
	assert_int_equal(form.len, 5);
	assert_field(0, STR("code"), STR("abc"));
	assert_field(1, STR("state"), STR("x+y"));
	assert_field(2, STR("empty"), STR(""));
	assert_field(3, STR("bare"), STR(""));
	assert_field(4, STR(""), STR("none"));
	assert_str(um_form_get(&form, "code"), "abc");
	assert_non_null(um_form_get(&form, "empty").ptr);
	assert_non_null(um_form_get(&form, "bare").ptr);
	assert_null(um_form_get(&form, "other").ptr);
	assert_null(um_form_get(&form, "Code").ptr);
	assert_null(um_form_get(&form, "cod").ptr);
}

TEST(empty_pairs_are_skipped)
{
	assert_int_equal(parse(um_str(NULL)), UM_REFUSAL_NONE);
	assert_int_equal(form.len, 0);
	assert_int_equal(parse(STR("&&&")), UM_REFUSAL_NONE);
	assert_int_equal(form.len, 0);
	assert_int_equal(parse(STR("&a=1&&b=2&=&")), UM_REFUSAL_NONE);
	assert_int_equal(form.len, 2);
	assert_field(1, STR("b"), STR("2"));
}

TEST(plus_and_percent_are_decoded)
{
	assert_int_equal(parse(STR("a+b=%20+%2b&x=a=b==&%61%3d=%26%3D")),
		UM_REFUSAL_NONE);
	assert_field(0, STR("a b"), STR("  +"));
	assert_field(1, STR("x"), STR("a=b=="));
	assert_field(2, STR("a="), STR("&="));
}

TEST(a_semicolon_is_no_separator)
{
	assert_int_equal(parse(STR("a=1;b=2")), UM_REFUSAL_NONE);
	assert_int_equal(form.len, 1);
	assert_field(0, STR("a"), STR("1;b=2"));
}

TEST(values_are_decoded_once)
{
	assert_int_equal(parse(STR("a=%2561&b=%252B")), UM_REFUSAL_NONE);
	assert_field(0, STR("a"), STR("%61"));
	assert_field(1, STR("b"), STR("%2B"));
}

TEST(every_byte_can_be_percent_encoded)
{
	static const char lower[] = "0123456789abcdef";
	static const char upper[] = "0123456789ABCDEF";

	for (int c = 0; c < 128; c++) {
		char text[] = { '%', lower[c >> 4], lower[c & 15], '=', '%',
			upper[c >> 4], upper[c & 15] };
		char byte = (char)c;
		struct um_str got = { &byte, 1 };

		assert_int_equal(parse((struct um_str){ text, sizeof(text) }),
			c == 0 ? UM_REFUSAL_MALFORMED_PARAMETERS
			       : UM_REFUSAL_NONE);
		if (c != 0)
			assert_field(0, got, got);
	}
}

TEST(malformed_forms_are_refused)
{
	const struct um_str cases[] = {
		STR("a=%"),
		STR("a=%4"),
		STR("a=%%41"),
		STR("a=%4g"),
		STR("a=%g4"),
		STR("a=%-1"),
		STR("a=% 1"),
		STR("a=%+1"),
		STR("a=%0x"),
		STR("%=a"),
		STR("a%2=b"),
		STR("ok=1&a=%"),
		STR("a=%2&b=0"),
		STR("a=%u0041"),
		/* NUL, in the text and behind a percent sign */
		STR("a=\0"),
		STR("a\0b=1"),
		STR("a=1\0"),
		STR("a=%00"),
		STR("%00=a"),
		STR("a=b%00c"),
		/* no UTF-8 */
		STR("a=\xff"),
		STR("a=%ff"),
		STR("%80=a"),
		STR("a=%c0%80"),
		STR("a=%ed%a0%80"),
		STR("a=%e2%82"),
		STR("a=%f4%90%80%80"),
		/* a sequence must not reach over from name to value */
		STR("%c3=%ab"),
		STR("%c3&%ab"),
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i].ptr,
			parse(cases[i]) == UM_REFUSAL_MALFORMED_PARAMETERS);
	assert_int_equal(parse(STR("zo%c3%ab=%e4%be%8b\xe3\x81\x88")),
		UM_REFUSAL_NONE);
	assert_field(0, STR("zo\xc3\xab"), STR("\xe4\xbe\x8b\xe3\x81\x88"));
}

/* RFC 6749 section 3.1. */
TEST(a_parameter_given_twice_is_refused)
{
	const struct um_str cases[] = {
		STR("a=1&a=1"),
		STR("a=1&a=2"),
		STR("a&a"),
		STR("a=&a=1"),
		STR("a=1&%61=2"),
		STR("a=1&b=2&c=3&a="),
		STR("=1&=2"),
		STR("a+b=1&a%20b=2"),
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i].ptr,
			parse(cases[i]) == UM_REFUSAL_DUPLICATE_PARAMETER);
	assert_int_equal(parse(STR("a=1&A=1&aa=1&b=a")), UM_REFUSAL_NONE);
}

/* `count` times the text, after what is in the buffer. */
static void
put_times(struct um_buf *out, const char *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		um_buf_puts(out, text);
}

static enum um_refusal
parse_buffer(struct um_buf *text)
{
	enum um_refusal state = parse(um_buf_str(text));

	um_buf_free(text);
	return state;
}

TEST(one_field_over_the_limit_is_refused)
{
	struct um_buf text = { 0 };

	for (int over = 0; over < 2; over++) {
		for (int i = 0; i < UM_FORM_FIELDS_MAX + over; i++)
			um_buf_printf(&text, "f%d=%d&", i, i);
		assert_int_equal(parse_buffer(&text),
			over ? UM_REFUSAL_PARAMETERS_TOO_LARGE
			     : UM_REFUSAL_NONE);
		assert_int_equal(form.len, UM_FORM_FIELDS_MAX);
	}
}

/* Names and values are measured as they are decoded. */
TEST(too_long_fields_are_refused)
{
	static const char *const letter[] = { "x", "%78" };
	struct um_buf text = { 0 };

	for (int i = 0; i < 2; i++) {
		for (size_t over = 0; over < 2; over++) {
			row_begin("%s, %zu over", letter[i], over);
			put_times(&text, letter[i], UM_FORM_NAME_MAX + over);
			um_buf_puts(&text, "=1");
			assert_int_equal(parse_buffer(&text),
				over ? UM_REFUSAL_PARAMETERS_TOO_LARGE
				     : UM_REFUSAL_NONE);

			um_buf_puts(&text, "v=");
			put_times(&text, letter[i], UM_FORM_VALUE_MAX + over);
			assert_int_equal(parse_buffer(&text),
				over ? UM_REFUSAL_PARAMETERS_TOO_LARGE
				     : UM_REFUSAL_NONE);
			assert_int_equal(um_form_get(&form, "v").len,
				over ? 0 : UM_FORM_VALUE_MAX);
		}
	}
}

/* Cut at every place, in memory of exactly that length. */
TEST(nothing_is_read_past_the_end)
{
	static const char text[] = "co%64e=a%20+b&sta%74e=%e2%82%ac&e&=x&a=%41";

	for (size_t len = 1; len < sizeof(text); len++) {
		char *cut = malloc(len);

		assert_non_null(cut);
		memcpy(cut, text, len);
		parse((struct um_str){ cut, len });
		free(cut);
		assert_true(form.len <= 5);
	}
}

TEST(a_freed_form_is_empty)
{
	assert_int_equal(parse(STR("a=1")), UM_REFUSAL_NONE);
	um_form_free(&form);
	assert_int_equal(form.len, 0);
	assert_null(um_form_get(&form, "a").ptr);
	um_form_free(&form);
}

/* What a lenient reading makes of "a", beside "b", which is always 1. */
TEST(what_nobody_reads_is_nobodys_error)
{
	const struct {
		struct um_str text;
		const char *a; /* NULL: unreadable; "": not there */
	} cases[] = {
		{ STR("a=x&b=1"), "x" },
		{ STR("c=1&c=2&a=x&b=1"), "x" },
		{ STR("c=%&a=x&b=1"), "x" },
		{ STR("c=%ff&a=x&b=1"), "x" },
		{ STR("c=%00&a=x&b=1"), "x" },
		{ STR("%ff=1&a=x&b=1"), "x" },
		{ STR("%zz=1&a=x&b=1"), "x" },
		{ STR("a%ff=x&b=1"), "" },
		{ STR("a=x&a=x&b=1"), NULL },
		{ STR("a=x&b=1&%61=x"), NULL },
		{ STR("a=x&b=1&a=%"), NULL },
		{ STR("a=%ff&b=1"), NULL },
		{ STR("a=%00&b=1"), NULL },
		{ STR("a=%4&b=1"), NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct um_field *a;

		row_begin("%s", cases[i].text.ptr);
		um_form_free(&form);
		assert_int_equal(um_form_parse_lenient(&form, cases[i].text),
			UM_REFUSAL_NONE);
		a = um_form_field(&form, "a");
		assert_str(um_form_get(&form, "b"), "1");
		assert_str(um_form_get(&form, "a"),
			cases[i].a != NULL ? cases[i].a : "");
		if (cases[i].a == NULL)
			assert_true(a->unreadable);
		else if (cases[i].a[0] == '\0')
			assert_null(a);
		else
			assert_false(a->unreadable);
	}
}

/* For people: what cannot be read in a value is replaced. */
TEST(what_a_lenient_reading_shows)
{
	static const struct {
		const char *text, *shown; /* NULL: it has no value */
		enum um_refusal unreadable;
	} cases[] = {
		{ "a=x%C3%A9", "x\xc3\xa9", UM_REFUSAL_NONE },
		{ "a=refus%E9", "refus?", UM_REFUSAL_MALFORMED_PARAMETERS },
		{ "a=\xe9t\xe9", "?t?", UM_REFUSAL_MALFORMED_PARAMETERS },
		{ "a=%C3%A9%FF%00.", "\xc3\xa9??.",
			UM_REFUSAL_MALFORMED_PARAMETERS },
		{ "a=100%+%zz%4", "100% %zz%4",
			UM_REFUSAL_MALFORMED_PARAMETERS },
		{ "a=%ED%A0%BD", "???", UM_REFUSAL_MALFORMED_PARAMETERS },
		{ "a=x&a=y", NULL, UM_REFUSAL_DUPLICATE_PARAMETER },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct um_field *a;

		row_begin("%s", cases[i].text);
		um_form_free(&form);
		assert_int_equal(um_form_parse_lenient(&form,
					 um_str(cases[i].text)),
			UM_REFUSAL_NONE);
		a = um_form_field(&form, "a");
		assert_int_equal(a->unreadable, cases[i].unreadable);
		if (cases[i].shown != NULL)
			assert_str(a->value, cases[i].shown);
		else
			assert_null(a->value.ptr);
	}
}

/* A callback of Twilio has 34 fields, others have more. */
TEST(a_lenient_reading_has_limits_of_its_own)
{
	struct um_buf text = { 0 };

	put_times(&text, "n", UM_FORM_NAME_MAX + 1);
	um_buf_puts(&text, "=1&a=x&c=");
	put_times(&text, "v", UM_FORM_VALUE_MAX + 1);
	um_form_free(&form);
	assert_int_equal(um_form_parse_lenient(&form, um_buf_str(&text)),
		UM_REFUSAL_NONE);
	um_buf_free(&text);
	assert_str(um_form_get(&form, "a"), "x");
	assert_true(um_form_field(&form, "c")->unreadable);
	for (int over = 0; over < 2; over++) {
		for (int i = 0; i < UM_FORM_FIELDS_MAX + over; i++)
			um_buf_printf(&text, "f%d=%d&", i, i);
		um_form_free(&form);
		assert_int_equal(um_form_parse_lenient(&form,
					 um_buf_str(&text)),
			over ? UM_REFUSAL_PARAMETERS_TOO_LARGE
			     : UM_REFUSAL_NONE);
		um_buf_free(&text);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_keep_their_order),
		cmocka_unit_test(empty_pairs_are_skipped),
		cmocka_unit_test(plus_and_percent_are_decoded),
		cmocka_unit_test(a_semicolon_is_no_separator),
		cmocka_unit_test(values_are_decoded_once),
		cmocka_unit_test(every_byte_can_be_percent_encoded),
		cmocka_unit_test(malformed_forms_are_refused),
		cmocka_unit_test(a_parameter_given_twice_is_refused),
		cmocka_unit_test(one_field_over_the_limit_is_refused),
		cmocka_unit_test(too_long_fields_are_refused),
		cmocka_unit_test(what_nobody_reads_is_nobodys_error),
		cmocka_unit_test(what_a_lenient_reading_shows),
		cmocka_unit_test(a_lenient_reading_has_limits_of_its_own),
		cmocka_unit_test(nothing_is_read_past_the_end),
		cmocka_unit_test(a_freed_form_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
