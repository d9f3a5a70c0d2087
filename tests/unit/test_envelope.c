/* SPDX-License-Identifier: MIT */
/* The layout of what is sealed, and everything that does not open. */
#include <string.h>

#include "crypto/envelope.h"
#include "support.h"

#define VERSION 1
#define LINE_7 "7 MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n"
#define LINE_9 "9 YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWY=\n"
#define TEXT_MAX 64

static const uint8_t key[UM_KEY_LEN] = { 1, 2, 3 };
static const uint8_t nonce[UM_NONCE_LEN] = { 9, 8, 7 };

static struct um_keys *keys;

static uint8_t out[UM_ENVELOPE_OVERHEAD + TEXT_MAX];

/* The envelope of a text, in `out`. */
static struct um_str
seal(struct um_str context, struct um_str text)
{
	assert_true(um_envelope_seal(out, VERSION, keys, key, nonce, context,
		text));
	return (struct um_str){ (const char *)out,
		UM_ENVELOPE_OVERHEAD + text.len };
}

TEST(the_layout)
{
	uint8_t text[TEXT_MAX];
	static const char *const texts[] = { "", "a", "the text" };

	for (size_t i = 0; i < LENGTH(texts); i++) {
		struct um_str envelope = seal(STR("a\0context"),
			um_str(texts[i]));

		row_begin("%s", texts[i]);
		assert_int_equal(out[0], VERSION);
		assert_int_equal(out[1], 7);
		assert_memory_equal(out + 2, nonce, sizeof(nonce));
		assert_true(um_envelope_open(text, keys, key, STR("a\0context"),
			envelope));
		assert_memory_equal(text, texts[i], strlen(texts[i]));
	}
}

TEST(which_key_it_names)
{
	struct um_str envelope = seal(STR("c"), STR(""));
	struct um_str cut = { envelope.ptr, envelope.len - 1 };

	assert_int_equal(um_envelope_kid(envelope, VERSION), 7);
	assert_ptr_equal(um_envelope_key(envelope, VERSION, keys),
		um_keys_find(keys, 7));
	assert_int_equal(um_envelope_kid(envelope, VERSION + 1), -1);
	assert_null(um_envelope_key(envelope, VERSION + 1, keys));
	assert_int_equal(um_envelope_kid(cut, VERSION), -1);
	assert_int_equal(um_envelope_kid(STR(""), VERSION), -1);
	out[1] = 9;
	assert_ptr_equal(um_envelope_key(envelope, VERSION, keys),
		um_keys_find(keys, 9));
	out[1] = 8;
	assert_null(um_envelope_key(envelope, VERSION, keys));
}

/* And nothing of what was decrypted is left. */
static void
assert_refused(const uint8_t with[static UM_KEY_LEN], struct um_str context,
	struct um_str envelope)
{
	static const uint8_t zeros[TEXT_MAX];
	uint8_t text[TEXT_MAX];

	assert_false(um_envelope_open(text, keys, with, context, envelope));
	assert_memory_equal(text, zeros, envelope.len - UM_ENVELOPE_OVERHEAD);
}

/* Version, kid, nonce, text, tag and context: each byte counts. */
TEST(what_was_changed_does_not_open)
{
	static const uint8_t other_key[UM_KEY_LEN] = { 1, 2, 4 };
	uint8_t text[TEXT_MAX];
	struct um_str envelope = seal(STR("context"), STR("the text"));
	struct um_str shorter = { envelope.ptr, envelope.len - 1 };

	for (size_t i = 0; i < envelope.len; i++) {
		out[i] ^= 1;
		row_begin("byte %zu", i);
		assert_refused(key, STR("context"), envelope);
		out[i] ^= 1;
	}
	assert_refused(key, STR("Context"), envelope);
	assert_refused(key, STR(""), envelope);
	assert_refused(key, STR("context"), shorter);
	assert_refused(other_key, STR("context"), envelope);
	assert_true(
		um_envelope_open(text, keys, key, STR("context"), envelope));
}

static int
set_up(void **state)
{
	(void)state;
	keys = keys_of(LINE_7 LINE_9);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	um_keys_free(keys);
	return 0;
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_layout),
		cmocka_unit_test(which_key_it_names),
		cmocka_unit_test(what_was_changed_does_not_open),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
