/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "crypto/sealed_text.h"
#include "support.h"

#define NOW INT64_C(1800000000)
#define TEXT "where the user was going"

static const struct um_seal_purpose purpose = { UM_USE_SESSION,
	{ "context", 7 } };
static struct um_keys *keys, *rotated, *others;

static struct um_buf
seal(struct um_str text)
{
	static const uint8_t nonce[UM_NONCE_LEN] = { 1, 2, 3 };
	struct um_buf sealed = { 0 };

	assert_true(um_sealed_text_put(&sealed, text, NOW + 60, keys, &purpose,
		nonce));
	return sealed;
}

static enum um_sealed_text
open_at(struct um_str sealed, const struct um_keys *with,
	const struct um_seal_purpose *of, int64_t now, const char *expected)
{
	struct um_buf out = { 0 };
	enum um_sealed_text state = um_sealed_text_open(&out, sealed, with, of,
		now);

	assert_str(um_buf_str(&out), expected);
	um_buf_free(&out);
	return state;
}

/* It is good until the second before its expiry; its text is there after it. */
TEST(good_until_its_expiry)
{
	struct um_buf sealed = seal(STR(TEXT));
	struct um_str text = um_buf_str(&sealed);

	assert_int_equal(open_at(text, keys, &purpose, NOW + 59, TEXT),
		UM_SEALED_TEXT_GOOD);
	assert_int_equal(open_at(text, keys, &purpose, NOW + 60, TEXT),
		UM_SEALED_TEXT_EXPIRED);
	assert_int_equal(open_at(text, keys, &purpose, -1, TEXT),
		UM_SEALED_TEXT_EXPIRED);
	um_buf_free(&sealed);
}

TEST(for_one_purpose_and_one_context)
{
	static const struct um_seal_purpose use = { UM_USE_SIGNIN,
		{ "context", 7 } };
	static const struct um_seal_purpose context = { UM_USE_SESSION,
		{ "contexts", 8 } };
	struct um_buf sealed = seal(STR(TEXT));
	struct um_str text = um_buf_str(&sealed);

	assert_int_equal(open_at(text, keys, &use, NOW, ""),
		UM_SEALED_TEXT_INVALID);
	assert_int_equal(open_at(text, keys, &context, NOW, ""),
		UM_SEALED_TEXT_INVALID);
	um_buf_free(&sealed);
}

TEST(any_key_of_the_file_opens)
{
	struct um_buf sealed = seal(STR(TEXT));
	struct um_str text = um_buf_str(&sealed);

	assert_int_equal(open_at(text, rotated, &purpose, NOW, TEXT),
		UM_SEALED_TEXT_GOOD);
	assert_int_equal(open_at(text, others, &purpose, NOW, ""),
		UM_SEALED_TEXT_UNKNOWN_KEY);
	um_buf_free(&sealed);
}

/* A flipped bit of the kid names a key that is not there. */
TEST(no_bit_of_it_flipped)
{
	struct um_buf sealed = seal(STR(TEXT));

	for (size_t i = 0; i < 8 * sealed.len; i++) {
		char *c = &sealed.ptr[i / 8];

		*c = (char)(*c ^ 1 << i % 8);
		assert_int_not_equal(open_at(um_buf_str(&sealed), keys,
					     &purpose, NOW, ""),
			UM_SEALED_TEXT_GOOD);
		*c = (char)(*c ^ 1 << i % 8);
	}
	for (size_t len = 0; len < sealed.len; len++)
		assert_int_equal(open_at((struct um_str){ sealed.ptr, len },
					 keys, &purpose, NOW, ""),
			UM_SEALED_TEXT_INVALID);
	um_buf_free(&sealed);
}

TEST(lengths)
{
	static const uint8_t nonce[UM_NONCE_LEN] = { 0 };
	char longest[UM_SEALED_TEXT_MAX + 2] = "";
	struct um_buf sealed, refused = { 0 };

	memset(longest, 'x', sizeof(longest) - 1);
	assert_false(um_sealed_text_put(&refused, um_str(longest), NOW + 60,
		keys, &purpose, nonce));
	assert_int_equal(refused.len, 0);
	longest[UM_SEALED_TEXT_MAX] = '\0';
	sealed = seal(um_str(longest));
	assert_int_equal(open_at(um_buf_str(&sealed), keys, &purpose, NOW,
				 longest),
		UM_SEALED_TEXT_GOOD);
	um_buf_put(&sealed, "A", 1);
	assert_int_equal(open_at(um_buf_str(&sealed), keys, &purpose, NOW, ""),
		UM_SEALED_TEXT_INVALID);
	um_buf_free(&sealed);
	sealed = seal(um_str(NULL));
	assert_int_equal(open_at(um_buf_str(&sealed), keys, &purpose, NOW, ""),
		UM_SEALED_TEXT_GOOD);
	um_buf_free(&sealed);
}

static int
set_up(void **state)
{
	(void)state;
	keys = keys_of("1 ERERERERERERERERERERERERERERERERERERERERERE\n");
	rotated = keys_of("2 IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI\n"
			  "1 ERERERERERERERERERERERERERERERERERERERERERE\n");
	others = keys_of("2 IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI\n");
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	um_keys_free(keys);
	um_keys_free(rotated);
	um_keys_free(others);
	return 0;
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_until_its_expiry),
		cmocka_unit_test(for_one_purpose_and_one_context),
		cmocka_unit_test(any_key_of_the_file_opens),
		cmocka_unit_test(no_bit_of_it_flipped),
		cmocka_unit_test(lengths),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
