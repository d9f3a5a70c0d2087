/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/encode.h"
#include "crypto/envelope.h"
#include "crypto/ticket.h"
#include "support.h"

#define VECTORS "tests/vectors/ticket.json"
#define NOW INT64_C(1800000000)
#define BYTES_MAX 1024

static struct um_keys *keys;

static bool
opens(char subject[static UM_SUBJECT_MAX + 1], struct um_str text, int64_t now)
{
	memset(subject, 'x', UM_SUBJECT_MAX);
	subject[UM_SUBJECT_MAX] = '\0';
	return um_ticket_open(subject, text, keys, now);
}

/* Seals `plain` as a ticket is sealed, with the right or a wrong context. */
static char *
seal(const uint8_t *plain, size_t len, const char *info, struct um_str context)
{
	static const uint8_t nonce[UM_NONCE_LEN] = { 9, 8, 7 };
	uint8_t bytes[BYTES_MAX];
	uint8_t derived[UM_KEY_LEN];
	char *text = malloc(UM_BASE64_LEN(BYTES_MAX) + 1);

	assert_non_null(text);
	assert_true(um_keys_derive(derived, keys, um_keys_minting(keys),
		um_str(NULL), um_str(info)));
	assert_true(um_envelope_seal(bytes, 1, keys, derived, nonce, context,
		(struct um_str){ (const char *)plain, len }));
	um_base64url_encode(text, bytes, UM_ENVELOPE_OVERHEAD + len);
	return text;
}

#define CONTEXT STR("ticket")
#define INFO "urlmode ticket v1"

static char *
ticket(int64_t expires, struct um_str subject)
{
	uint8_t plain[BYTES_MAX];

	for (int i = 0; i < 8; i++)
		plain[i] = (uint8_t)((uint64_t)expires >> (56 - 8 * i));
	assert_true(subject.len <= sizeof(plain) - 64);
	memcpy(plain + 8, subject.ptr, subject.len);
	return seal(plain, 8 + subject.len, INFO, CONTEXT);
}

TEST(vectors_of_the_node_package)
{
	json_error_t err;
	json_t *root = json_load_file(VECTORS, 0, &err);
	const json_t *vector;
	size_t index;

	assert_non_null(root);
	json_array_foreach (json_object_get(root, "ticket"), index, vector) {
		char subject[UM_SUBJECT_MAX + 1];
		struct um_str text = um_str(vector_text(vector, "ticket"));
		int64_t expires = json_integer_value(
			json_object_get(vector, "expires"));
		const char *hex = vector_text(vector, "secret_hex");
		uint8_t secret[UM_SECRET_MAX];
		char *line;

		bytes_of_hex(secret, strlen(hex) / 2, hex);
		line = keys_line((int)json_integer_value(
					 json_object_get(vector, "kid")),
			secret, strlen(hex) / 2);
		um_keys_free(keys);
		keys = keys_of(line);
		free(line);
		assert_true(opens(subject, text, expires - 1));
		assert_string_equal(subject, vector_text(vector, "subject"));
		assert_false(opens(subject, text, expires));
	}
	assert_true(index > 0);
	json_decref(root);
}

TEST(good_until_its_expiry)
{
	char *text = ticket(NOW, um_str("ada"));
	char subject[UM_SUBJECT_MAX + 1];

	assert_true(opens(subject, um_str(text), NOW - 1));
	assert_string_equal(subject, "ada");
	assert_false(opens(subject, um_str(text), NOW));
	assert_false(opens(subject, um_str(text), NOW + 1));
	assert_false(opens(subject, um_str(text), -1));
	free(text);
}

TEST(an_expiry_beyond_all_time)
{
	char *text = ticket(-1, um_str("ada"));
	char subject[UM_SUBJECT_MAX + 1];

	assert_true(opens(subject, um_str(text), INT64_MAX));
	free(text);
}

/* A subject of any length up to its limit, and none over it. */
TEST(length_of_the_subject)
{
	char name[UM_SUBJECT_MAX + 2];
	char subject[UM_SUBJECT_MAX + 1];

	memset(name, 'a', sizeof(name));
	for (size_t len = 0; len <= UM_SUBJECT_MAX + 1; len++) {
		char *text = ticket(NOW, (struct um_str){ name, len });

		assert_int_equal(opens(subject, um_str(text), NOW - 1),
			len > 0 && len <= UM_SUBJECT_MAX);
		if (len > 0 && len <= UM_SUBJECT_MAX)
			assert_int_equal(strlen(subject), len);
		free(text);
	}
}

TEST(a_subject_that_is_no_text)
{
	const struct um_str subjects[] = {
		STR("ada\0mallory"),
		STR("\0"),
		STR("\xc3\x28"),
		STR("\xff"),
		STR("\xed\xa0\x80"),
	};
	char subject[UM_SUBJECT_MAX + 1];

	for (size_t i = 0; i < LENGTH(subjects); i++) {
		char *text = ticket(NOW, subjects[i]);

		row_begin("%zu", i);
		assert_false(opens(subject, um_str(text), NOW - 1));
		free(text);
	}
}

TEST(every_single_bit_counts)
{
	char *text = ticket(NOW, um_str("ada@example.org"));
	uint8_t bytes[BYTES_MAX];
	char subject[UM_SUBJECT_MAX + 1];
	size_t len = strlen(text) * 6 / 8;

	assert_true(um_base64url_decode(bytes, len, um_str(text)));
	for (size_t bit = 0; bit < 8 * len; bit++) {
		char changed[UM_BASE64_LEN(BYTES_MAX) + 1];

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		um_base64url_encode(changed, bytes, len);
		assert_false(opens(subject, um_str(changed), NOW - 1));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t bit = 0; bit < 8 * strlen(text); bit++) {
		text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
		assert_false(opens(subject, um_str(text), NOW - 1));
		text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
	}
	assert_true(opens(subject, um_str(text), NOW - 1));
	free(text);
}

TEST(cut_short_or_long)
{
	char *text = ticket(NOW, um_str("ada"));
	char *longer;
	char subject[UM_SUBJECT_MAX + 1];

	for (size_t len = 0; len < strlen(text); len++)
		assert_false(
			opens(subject, (struct um_str){ text, len }, NOW - 1));
	for (const char *tail = "A=. %"; *tail != '\0'; tail++) {
		assert_true(asprintf(&longer, "%s%c", text, *tail) > 0);
		assert_false(opens(subject, um_str(longer), NOW - 1));
		free(longer);
	}
	assert_false(opens(subject, um_str(NULL), NOW - 1));
	free(text);
}

/* Neither a state token nor a result of the same key is a ticket. */
TEST(sealed_for_something_else)
{
	static const uint8_t plain[] = { 0, 0, 0, 0, 0xff, 0, 0, 0, 'a', 'd',
		'a' };
	const struct {
		const char *info;
		struct um_str context;
	} others[] = {
		{ "urlmode state v1", CONTEXT },
		{ "urlmode result v1", CONTEXT },
		{ INFO, STR("") },
		{ INFO, STR("Ticket") },
		{ INFO, STR("connect\0demo") },
		{ INFO, STR("ticket\0") },
	};
	char subject[UM_SUBJECT_MAX + 1];
	char *text = seal(plain, sizeof(plain), INFO, CONTEXT);

	assert_true(opens(subject, um_str(text), NOW));
	free(text);
	for (size_t i = 0; i < LENGTH(others); i++) {
		row_begin("%s, %s", others[i].info, others[i].context.ptr);
		text = seal(plain, sizeof(plain), others[i].info,
			others[i].context);
		assert_false(opens(subject, um_str(text), NOW));
		free(text);
	}
}

TEST(a_key_that_is_not_there)
{
	char *text = ticket(NOW, um_str("ada"));
	char subject[UM_SUBJECT_MAX + 1];
	static const uint8_t secret[32] = { 2 };
	char *line = keys_line(1, secret, sizeof(secret));

	um_keys_free(keys);
	keys = keys_of(line);
	free(line);
	assert_false(opens(subject, um_str(text), NOW - 1));
	free(text);
}

static int
set_up(void **state)
{
	static const uint8_t secret[32] = { 1 };
	char *line = keys_line(1, secret, sizeof(secret));

	(void)state;
	um_keys_free(keys);
	keys = keys_of(line);
	free(line);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	um_keys_free(keys);
	keys = NULL;
	return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(vectors_of_the_node_package),
		CASE(good_until_its_expiry),
		CASE(an_expiry_beyond_all_time),
		CASE(length_of_the_subject),
		CASE(a_subject_that_is_no_text),
		CASE(every_single_bit_counts),
		CASE(cut_short_or_long),
		CASE(sealed_for_something_else),
		CASE(a_key_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
