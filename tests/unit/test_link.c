/* SPDX-License-Identifier: MIT */
/* The short state of a link: the vectors, and every text that is none. */
#include <stdlib.h>
#include <string.h>

#include "core/encode.h"
#include "crypto/link.h"
#include "support.h"

#define CHARACTERS                                                             \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
#define ID "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11"

static struct um_keys *keys;

static void
mint(char text[static UM_LINK_LEN + 1])
{
	uint8_t id[UM_UUID_LEN];

	bytes_of_uuid(id, ID);
	assert_true(um_link_mint(text, id, keys, "demo"));
	assert_int_equal(strlen(text), UM_LINK_LEN);
}

/* That the text is refused, and leaves no id. */
static void
assert_refused(const char *label, struct um_str text,
	enum um_token_state expected)
{
	static const uint8_t none[UM_UUID_LEN];
	uint8_t id[UM_UUID_LEN];

	memset(id, 0xa5, sizeof(id));
	assert_row(label, um_link_open(id, text, keys, "demo") == expected);
	assert_memory_equal(id, none, sizeof(none));
}

static void
check_vector(const json_t *vector)
{
	const char *hex = vector_text(vector, "secret_hex");
	const char *provider = vector_text(vector, "provider");
	const char *state = vector_text(vector, "state");
	uint8_t secret[UM_SECRET_MAX], key[UM_KEY_LEN];
	uint8_t id[UM_UUID_LEN], opened[UM_UUID_LEN];
	size_t len = strlen(hex) / 2;
	char minted[UM_LINK_LEN + 1];
	struct um_keys *its_keys;
	char *line;

	bytes_of_hex(secret, len, hex);
	bytes_of_hex(key, sizeof(key), vector_text(vector, "key_hex"));
	bytes_of_uuid(id, vector_text(vector, "id"));
	line = keys_line((int)json_integer_value(
				 json_object_get(vector, "kid")),
		secret, len);
	its_keys = keys_of(line);
	assert_memory_equal(um_keys_minting(its_keys)->of[UM_USE_LINK], key,
		sizeof(key));
	assert_true(um_link_mint(minted, id, its_keys, provider));
	assert_string_equal(minted, state);
	assert_int_equal(um_link_open(opened, um_str(state), its_keys,
				 provider),
		UM_TOKEN_GOOD);
	assert_memory_equal(opened, id, sizeof(id));
	assert_int_equal(um_link_open(opened, um_str(state), its_keys, "other"),
		UM_TOKEN_INVALID);
	um_keys_free(its_keys);
	free(line);
}

TEST(the_contracts_vectors)
{
	json_t *cases = vectors("link");

	assert_true(json_array_size(cases) >= 3);
	for (size_t i = 0; i < json_array_size(cases); i++)
		check_vector(json_array_get(cases, i));
	json_decref(cases);
}

/* Whoever has one cannot make the other of it. */
TEST(the_vectors_of_the_link_to_an_approval)
{
	json_t *cases = form_vectors("links");

	for (size_t i = 0; i < json_array_size(cases); i++) {
		const json_t *vector = json_array_get(cases, i);
		const char *provider = vector_text(vector, "provider");
		struct um_str state = um_str(vector_text(vector, "state"));
		struct um_keys *its_keys = keys_of_vector(vector);
		uint8_t its_id[UM_UUID_LEN], opened[UM_UUID_LEN];
		char link[UM_LINK_LEN + 1];

		row_begin("%s", provider);
		bytes_of_uuid(its_id, vector_text(vector, "id"));
		assert_int_equal(um_link_open_approval(opened, state, its_keys,
					 provider),
			UM_TOKEN_GOOD);
		assert_memory_equal(opened, its_id, sizeof(its_id));
		assert_int_equal(um_link_open(opened, state, its_keys,
					 provider),
			UM_TOKEN_INVALID);
		assert_int_equal(um_link_open_approval(opened, state, its_keys,
					 "other"),
			UM_TOKEN_INVALID);
		assert_true(um_link_mint(link, its_id, its_keys, provider));
		assert_int_equal(um_link_open_approval(opened, um_str(link),
					 its_keys, provider),
			UM_TOKEN_INVALID);
		um_keys_free(its_keys);
	}
	json_decref(cases);
}

TEST(the_same_link_each_time)
{
	char first[UM_LINK_LEN + 1], second[UM_LINK_LEN + 1];

	mint(first);
	mint(second);
	assert_string_equal(first, second);
}

/* 256 bits of 32 bytes; another version, kid, id or MAC. */
TEST(no_bit_flipped)
{
	char text[UM_LINK_LEN + 1];
	uint8_t bytes[32];

	mint(text);
	assert_true(um_base64url_decode(bytes, sizeof(bytes), um_str(text)));
	for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
		char changed[UM_LINK_LEN + 1];

		bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1 << bit % 8);
		um_base64url_encode(changed, bytes, sizeof(bytes));
		assert_refused(changed, um_str(changed),
			bit / 8 == 1 ? UM_TOKEN_UNKNOWN_KEY : UM_TOKEN_INVALID);
		bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1 << bit % 8);
	}
}

/* A kid that the file has: the MAC covers it, under a key of its own. */
TEST(the_kid_of_another_key)
{
	struct um_keys *both = keys_of(
		"1 ERERERERERERERERERERERERERERERERERERERERERE\n"
		"2 ERERERERERERERERERERERERERERERERERERERERERE\n");
	uint8_t bytes[32], id[UM_UUID_LEN];
	char text[UM_LINK_LEN + 1];

	mint(text);
	assert_true(um_base64url_decode(bytes, sizeof(bytes), um_str(text)));
	assert_int_equal(um_link_open(id, um_str(text), both, "demo"),
		UM_TOKEN_GOOD);
	bytes[1] = 2;
	um_base64url_encode(text, bytes, sizeof(bytes));
	assert_int_equal(um_link_open(id, um_str(text), both, "demo"),
		UM_TOKEN_INVALID);
	um_keys_free(both);
}

/* 43 characters are 258 bits, and the last two belong to no byte. */
TEST(no_other_character_anywhere)
{
	char text[UM_LINK_LEN + 1];

	mint(text);
	for (size_t place = 0; place < UM_LINK_LEN; place++) {
		char was = text[place];

		for (const char *c = CHARACTERS "=+/% \t\r\n.\x80";; c++) {
			uint8_t id[UM_UUID_LEN];

			text[place] = *c;
			assert_int_equal(um_link_open(id,
						 (struct um_str){ text,
							 UM_LINK_LEN },
						 keys, "demo")
					== UM_TOKEN_GOOD,
				*c == was);
			if (*c == '\0')
				break;
		}
		text[place] = was;
	}
}

TEST(exactly_its_length)
{
	char text[3 * UM_LINK_LEN];

	memset(text, 'A', sizeof(text));
	mint(text);
	text[UM_LINK_LEN] = 'A';
	for (size_t len = 0; len < sizeof(text); len++)
		if (len != UM_LINK_LEN)
			assert_refused("length", (struct um_str){ text, len },
				UM_TOKEN_INVALID);
	text[UM_LINK_LEN] = '=';
	assert_refused("padding", (struct um_str){ text, UM_LINK_LEN + 1 },
		UM_TOKEN_INVALID);
	assert_refused("none", um_str(NULL), UM_TOKEN_INVALID);
}

TEST(the_provider)
{
	static const char *const names[] = { "", "dem", "demo2", "Demo",
		"demo\x01" };
	char longest[UM_PROVIDER_MAX + 2], text[UM_LINK_LEN + 1];
	uint8_t id[UM_UUID_LEN] = { 1 }, opened[UM_UUID_LEN];

	mint(text);
	for (size_t i = 0; i < LENGTH(names); i++)
		assert_row(names[i],
			um_link_open(opened, um_str(text), keys, names[i])
				== UM_TOKEN_INVALID);
	memset(longest, 'p', sizeof(longest));
	longest[UM_PROVIDER_MAX + 1] = '\0';
	assert_false(um_link_mint(text, id, keys, longest));
	assert_int_equal(um_link_open(opened, um_str(text), keys, longest),
		UM_TOKEN_INVALID);
	longest[UM_PROVIDER_MAX] = '\0';
	assert_true(um_link_mint(text, id, keys, longest));
	assert_int_equal(um_link_open(opened, um_str(text), keys, longest),
		UM_TOKEN_GOOD);
}

/* A link that an earlier first key has minted opens until that key is gone. */
TEST(rotation)
{
	struct um_keys *later = keys_of(
		"2 IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI\n"
		"1 ERERERERERERERERERERERERERERERERERERERERERE\n");
	struct um_keys *last = keys_of(
		"2 IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI\n");
	char text[UM_LINK_LEN + 1];
	uint8_t id[UM_UUID_LEN];

	mint(text);
	assert_int_equal(um_link_open(id, um_str(text), later, "demo"),
		UM_TOKEN_GOOD);
	assert_int_equal(um_link_open(id, um_str(text), last, "demo"),
		UM_TOKEN_UNKNOWN_KEY);
	um_keys_free(later);
	um_keys_free(last);
}

static int
set_up(void **state)
{
	(void)state;
	keys = keys_of("1 ERERERERERERERERERERERERERERERERERERERERERE\n");
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
		cmocka_unit_test(the_contracts_vectors),
		cmocka_unit_test(the_vectors_of_the_link_to_an_approval),
		cmocka_unit_test(the_same_link_each_time),
		cmocka_unit_test(no_bit_flipped),
		cmocka_unit_test(the_kid_of_another_key),
		cmocka_unit_test(no_other_character_anywhere),
		cmocka_unit_test(exactly_its_length),
		cmocka_unit_test(the_provider),
		cmocka_unit_test(rotation),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
