/* SPDX-License-Identifier: MIT */
/* Sets of public keys, and each key that is or is not taken from one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jose.h"
#include "support.h"

#define P256_X "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\""
#define P256_Y "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\""
#define P256 "\"kty\":\"EC\",\"crv\":\"P-256\"," P256_X "," P256_Y
#define ED25519                                                                \
	"\"kty\":\"OKP\",\"crv\":\"Ed25519\","                                 \
	"\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\""

/* Whether a set of this key and a good one has this one, too. */
static bool
takes(const char *jwk)
{
	struct um_jwks *jwks;
	bool took;

	jwks = jose_parse(jose_set(strdup(jwk),
		strdup("{" ED25519 ",\"kid\":\"good\"}"), (char *)NULL));
	took = um_jwks_count(jwks) == 2;
	um_jwks_free(jwks);
	return took;
}

TEST(which_keys_are_taken)
{
	static const struct {
		const char *jwk;
		bool good;
	} rows[] = {
		{ "{" P256 "}", true },
		{ "{" P256 ",\"kid\":\"1\",\"alg\":\"ES256\",\"use\":\"sig\"}",
			true },
		{ "{" P256 ",\"x5c\":[\"?\"],\"unknown\":{}}", true },
		{ "{" P256 ",\"key_ops\":[\"sign\",\"verify\"]}", true },
		{ "{" ED25519 ",\"alg\":\"EdDSA\"}", true },
		/* for something else */
		{ "{" P256 ",\"use\":\"enc\"}", false },
		{ "{" P256 ",\"use\":1}", false },
		{ "{" P256 ",\"key_ops\":[\"encrypt\"]}", false },
		{ "{" P256 ",\"key_ops\":\"verify\"}", false },
		{ "{" P256 ",\"alg\":\"ES384\"}", false },
		{ "{" P256 ",\"alg\":\"ECDH-ES\"}", false },
		{ "{" P256 ",\"alg\":\"HS256\"}", false },
		{ "{" P256 ",\"alg\":\"none\"}", false },
		{ "{" P256 ",\"alg\":\"RS256\"}", false },
		{ "{" P256 ",\"alg\":null}", false },
		{ "{" ED25519 ",\"alg\":\"ES256\"}", false },
		/* of another kind */
		{ "{\"kty\":\"EC\",\"crv\":\"P-384\"," P256_X "," P256_Y "}",
			false },
		{ "{\"kty\":\"EC\"," P256_X "," P256_Y "}", false },
		{ "{\"kty\":\"AKP\",\"pub\":\"AAAA\"}", false },
		{ "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":"
		  "\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}",
			false },
		{ "{}", false },
		{ "[]", false },
		{ "7", false },
		/* malformed */
		{ "{" P256 ",\"kid\":7}", false },
		{ "{\"kty\":\"EC\",\"crv\":\"P-256\"," P256_X "}", false },
		{ "{\"kty\":\"EC\",\"crv\":\"P-256\"," P256_X ",\"y\":7}",
			false },
		{ "{\"kty\":\"EC\",\"crv\":\"P-256\"," P256_X
		  ",\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0=\"}",
			false },
		{ "{\"kty\":\"EC\",\"crv\":\"P-256\"," P256_X
		  ",\"y\":\"AMfxRM0bvZt-hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt\"}",
			false },
		/* off the curve */
		{ "{\"kty\":\"EC\",\"crv\":\"P-256\"," P256_X
		  ",\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a4\"}",
			false },
		{ "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}",
			false },
		{ "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}", false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_row(rows[i].jwk, takes(rows[i].jwk) == rows[i].good);
}

/* A JWK with a modulus of so many bytes, the first of them `first`. */
static char *
rsa(size_t len, const char *first, const char *exponent)
{
	char modulus[2048], *jwk = NULL;

	memset(modulus, '_', sizeof(modulus));
	memcpy(modulus, first, strlen(first));
	snprintf(modulus + (len * 8 + 5) / 6 - 1, 2, "%s",
		len % 3 == 0           ? "_"
			: len % 3 == 1 ? "w"
				       : "8");
	assert_true(
		asprintf(&jwk, "{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"}",
			modulus, exponent)
		> 0);
	return jwk;
}

TEST(size_and_exponent_of_an_rsa_key)
{
	static const struct {
		const char *label;
		size_t len;
		const char *first, *exponent;
		bool good;
	} rows[] = {
		{ "1024 bits", 128, "_", "AQAB", false },
		{ "2047 bits", 256, "f", "AQAB", false },
		{ "2048 bits", 256, "_", "AQAB", true },
		{ "2048 bits after a zero", 257, "AP", "AQAB", true },
		{ "2048 bits, exponent 3", 256, "_", "Aw", true },
		{ "4096 bits", 512, "_", "AQAB", true },
		{ "4096 bits after a zero", 513, "AP", "AQAB", true },
		{ "4104 bits", 513, "_", "AQAB", false },
		{ "8192 bits", 1024, "_", "AQAB", false },
		{ "exponent 1", 256, "_", "AQ", false },
		{ "even exponent", 256, "_", "AQAA", false },
		{ "exponent of 33 bits", 256, "_", "AQAAAAE", false },
		{ "no exponent", 256, "_", "", false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		char *jwk = rsa(rows[i].len, rows[i].first, rows[i].exponent);

		assert_row(rows[i].label, takes(jwk) == rows[i].good);
		free(jwk);
	}
}

/* A kid of this length. */
static bool
takes_kid(size_t len)
{
	char jwk[2048];

	snprintf(jwk, sizeof(jwk), "{" P256 ",\"kid\":\"%0*d\"}", (int)len, 0);
	return takes(jwk);
}

TEST(length_of_a_kid)
{
	assert_true(takes_kid(UM_KID_MAX));
	assert_false(takes_kid(UM_KID_MAX + 1));
}

TEST(sets_that_are_refused)
{
	static const char private_set[] =
		"has a private or a symmetric key, which has no place in a set "
		"of public keys";
	static const char no_keys[] =
		"is not a set of keys: it has no array `keys`";
	static const char none[] = "has no key that can verify a signature";
	static const struct {
		const char *set, *reason;
	} rows[] = {
		{ "", "is empty, after byte 0" },
		{ "<html>", "is not a JSON object or array, after byte 0" },
		{ "{\"keys\":[{" P256 "}]} x",
			"is not a JSON object or array, after byte 138" },
		{ "[{" P256 "}]", no_keys },
		{ "{\"keys\":{" P256 "}}", no_keys },
		{ "{\"error\":\"rate limit\"}", no_keys },
		{ "{\"keys\":[]}", none },
		{ "{\"keys\":[{" P256 ",\"use\":\"enc\"}]}", none },
		{ "{\"keys\":[{" P256 ",\"d\":\"AAAA\"}]}", private_set },
		{ "{\"keys\":[{" P256 "},{\"kty\":\"oct\",\"k\":\"AAAA\"}]}",
			private_set },
		{ "{\"keys\":[{" P256 ",\"kid\":\"a\"},{" P256
		  ",\"kid\":\"a\"}]}",
			"has two keys that a token cannot choose between" },
		{ "{\"keys\":[{" P256 "},{" P256 "}]}",
			"has two keys that a token cannot choose between" },
		{ "{\"keys\":[],\"keys\":[{" P256 "}]}",
			"has an object with a name twice, after byte" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_error err = { "" };
		struct um_jwks *jwks = (struct um_jwks *)&err;

		row_begin("%s", rows[i].set);
		assert_false(um_jwks_parse(&jwks, um_str(rows[i].set), &err));
		assert_null(jwks);
		assert_error(&err, rows[i].reason);
	}
}

/* The same kid is fine for keys that no signature could confuse. */
TEST(one_kid_for_two_types)
{
	struct um_jwks *jwks = jose_parse(
		jose_set(strdup("{" P256 ",\"kid\":\"a\"}"),
			strdup("{" ED25519 ",\"kid\":\"a\"}"), (char *)NULL));

	assert_non_null(um_jwks_find(jwks, UM_JWS_ES256, um_str("a")));
	assert_non_null(um_jwks_find(jwks, UM_JWS_EDDSA, um_str("a")));
	assert_ptr_not_equal(um_jwks_find(jwks, UM_JWS_ES256, um_str("a")),
		um_jwks_find(jwks, UM_JWS_EDDSA, um_str("a")));
	assert_null(um_jwks_find(jwks, UM_JWS_RS256, um_str("a")));
	um_jwks_free(jwks);
}

TEST(which_key_a_token_means)
{
	struct um_jwks *jwks = jose_parse(jose_set(strdup("{" P256 "}"),
		strdup("{" P256 ",\"kid\":\"\"}"),
		strdup("{" ED25519 ",\"kid\":\"e\"}"), (char *)NULL));

	/* Without a kid: where it is the only one. */
	assert_null(um_jwks_find(jwks, UM_JWS_ES256, um_str(NULL)));
	assert_non_null(um_jwks_find(jwks, UM_JWS_EDDSA, um_str(NULL)));
	/* With one: never the key that has none. */
	assert_null(um_jwks_find(jwks, UM_JWS_ES256, um_str("x")));
	assert_true(um_jwks_find(jwks, UM_JWS_ES256, um_str(""))->has_kid);
	assert_null(um_jwks_find(jwks, UM_JWS_EDDSA, um_str("E")));
	assert_null(um_jwks_find(jwks, UM_JWS_EDDSA, STR("e\0")));
	um_jwks_free(jwks);
	jwks = jose_parse(jose_set(strdup("{" P256 "}"), (char *)NULL));
	assert_null(um_jwks_find(jwks, UM_JWS_ES256, um_str("")));
	um_jwks_free(jwks);
}

/* The JWK of an RSA key verifies both kinds of signatures, or the one it says. */
TEST(algorithm_of_an_rsa_key)
{
	static const struct {
		const char *members;
		bool rs256, ps256;
	} rows[] = {
		{ NULL, true, true },
		{ "\"alg\":\"RS256\"", true, false },
		{ "\"alg\":\"PS256\"", false, true },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_jwks *jwks = jose_parse(
			jose_set(jose_jwk(jose_key(UM_JWS_RS256, false),
					 rows[i].members),
				(char *)NULL));

		row_begin("%zu", i);
		assert_int_equal(um_jwks_find(jwks, UM_JWS_RS256, um_str(NULL))
				!= NULL,
			rows[i].rs256);
		assert_int_equal(um_jwks_find(jwks, UM_JWS_PS256, um_str(NULL))
				!= NULL,
			rows[i].ps256);
		assert_null(um_jwks_find(jwks, UM_JWS_ES256, um_str(NULL)));
		um_jwks_free(jwks);
	}
}

/* A set with so many keys; the last one is good. */
static bool
takes_many(size_t count, struct um_error *err)
{
	struct um_buf set = { 0 };
	struct um_jwks *jwks;
	bool took;

	um_buf_puts(&set, "{\"keys\":[");
	for (size_t i = 1; i < count; i++)
		um_buf_puts(&set, "{},");
	um_buf_puts(&set, "{" P256 "}]}");
	took = um_jwks_parse(&jwks, um_buf_str(&set), err);
	um_jwks_free(jwks);
	um_buf_free(&set);
	return took;
}

TEST(too_many_keys)
{
	struct um_error err;

	assert_true(takes_many(UM_JWKS_MAX, &err));
	assert_false(takes_many(UM_JWKS_MAX + 1, &err));
	assert_error(&err, "has more than 64 keys");
	assert_false(takes_many(10000, &err));
	assert_error(&err, "has too many values and names");
	assert_false(takes_many(100000, &err));
	assert_error(&err, "is over 131072 bytes");
}

TEST(a_file)
{
	struct um_jwks *jwks;
	struct um_error err;
	char *path = file_make(um_str("{\"keys\":[{" P256 "}]}"), 0644);
	char *text;

	assert_true(um_jwks_load(&jwks, path, &err));
	assert_int_equal(um_jwks_count(jwks), 1);
	um_jwks_free(jwks);
	file_remove(path);
	assert_false(um_jwks_load(&jwks, "/nowhere/jwks.json", &err));
	assert_error(&err, "/nowhere/jwks.json: No such file or directory");
	path = file_make(um_str("{}"), 0644);
	assert_false(um_jwks_load(&jwks, path, &err));
	assert_true(asprintf(&text,
			    "%s: is not a set of keys: it has no array `keys`",
			    path)
		> 0);
	assert_error(&err, text);
	free(text);
	file_remove(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_keys_are_taken),
		cmocka_unit_test(size_and_exponent_of_an_rsa_key),
		cmocka_unit_test(length_of_a_kid),
		cmocka_unit_test(sets_that_are_refused),
		cmocka_unit_test(one_kid_for_two_types),
		cmocka_unit_test(which_key_a_token_means),
		cmocka_unit_test(algorithm_of_an_rsa_key),
		cmocka_unit_test(too_many_keys),
		cmocka_unit_test(a_file),
	};

	return cmocka_run_group_tests(tests, NULL, jose_tear_down);
}
