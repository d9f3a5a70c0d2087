/* SPDX-License-Identifier: MIT */
/* Hexadecimal digits. */
#include "core/encode.h"

#include <string.h>

#include "support.h"

/* RFC 4648 section 10. */
static const struct {
	const char *bytes;
	const char *text; /* without padding */
	const char *padded;
} rfc4648[] = {
	{ "", "", "" },
	{ "f", "Zg", "Zg==" },
	{ "fo", "Zm8", "Zm8=" },
	{ "foo", "Zm9v", "Zm9v" },
	{ "foob", "Zm9vYg", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy", "Zm9vYmFy" },
};

TEST(the_rfcs_cases_both_ways)
{
	for (size_t i = 0; i < LENGTH(rfc4648); i++) {
		const char *bytes = rfc4648[i].bytes;
		size_t len = strlen(bytes);
		size_t got;
		char text[16];
		uint8_t back[16];

		row_begin("%s", rfc4648[i].bytes);
		um_base64url_encode(text, (const uint8_t *)bytes, len);
		assert_string_equal(text, rfc4648[i].text);
		assert_int_equal(UM_BASE64_LEN(len), strlen(text));
		assert_row(bytes, um_base64url_decode(back, len, um_str(text)));
		assert_memory_equal(back, bytes, len);
		assert_row(bytes,
			um_base64_decode(back, len, &got, um_str(text)));
		assert_int_equal(got, len);
		assert_row(bytes,
			um_base64_decode(back, len, &got,
				um_str(rfc4648[i].padded)));
		assert_int_equal(got, len);
		assert_memory_equal(back, bytes, len);
	}
}

TEST(every_byte_goes_there_and_back)
{
	uint8_t bytes[256];
	uint8_t back[256];
	char text[UM_BASE64_LEN(256) + 1];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(255 - i);
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		um_base64url_encode(text, bytes, len);
		assert_int_equal(strlen(text), UM_BASE64_LEN(len));
		assert_true(um_base64url_decode(back, len, um_str(text)));
		assert_memory_equal(back, bytes, len);
	}
}

/* All 256 characters in each place of a group, against the alphabet. */
TEST(only_the_url_alphabet_is_taken)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-_";

	for (size_t place = 0; place < 4; place++) {
		for (int c = 0; c < 256; c++) {
			char text[4] = { 'A', 'A', 'A', 'A' };
			uint8_t out[3];
			bool taken;

			text[place] = (char)c;
			taken = um_base64url_decode(out, 3,
				(struct um_str){ text, sizeof(text) });
			if (taken != (c != 0 && strchr(alphabet, c) != NULL))
				fail_msg("character %d in place %zu", c, place);
		}
	}
}

TEST(bits_left_over_must_be_zero)
{
	uint8_t out[3];

	assert_true(um_base64url_decode(out, 1, STR("AA")));
	assert_false(um_base64url_decode(out, 1, STR("AB")));
	assert_false(um_base64url_decode(out, 1, STR("AP")));
	assert_true(um_base64url_decode(out, 1, STR("AQ")));
	assert_true(um_base64url_decode(out, 2, STR("AAA")));
	assert_false(um_base64url_decode(out, 2, STR("AAB")));
	assert_false(um_base64url_decode(out, 2, STR("AAD")));
	assert_true(um_base64url_decode(out, 2, STR("AAE")));
}

TEST(another_length_is_refused)
{
	uint8_t out[8];

	assert_false(um_base64url_decode(out, 3, STR("AAA")));
	assert_false(um_base64url_decode(out, 3, STR("AAAAA")));
	assert_false(um_base64url_decode(out, 3, STR("AAAA=")));
	assert_false(um_base64url_decode(out, 1, STR("AA==")));
	assert_false(um_base64url_decode(out, 3, STR(" AAA")));
	assert_false(um_base64url_decode(out, 3, STR("AAA\n")));
	assert_false(um_base64url_decode(out, 3, STR("AA\0A")));
	assert_false(um_base64url_decode(out, 1, um_str(NULL)));
	assert_true(um_base64url_decode(out, 0, um_str(NULL)));
}

TEST(either_alphabet_and_padding_or_none)
{
	static const uint8_t bytes[] = { 0xfb, 0xef, 0xff, 0xfe };
	uint8_t out[8];
	size_t len;

	assert_true(um_base64_decode(out, sizeof(out), &len, STR("++///g==")));
	assert_int_equal(len, sizeof(bytes));
	assert_memory_equal(out, bytes, sizeof(bytes));
	assert_true(um_base64_decode(out, sizeof(out), &len, STR("--___g")));
	assert_int_equal(len, sizeof(bytes));
	assert_memory_equal(out, bytes, sizeof(bytes));
}

TEST(wrong_base64_is_refused)
{
	const struct um_str wrong[] = {
		STR("A"),
		STR("A==="),
		STR("AA="),
		STR("A=A="),
		STR("=AAA"),
		STR("AAAA===="),
		STR("AAAA="),
		STR("AAAAA"),
		STR("===="),
		STR("AB=="),
		STR("AAB="),
		STR("A A="),
		STR("AA\nA"),
		STR("AA\0A"),
		STR("AAA."),
		STR("AA*A"),
	};
	uint8_t out[8];
	size_t len;

	for (size_t i = 0; i < LENGTH(wrong); i++)
		assert_row(wrong[i].ptr,
			!um_base64_decode(out, sizeof(out), &len, wrong[i]));
}

TEST(no_more_than_there_is_room_for)
{
	char text[5000];
	uint8_t out[256];
	size_t len;

	memset(text, 'A', sizeof(text));
	assert_true(um_base64_decode(out, sizeof(out), &len,
		(struct um_str){ text, UM_BASE64_LEN(256) }));
	assert_int_equal(len, 256);
	for (size_t n = UM_BASE64_LEN(257); n <= sizeof(text); n++)
		assert_false(um_base64_decode(out, sizeof(out), &len,
			(struct um_str){ text, n }));
	assert_true(um_base64_decode(out, 3, &len, STR("AAAA")));
	assert_false(um_base64_decode(out, 2, &len, STR("AAAA")));
	assert_true(um_base64_decode(out, 0, &len, um_str(NULL)));
	assert_int_equal(len, 0);
}

TEST(what_is_of_the_url_alphabet)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm"
				       "nopqrstuvwxyz0123456789-_";

	assert_true(um_base64url_is(um_str(NULL)));
	assert_true(um_base64url_is(um_str(alphabet)));
	for (int c = 0; c < 256; c++) {
		const char text[3] = { 'A', (char)c, 'A' };

		assert_int_equal(um_base64url_is((struct um_str){ text, 3 }),
			c != 0 && strchr(alphabet, c) != NULL);
	}
}

TEST(hex)
{
	static const struct {
		const char *text;
		const char *back; /* NULL: refused */
	} cases[] = {
		{ "", "" },
		{ "00ff7f", "00ff7f" },
		{ "00FF7F", "00ff7f" },
		{ "0123456789abcdef", "0123456789abcdef" },
		{ "00Ff", NULL },
		{ "aB", NULL },
		{ "0", NULL },
		{ "0g", NULL },
		{ "0x", NULL },
		{ " 0", NULL },
		{ "0123456789abcdef01", NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		uint8_t bytes[8];
		char back[17];
		size_t len;
		bool ok = um_hex_decode(bytes, sizeof(bytes), &len,
			um_str(cases[i].text));

		row_begin("%s", cases[i].text);
		assert_row(cases[i].text, ok == (cases[i].back != NULL));
		if (!ok)
			continue;
		um_hex_encode(back, bytes, len);
		assert_string_equal(back, cases[i].back);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rfcs_cases_both_ways),
		cmocka_unit_test(every_byte_goes_there_and_back),
		cmocka_unit_test(only_the_url_alphabet_is_taken),
		cmocka_unit_test(bits_left_over_must_be_zero),
		cmocka_unit_test(another_length_is_refused),
		cmocka_unit_test(either_alphabet_and_padding_or_none),
		cmocka_unit_test(wrong_base64_is_refused),
		cmocka_unit_test(no_more_than_there_is_room_for),
		cmocka_unit_test(what_is_of_the_url_alphabet),
		cmocka_unit_test(hex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
