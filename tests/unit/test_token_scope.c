/* SPDX-License-Identifier: MIT */
/* What a token is good for: one purpose, provider, time, browser, owner. */
#include <string.h>

#include "support.h"

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

TEST(good_for_one_purpose_and_one_provider)
{
	static const char *const providers[] = { "demo", "dem", "demo2", "Demo",
		"", "other" };
	static const enum um_purpose purposes[] = { UM_PURPOSE_CONNECT,
		UM_PURPOSE_RETURN, UM_PURPOSE_CANCEL, UM_PURPOSE_WEBHOOK };
	char text[UM_TOKEN_LEN + 1];
	struct um_token token;

	for (size_t minted = 0; minted < LENGTH(purposes); minted++) {
		row_begin("purpose %d", (int)purposes[minted]);
		assert_true(um_token_mint(text, &sample, keys, purposes[minted],
			"demo", nonce));
		for (size_t p = 0; p < LENGTH(purposes); p++)
			for (size_t n = 0; n < LENGTH(providers); n++)
				assert_row(providers[n],
					um_token_open(&token, um_str(text),
						keys, purposes[p], providers[n],
						NOW)
						== (p == minted && n == 0
								? UM_TOKEN_GOOD
								: UM_TOKEN_INVALID));
	}
}

TEST(a_providers_name_has_its_limit)
{
	char name[UM_PROVIDER_MAX + 2];
	char text[UM_TOKEN_LEN + 1];
	struct um_token token;

	memset(name, 'p', sizeof(name));
	name[UM_PROVIDER_MAX] = '\0';
	assert_true(um_token_mint(text, &sample, keys, UM_PURPOSE_CONNECT, name,
		nonce));
	assert_int_equal(um_token_open(&token, um_str(text), keys,
				 UM_PURPOSE_CONNECT, name, NOW),
		UM_TOKEN_GOOD);
	name[UM_PROVIDER_MAX] = 'p';
	name[UM_PROVIDER_MAX + 1] = '\0';
	assert_false(um_token_mint(text, &sample, keys, UM_PURPOSE_CONNECT,
		name, nonce));
	assert_int_equal(um_token_open(&token, um_str(text), keys,
				 UM_PURPOSE_CONNECT, name, NOW),
		UM_TOKEN_INVALID);
}

TEST(good_until_the_second_before_its_expiry)
{
	static const struct {
		int64_t expires;
		int64_t now;
		enum um_token_state state;
	} cases[] = {
		{ NOW + 1, NOW, UM_TOKEN_GOOD },
		{ NOW, NOW, UM_TOKEN_EXPIRED },
		{ NOW - 1, NOW, UM_TOKEN_EXPIRED },
		{ 1, 0, UM_TOKEN_GOOD },
		{ 0, 0, UM_TOKEN_EXPIRED },
		{ INT64_MAX, NOW, UM_TOKEN_GOOD },
		{ INT64_MAX, INT64_MAX, UM_TOKEN_EXPIRED },
		/* As a number without sign it is over the limit, not below 0. */
		{ -1, NOW, UM_TOKEN_GOOD },
	};
	char text[UM_TOKEN_LEN + 1];
	struct um_token token;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		row_begin("expires %jd, at %jd", (intmax_t)cases[i].expires,
			(intmax_t)cases[i].now);
		mint(text, cases[i].expires);
		assert_int_equal(open_at(&token, um_str(text), cases[i].now),
			cases[i].state);
		assert_memory_equal(token.id, sample.id, UM_UUID_LEN);
	}
}

/* Rotation: the new key on top mints, the old one opens until it is dropped. */
TEST(any_key_of_the_file_opens)
{
	static const char old[] =
		"1 ERERERERERERERERERERERERERERERERERERERERERE\n";
	static const char both[] =
		"2 IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI\n"
		"1 ERERERERERERERERERERERERERERERERERERERERERE\n";
	static const char new[] =
		"2 IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI\n";
	static const char same_kid[] =
		"1 IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI\n";
	static const char least_kid[] =
		"0 ERERERERERERERERERERERERERERERERERERERERERE\n";
	static const struct {
		const char *mints;
		const char *opens;
		enum um_token_state state;
	} cases[] = {
		{ least_kid, least_kid, UM_TOKEN_GOOD },
		{ old, both, UM_TOKEN_GOOD },
		{ both, new, UM_TOKEN_GOOD },
		{ both, old, UM_TOKEN_UNKNOWN_KEY },
		{ old, new, UM_TOKEN_UNKNOWN_KEY },
		{ old, same_kid, UM_TOKEN_INVALID },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_keys *minting = keys_of(cases[i].mints);
		struct um_keys *opening = keys_of(cases[i].opens);
		char text[UM_TOKEN_LEN + 1];
		struct um_token token;

		row_begin("%zu", i);
		assert_true(um_token_mint(text, &sample, minting,
			UM_PURPOSE_CONNECT, "demo", nonce));
		assert_int_equal(um_token_open(&token, um_str(text), opening,
					 UM_PURPOSE_CONNECT, "demo", NOW),
			cases[i].state);
		um_keys_free(minting);
		um_keys_free(opening);
	}
}

TEST(a_bound_token_is_for_one_cookie)
{
	struct um_token token = sample;

	um_browser_digest(token.browser, keys, STR("AAECAwQFBgcICQoLDA0ODw"));
	assert_true(um_token_is_bound(&token));
	assert_true(um_token_fits_browser(&token, keys,
		STR("AAECAwQFBgcICQoLDA0ODw")));
	assert_false(um_token_fits_browser(&token, keys,
		STR("AAECAwQFBgcICQoLDA0OD")));
	assert_false(um_token_fits_browser(&token, keys,
		STR("aAECAwQFBgcICQoLDA0ODw")));
	assert_false(um_token_fits_browser(&token, keys, STR("")));
	assert_false(um_token_fits_browser(&token, keys, um_str(NULL)));
	for (size_t i = 0; i < UM_BROWSER_LEN; i++) {
		token.browser[i] ^= 1;
		assert_false(um_token_fits_browser(&token, keys,
			STR("AAECAwQFBgcICQoLDA0ODw")));
		token.browser[i] ^= 1;
	}

	memset(token.browser, 0, sizeof(token.browser));
	assert_false(um_token_is_bound(&token));
	assert_true(um_token_fits_browser(&token, keys, STR("anything")));
	assert_true(um_token_fits_browser(&token, keys, um_str(NULL)));
	for (size_t i = 0; i < UM_BROWSER_LEN; i++) {
		token.browser[i] = 1;
		assert_true(um_token_is_bound(&token));
		token.browser[i] = 0;
	}
}

/* The hash of no cookie is a hash: it must not serve those who have none. */
TEST(no_cookie_fits_no_bound_token)
{
	struct um_token token = sample;

	um_browser_digest(token.browser, keys, STR(""));
	assert_true(um_token_is_bound(&token));
	assert_false(um_token_fits_browser(&token, keys, STR("")));
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
		cmocka_unit_test(good_for_one_purpose_and_one_provider),
		cmocka_unit_test(a_providers_name_has_its_limit),
		cmocka_unit_test(good_until_the_second_before_its_expiry),
		cmocka_unit_test(any_key_of_the_file_opens),
		cmocka_unit_test(a_bound_token_is_for_one_cookie),
		cmocka_unit_test(no_cookie_fits_no_bound_token),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
