/* SPDX-License-Identifier: MIT */
/* Hexadecimal digits. */
#include "core/hex.h"
#include "support.h"

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
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(hex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
