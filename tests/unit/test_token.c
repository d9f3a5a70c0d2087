/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/encode.h"
#include "support.h"

#define CHARACTERS                                                             \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

#define NOW INT64_C(1800000000)

static struct um_keys *keys;

static const struct um_token sample = {
	.id = { 0x6f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	.expires = NOW + 300,
	.binding = { 0xb0, 1, 2, 3 },
	.browser = { 0xc0, 1, 2, 3 },
};

static const uint8_t nonce[UM_NONCE_LEN] = { 1, 2, 3, 4, 5, 6 };

static enum um_token_state
open_at(struct um_token *token, struct um_str text, int64_t now)
{
	return um_token_open(token, text, keys, UM_PURPOSE_RETURN, "demo", now);
}

static void
mint(char text[static UM_TOKEN_LEN + 1], int64_t expires)
{
	struct um_token token = sample;

	token.expires = expires;
	assert_true(um_token_mint(text, &token, keys, UM_PURPOSE_RETURN, "demo",
		nonce));
	assert_int_equal(strlen(text), UM_TOKEN_LEN);
}

/* That the text is refused, and leaves nothing in the token. */
static void
assert_invalid(const char *label, struct um_str text)
{
	static const struct um_token none;
	struct um_token token = sample;
	enum um_token_state state = open_at(&token, text, NOW);

	/* Another kid is that of another key. */
	assert_row(label,
		state == UM_TOKEN_INVALID || state == UM_TOKEN_UNKNOWN_KEY);
	assert_memory_equal(token.id, none.id, sizeof(none.id));
	assert_memory_equal(token.binding, none.binding, sizeof(none.binding));
	assert_memory_equal(token.browser, none.browser, sizeof(none.browser));
	assert_int_equal(token.expires, 0);
}

static enum um_purpose
purpose_of(const char *name)
{
	if (strcmp(name, "connect") == 0)
		return UM_PURPOSE_CONNECT;
	if (strcmp(name, "return") == 0)
		return UM_PURPOSE_RETURN;
	if (strcmp(name, "cancel") == 0)
		return UM_PURPOSE_CANCEL;
	if (strcmp(name, "form") == 0)
		return UM_PURPOSE_FORM;
	assert_string_equal(name, "webhook");
	return UM_PURPOSE_WEBHOOK;
}

static void
check_vector(const json_t *vector)
{
	const char *name = vector_text(vector, "name");
	const char *cookie = json_string_value(
		json_object_get(vector, "cookie"));
	const char *provider = vector_text(vector, "provider");
	const char *text = vector_text(vector, "token");
	enum um_purpose purpose = purpose_of(vector_text(vector, "purpose"));
	struct um_keys *its_keys = keys_of_vector(vector);
	uint8_t its_nonce[UM_NONCE_LEN];
	struct um_token token = { 0 };
	struct um_token opened;
	char minted[UM_TOKEN_LEN + 1];
	char uuid[UM_UUID_TEXT_LEN + 1];

	bytes_of_uuid(token.id, vector_text(vector, "id"));
	um_uuid_format(uuid, token.id);
	assert_string_equal(uuid, vector_text(vector, "id"));
	token.expires = json_integer_value(json_object_get(vector, "expires"));
	bytes_of_hex(token.binding, UM_BINDING_LEN,
		vector_text(vector, "binding_hex"));
	bytes_of_hex(token.browser, UM_BROWSER_LEN,
		vector_text(vector, "browser_hex"));
	bytes_of_hex(its_nonce, UM_NONCE_LEN, vector_text(vector, "nonce_hex"));

	um_binding_digest(opened.binding, keys,
		um_str(vector_text(vector, "subject")),
		um_str(vector_text(vector, "session")));
	assert_memory_equal(opened.binding, token.binding, UM_BINDING_LEN);
	assert_row(name, um_token_is_bound(&token) == (cookie != NULL));
	if (cookie != NULL) {
		um_browser_digest(opened.browser, keys, um_str(cookie));
		assert_memory_equal(opened.browser, token.browser,
			UM_BROWSER_LEN);
	}

	assert_row(name,
		um_token_mint(minted, &token, its_keys, purpose, provider,
			its_nonce));
	assert_string_equal(minted, text);

	memset(&opened, 0xa5, sizeof(opened));
	assert_row(name,
		um_token_open(&opened, um_str(text), its_keys, purpose,
			provider, token.expires - 1)
			== UM_TOKEN_GOOD);
	assert_memory_equal(opened.id, token.id, UM_UUID_LEN);
	assert_memory_equal(opened.binding, token.binding, UM_BINDING_LEN);
	assert_memory_equal(opened.browser, token.browser, UM_BROWSER_LEN);
	assert_int_equal(opened.expires, token.expires);
	assert_row(name, um_token_fits_browser(&opened, keys, um_str(cookie)));
	um_keys_free(its_keys);
}

static void
check_vectors(json_t *cases)
{
	for (size_t i = 0; i < json_array_size(cases); i++)
		check_vector(json_array_get(cases, i));
	json_decref(cases);
}

TEST(the_contracts_vectors)
{
	check_vectors(vectors("state"));
	check_vectors(form_vectors("tokens"));
}

/* Each character in each place: 115 x 63 tokens that differ in one. */
TEST(no_other_character_anywhere)
{
	char text[UM_TOKEN_LEN + 1];
	struct um_token token;

	mint(text, NOW + 1);
	assert_int_equal(open_at(&token, um_str(text), NOW), UM_TOKEN_GOOD);
	for (size_t place = 0; place < UM_TOKEN_LEN; place++) {
		char was = text[place];

		for (const char *c = CHARACTERS; *c != '\0'; c++) {
			if (*c == was)
				continue;
			text[place] = *c;
			assert_invalid(text, um_str(text));
		}
		text[place] = was;
	}
	assert_int_equal(open_at(&token, um_str(text), NOW), UM_TOKEN_GOOD);
}

/* Every bit of the text: other letters of the alphabet, and none of them. */
TEST(no_bit_of_the_text_flipped)
{
	char text[UM_TOKEN_LEN + 1];

	mint(text, NOW + 1);
	for (size_t bit = 0; bit < (size_t)8 * UM_TOKEN_LEN; bit++) {
		text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
		assert_invalid("bit", (struct um_str){ text, UM_TOKEN_LEN });
		text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
	}
}

TEST(exactly_its_length)
{
	char text[2 * UM_TOKEN_LEN];

	memset(text, 'A', sizeof(text));
	mint(text, NOW + 1);
	text[UM_TOKEN_LEN] = 'A';
	for (size_t len = 0; len < sizeof(text); len++)
		if (len != UM_TOKEN_LEN)
			assert_invalid("length", (struct um_str){ text, len });
	assert_invalid("a byte late",
		(struct um_str){ text + 1, UM_TOKEN_LEN });
	text[UM_TOKEN_LEN] = '=';
	assert_invalid("padding", (struct um_str){ text, UM_TOKEN_LEN + 1 });
	assert_invalid("none", um_str(NULL));
}

/* 115 characters are 690 bits, 688 of them of bytes. */
TEST(bits_left_over_must_be_zero)
{
	char text[UM_TOKEN_LEN + 1];
	const char *last;

	mint(text, NOW + 1);
	last = strchr(CHARACTERS, text[UM_TOKEN_LEN - 1]);
	assert_non_null(last);
	assert_int_equal((last - CHARACTERS) % 4, 0);
	for (int bits = 1; bits < 4; bits++) {
		text[UM_TOKEN_LEN - 1] = last[bits];
		assert_invalid(text, um_str(text));
	}
}

TEST(white_space_and_nul_are_no_part_of_it)
{
	char text[UM_TOKEN_LEN + 2];

	for (const char *c = " \t\r\n=%+/.";; c++) {
		mint(text, NOW + 1);
		text[UM_TOKEN_LEN] = *c;
		assert_invalid("after",
			(struct um_str){ text, UM_TOKEN_LEN + 1 });
		text[0] = *c;
		assert_invalid("first", (struct um_str){ text, UM_TOKEN_LEN });
		mint(text, NOW + 1);
		text[UM_TOKEN_LEN - 1] = *c;
		assert_invalid("last", (struct um_str){ text, UM_TOKEN_LEN });
		if (*c == '\0')
			break;
	}
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
		cmocka_unit_test(no_other_character_anywhere),
		cmocka_unit_test(no_bit_of_the_text_flipped),
		cmocka_unit_test(exactly_its_length),
		cmocka_unit_test(bits_left_over_must_be_zero),
		cmocka_unit_test(white_space_and_nul_are_no_part_of_it),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
