/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/uuid.h"
#include "support.h"

static const uint8_t id[UM_UUID_LEN] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab,
	0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10 };

#define TEXT "01234567-89ab-cdef-fedc-ba9876543210"

TEST(text_is_lower_case_with_four_hyphens)
{
	char text[UM_UUID_TEXT_LEN + 1];

	um_uuid_format(text, id);
	assert_string_equal(text, TEXT);
}

/* RFC 9562 section 4: written in lower case, read in either. */
TEST(either_case_is_read)
{
	static const char *const texts[] = { TEXT,
		"01234567-89AB-CDEF-FEDC-BA9876543210",
		"01234567-89aB-CdEf-fEdC-bA9876543210" };

	for (size_t i = 0; i < LENGTH(texts); i++) {
		uint8_t back[UM_UUID_LEN];

		assert_row(texts[i],
			um_uuid_parse(back, um_str(texts[i]))
				&& memcmp(back, id, sizeof(id)) == 0);
	}
}

TEST(other_forms_are_refused)
{
	static const char *const texts[] = { "",
		"0123456789abcdeffedcba9876543210",
		"{01234567-89ab-cdef-fedc-ba9876543210}",
		"urn:uuid:01234567-89ab-cdef-fedc-ba9876543210",
		"01234567-89ab-cdef-fedc-ba987654321",
		"01234567-89ab-cdef-fedc-ba98765432100",
		" 01234567-89ab-cdef-fedc-ba987654321",
		"01234567-89ab-cdef-fedc-ba987654321 ",
		"01234567089ab-cdef-fedc-ba9876543210",
		"0123456-789ab-cdef-fedc-ba9876543210",
		"01234567-89ab-cdef-fedcaba9876543210",
		"01234567-89ab-cdef-fedc-ba987654321g",
		"0x234567-89ab-cdef-fedc-ba9876543210" };
	uint8_t back[UM_UUID_LEN];

	for (size_t i = 0; i < LENGTH(texts); i++)
		assert_row(texts[i], !um_uuid_parse(back, um_str(texts[i])));
	assert_false(um_uuid_parse(back, um_str(NULL)));
}

/* Any other character in any place is refused, NUL among them. */
TEST(each_place_takes_its_characters_only)
{
	char text[] = TEXT;
	uint8_t back[UM_UUID_LEN];

	for (size_t place = 0; place < UM_UUID_TEXT_LEN; place++) {
		char was = text[place];
		const char *good = was == '-' ? "-" : "0123456789abcdefABCDEF";

		for (int c = 0; c < 256; c++) {
			text[place] = (char)c;
			if (um_uuid_parse(back,
				    (struct um_str){ text, UM_UUID_TEXT_LEN })
				!= (c != 0 && strchr(good, c) != NULL))
				fail_msg("character %d in place %zu", c, place);
		}
		text[place] = was;
	}
}

/* A sanitizer or valgrind sees a step beyond the end. */
TEST(no_byte_after_the_text_is_read)
{
	char *text = malloc(UM_UUID_TEXT_LEN);
	uint8_t back[UM_UUID_LEN];

	assert_non_null(text);
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): on purpose */
	memcpy(text, TEXT, UM_UUID_TEXT_LEN);
	assert_true(
		um_uuid_parse(back, (struct um_str){ text, UM_UUID_TEXT_LEN }));
	free(text);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_lower_case_with_four_hyphens),
		cmocka_unit_test(either_case_is_read),
		cmocka_unit_test(other_forms_are_refused),
		cmocka_unit_test(each_place_takes_its_characters_only),
		cmocka_unit_test(no_byte_after_the_text_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
