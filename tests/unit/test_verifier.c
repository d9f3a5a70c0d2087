/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "core/encode.h"
#include "signing.h"
#include "support.h"
#include "webhook/verifier.h"

#define JEFE "what do ya want for nothing?"
#define JEFE_SHA256                                                            \
	"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"

/* Whether one signature is right with one key. */
static bool
is_right(enum um_algorithm algorithm, enum um_encoding encoding,
	enum um_key_form form, const char *key, struct um_str message,
	const char *signature)
{
	struct um_verifier *verifier = um_verifier_new(algorithm, encoding);
	struct um_str text = um_str(signature);
	enum um_verify_error error;
	bool ok;

	assert_non_null(verifier);
	error = um_verifier_add_secret(verifier, form, key);
	if (error != UM_VERIFY_OK)
		fail_msg("the key %s", um_verify_error_text(error));
	ok = um_verifier_match(verifier, message, &text, 1, 0) == UM_VERIFY_OK;
	um_verifier_free(verifier);
	return ok;
}

/* RFC 4231, test case 2. */
TEST(hmac)
{
	static const struct {
		enum um_algorithm algorithm;
		const char *mac;
	} cases[] = {
		{ UM_HMAC_SHA256, JEFE_SHA256 },
		{ UM_HMAC_SHA512,
			"164b7a7bfcf819e2e395fbe73b56e0a3"
			"87bd64222e831fd610270cd7ea250554"
			"9758bf75c05a994a6d034f65f8f0e6fd"
			"caeab1a34d4a6b4b636e070a38bce737" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		for (size_t j = 0; j < LENGTH(cases); j++)
			assert_row(cases[j].mac,
				is_right(cases[i].algorithm, UM_HEX,
					UM_KEY_UTF8, "Jefe", STR(JEFE),
					cases[j].mac)
					== (i == j));
	assert_false(is_right(UM_HMAC_SHA256, UM_HEX, UM_KEY_UTF8, "jefe",
		STR(JEFE), cases[0].mac));
	assert_false(is_right(UM_HMAC_SHA256, UM_HEX, UM_KEY_UTF8, "Jefe",
		STR(JEFE "\0"), cases[0].mac));
	assert_false(is_right(UM_HMAC_SHA256, UM_HEX, UM_KEY_UTF8, "Jefe",
		um_str(NULL), cases[0].mac));
}

TEST(forms_of_a_key)
{
	static const struct {
		enum um_key_form form;
		const char *key;
	} cases[] = {
		{ UM_KEY_UTF8, "Jefe" },
		{ UM_KEY_HEX, "4a656665" },
		{ UM_KEY_HEX, "4A656665" },
		{ UM_KEY_BASE64, "SmVmZQ==" },
		{ UM_KEY_BASE64, "SmVmZQ" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i].key,
			is_right(UM_HMAC_SHA256, UM_HEX, cases[i].form,
				cases[i].key, STR(JEFE), JEFE_SHA256));
}

TEST(encodings_of_a_signature)
{
	static const struct {
		enum um_encoding encoding;
		const char *text;
		bool good;
	} cases[] = {
		{ UM_HEX, JEFE_SHA256, true },
		{ UM_HEX,
			"5BDCC146BF60754E6A042426089575C7"
			"5A003F089D2739839DEC58B964EC3843",
			true },
		{ UM_HEX,
			"5Bdcc146bf60754e6a042426089575c7"
			"5a003f089d2739839dec58b964ec3843",
			false },
		{ UM_HEX, JEFE_SHA256 "00", false },
		{ UM_HEX, "5bdcc146bf60754e6a042426089575c75a003f08", false },
		{ UM_HEX,
			"W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=", false },
		{ UM_HEX, "", false },
		{ UM_BASE64,
			"W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=", true },
		{ UM_BASE64, "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM",
			false },
		{ UM_BASE64,
			"W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEN=", false },
		{ UM_BASE64, " W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=",
			false },
		{ UM_BASE64, JEFE_SHA256, false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i].text,
			is_right(UM_HMAC_SHA256, cases[i].encoding, UM_KEY_UTF8,
				"Jefe", STR(JEFE), cases[i].text)
				== cases[i].good);
}

/* A signature with both of the letters that the alphabets differ in. */
TEST(the_alphabet_of_urls_is_refused)
{
	static const char key[] = "hush";
	char standard[64] = "", url[64] = "", message[24];
	bool found = false;

	for (int i = 0; !found && i < 10000; i++) {
		uint8_t mac[32];
		size_t len;

		snprintf(message, sizeof(message), "message %d", i);
		assert_non_null(EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL,
			key, strlen(key), (const uint8_t *)message,
			strlen(message), mac, sizeof(mac), &len));
		um_base64url_encode(url, mac, len);
		found = strchr(url, '-') != NULL && strchr(url, '_') != NULL;
		assert_int_equal(EVP_EncodeBlock((unsigned char *)standard, mac,
					 (int)len),
			44);
	}
	assert_true(found);
	assert_true(is_right(UM_HMAC_SHA256, UM_BASE64, UM_KEY_UTF8, key,
		um_str(message), standard));
	url[43] = '=';
	assert_false(is_right(UM_HMAC_SHA256, UM_BASE64, UM_KEY_UTF8, key,
		um_str(message), url));
}

/* RFC 8032 section 7.1, test 2. */
TEST(ed25519)
{
	static const char public[] = "3d4017c3e843895a92b70aa74d1b7ebc"
				     "9c982ccf2ec4968cc0cd55f12af4660c";
	char signature[] = "92a009a9f0d4cab8720e820b5f642540"
			   "a2b27b5416503f8fb3762223ebdb69da"
			   "085ac1e43e15996e458f3613d0f11d8c"
			   "387b2eaeb4302aeeb00d291612bb0c00";

	assert_true(is_right(UM_ED25519, UM_HEX, UM_KEY_HEX, public, STR("r"),
		signature));
	assert_false(is_right(UM_ED25519, UM_HEX, UM_KEY_HEX, public, STR("s"),
		signature));
	signature[127] = '1';
	assert_false(is_right(UM_ED25519, UM_HEX, UM_KEY_HEX, public, STR("r"),
		signature));
	signature[126] = '\0';
	assert_false(is_right(UM_ED25519, UM_HEX, UM_KEY_HEX, public, STR("r"),
		signature));
}

/* The key's SubjectPublicKeyInfo in base64. */
static void
public_text(EVP_PKEY *key, char out[static 1024])
{
	uint8_t der[600], *at = der;
	int len = i2d_PUBKEY(key, &at);

	assert_in_range(len, 1, sizeof(der));
	EVP_EncodeBlock((unsigned char *)out, der, len);
}

TEST(public_keys)
{
	EVP_PKEY *p256 = EVP_EC_gen("P-256");
	EVP_PKEY *rsa = key_of_tests("rsa-1");
	EVP_PKEY *short_rsa = key_of_tests("rsa-short");
	EVP_PKEY *ed = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	const struct {
		const char *name;
		EVP_PKEY *key;
		enum um_algorithm algorithm;
		const EVP_MD *digest;
		enum um_verify_error error;
	} cases[] = {
		{ "RSA", rsa, UM_RSA_SHA256, EVP_sha256(), UM_VERIFY_OK },
		{ "Ed25519", ed, UM_ED25519, NULL, UM_VERIFY_OK },
		{ "P-256 as RSA", p256, UM_RSA_SHA256, EVP_sha256(),
			UM_VERIFY_KEY_NOT_RSA },
		{ "short RSA", short_rsa, UM_RSA_SHA256, EVP_sha256(),
			UM_VERIFY_KEY_SHORT },
		{ "RSA as Ed25519", rsa, UM_ED25519, EVP_sha256(),
			UM_VERIFY_KEY_NOT_ED25519 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_verifier *verifier =
			um_verifier_new(cases[i].algorithm, UM_BASE64);
		char public[1024], signature[1024];
		enum um_verify_error error;

		row_begin("%s", cases[i].name);
		public_text(cases[i].key, public);
		error = um_verifier_add_secret(verifier, UM_KEY_BASE64, public);
		um_verifier_free(verifier);
		if (cases[i].error != UM_VERIFY_OK) {
			assert_int_equal(error, cases[i].error);
			continue;
		}
		assert_row(cases[i].name, error == UM_VERIFY_OK);
		sign_text(cases[i].key, cases[i].digest, STR("message"),
			signature);
		assert_true(is_right(cases[i].algorithm, UM_BASE64,
			UM_KEY_BASE64, public, STR("message"), signature));
		assert_false(is_right(cases[i].algorithm, UM_BASE64,
			UM_KEY_BASE64, public, STR("messages"), signature));
	}
	EVP_PKEY_free(p256);
	EVP_PKEY_free(rsa);
	EVP_PKEY_free(short_rsa);
	EVP_PKEY_free(ed);
}

/* Another digest than SHA-256 is another algorithm. */
TEST(rsa_with_another_digest_or_padding)
{
	EVP_PKEY *rsa = key_of_tests("rsa-1");
	char public[1024], signature[1024];
	EVP_PKEY_CTX *pss;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	uint8_t bytes[600];
	size_t len = sizeof(bytes);

	public_text(rsa, public);
	sign_text(rsa, EVP_sha1(), STR("m"), signature);
	assert_false(is_right(UM_RSA_SHA256, UM_BASE64, UM_KEY_BASE64, public,
		STR("m"), signature));
	assert_int_equal(EVP_DigestSignInit(ctx, &pss, EVP_sha256(), NULL, rsa),
		1);
	assert_int_equal(EVP_PKEY_CTX_set_rsa_padding(pss,
				 RSA_PKCS1_PSS_PADDING),
		1);
	assert_int_equal(EVP_DigestSign(ctx, bytes, &len, (const uint8_t *)"m",
				 1),
		1);
	EVP_EncodeBlock((unsigned char *)signature, bytes, (int)len);
	assert_false(is_right(UM_RSA_SHA256, UM_BASE64, UM_KEY_BASE64, public,
		STR("m"), signature));
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(rsa);
}

TEST(tokens)
{
	static const struct {
		const char *token;
		bool good;
	} cases[] = {
		{ "open sesame", true },
		{ "open sesam", false },
		{ "open sesame ", false },
		{ "open sesame, open sesame", false },
		{ "Open sesame", false },
		{ "", false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i].token,
			is_right(UM_TOKEN, UM_HEX, UM_KEY_UTF8, "open sesame",
				um_str(NULL), cases[i].token)
				== cases[i].good);
}

TEST(keys_that_are_refused)
{
	static const struct {
		enum um_algorithm algorithm;
		enum um_key_form form;
		const char *key;
		enum um_verify_error error;
	} cases[] = {
		{ UM_HMAC_SHA256, UM_KEY_UTF8, "", UM_VERIFY_KEY_EMPTY },
		{ UM_HMAC_SHA256, UM_KEY_BASE64, "", UM_VERIFY_KEY_EMPTY },
		{ UM_HMAC_SHA256, UM_KEY_BASE64, "*",
			UM_VERIFY_KEY_NOT_BASE64 },
		{ UM_HMAC_SHA256, UM_KEY_BASE64,
			"====", UM_VERIFY_KEY_NOT_BASE64 },
		{ UM_HMAC_SHA256, UM_KEY_HEX, "0", UM_VERIFY_KEY_NOT_HEX },
		{ UM_HMAC_SHA256, UM_KEY_HEX, "zz", UM_VERIFY_KEY_NOT_HEX },
		{ UM_TOKEN, UM_KEY_UTF8, "", UM_VERIFY_KEY_EMPTY },
		{ UM_ED25519, UM_KEY_HEX, "00", UM_VERIFY_KEY_NOT_PUBLIC },
		{ UM_ED25519, UM_KEY_BASE64, "AAAA", UM_VERIFY_KEY_NOT_PUBLIC },
		{ UM_RSA_SHA256, UM_KEY_BASE64,
			"MAA=", UM_VERIFY_KEY_NOT_PUBLIC },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_verifier *verifier =
			um_verifier_new(cases[i].algorithm, UM_HEX);
		enum um_verify_error error = um_verifier_add_secret(verifier,
			cases[i].form, cases[i].key);

		row_begin("%s", cases[i].key);
		assert_int_equal(error, cases[i].error);
		assert_int_equal(um_verifier_count_keys(verifier), 0);
		um_verifier_free(verifier);
	}
	um_verifier_free(NULL);
}

TEST(forms_that_go_with_an_algorithm)
{
	for (int a = UM_HMAC_SHA256; a <= UM_TOKEN; a++)
		for (int f = UM_KEY_UTF8; f <= UM_KEY_CERTIFICATE; f++) {
			bool expected = a == UM_TOKEN ? f == UM_KEY_UTF8
				: a <= UM_HMAC_SHA512 ? f != UM_KEY_CERTIFICATE
						      : f != UM_KEY_UTF8;

			assert_int_equal(um_verifier_accepts_key_form(
						 (enum um_algorithm)a,
						 (enum um_key_form)f),
				expected);
		}
}

TEST(several_keys_and_signatures)
{
	struct um_verifier *verifier = um_verifier_new(UM_HMAC_SHA256, UM_HEX);
	const struct um_str right = um_str(JEFE_SHA256);
	const struct um_str wrong = STR("00112233445566778899aabbccddeeff"
					"00112233445566778899aabbccddeeff");
	struct um_str signatures[UM_SIGNATURES_MAX];

	assert_int_equal(um_verifier_count_keys(verifier), 0);
	signatures[0] = right;
	assert_int_not_equal(um_verifier_match(verifier, STR(JEFE), signatures,
				     1, 0),
		UM_VERIFY_OK);
	for (size_t i = 0; i < UM_VERIFIER_KEYS_MAX; i++)
		assert_int_equal(um_verifier_add_secret(verifier, UM_KEY_UTF8,
					 i + 1 < UM_VERIFIER_KEYS_MAX ? "other"
								      : "Jefe"),
			UM_VERIFY_OK);
	assert_int_equal(um_verifier_count_keys(verifier),
		UM_VERIFIER_KEYS_MAX);
	assert_int_equal(um_verifier_add_secret(verifier, UM_KEY_UTF8, "one"),
		UM_VERIFY_KEYS_TOO_MANY);
	assert_int_equal(um_verifier_match(verifier, STR(JEFE), signatures, 1,
				 0),
		UM_VERIFY_OK);
	assert_int_not_equal(um_verifier_match(verifier, STR(JEFE), signatures,
				     0, 0),
		UM_VERIFY_OK);

	for (size_t i = 0; i < UM_SIGNATURES_MAX; i++)
		signatures[i] = wrong;
	assert_int_not_equal(um_verifier_match(verifier, STR(JEFE), signatures,
				     UM_SIGNATURES_MAX, 0),
		UM_VERIFY_OK);
	signatures[UM_SIGNATURES_MAX - 1] = right;
	assert_int_equal(um_verifier_match(verifier, STR(JEFE), signatures,
				 UM_SIGNATURES_MAX, 0),
		UM_VERIFY_OK);
	/* A malformed one is refused wherever it stands. */
	signatures[0] = STR("no hex");
	assert_int_not_equal(um_verifier_match(verifier, STR(JEFE), signatures,
				     UM_SIGNATURES_MAX, 0),
		UM_VERIFY_OK);
	um_verifier_free(verifier);
}

/* Each costs a verification of its own, whoever has sent them. */
TEST(few_signatures_for_public_keys)
{
	static const char public[] = "3d4017c3e843895a92b70aa74d1b7ebc"
				     "9c982ccf2ec4968cc0cd55f12af4660c";
	static const char right[] = "92a009a9f0d4cab8720e820b5f642540"
				    "a2b27b5416503f8fb3762223ebdb69da"
				    "085ac1e43e15996e458f3613d0f11d8c"
				    "387b2eaeb4302aeeb00d291612bb0c00";
	struct um_verifier *verifier = um_verifier_new(UM_ED25519, UM_HEX);
	struct um_str signatures[UM_SIGNATURES_MAX + 1];

	assert_int_equal(um_verifier_add_secret(verifier, UM_KEY_HEX, public),
		UM_VERIFY_OK);
	for (size_t i = 0; i < LENGTH(signatures); i++)
		signatures[i] = STR("00");
	signatures[UM_PUBLIC_SIGNATURES_MAX - 1] = STR(right);
	assert_int_equal(um_verifier_match(verifier, STR("r"), signatures,
				 UM_PUBLIC_SIGNATURES_MAX, 0),
		UM_VERIFY_OK);
	assert_int_not_equal(um_verifier_match(verifier, STR("r"), signatures,
				     UM_PUBLIC_SIGNATURES_MAX + 1, 0),
		UM_VERIFY_OK);
	assert_int_not_equal(um_verifier_match(verifier, STR("r"), signatures,
				     LENGTH(signatures), 0),
		UM_VERIFY_OK);
	um_verifier_free(verifier);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(hmac),
		cmocka_unit_test(forms_of_a_key),
		cmocka_unit_test(encodings_of_a_signature),
		cmocka_unit_test(the_alphabet_of_urls_is_refused),
		cmocka_unit_test(ed25519),
		cmocka_unit_test(public_keys),
		cmocka_unit_test(rsa_with_another_digest_or_padding),
		cmocka_unit_test(tokens),
		cmocka_unit_test(keys_that_are_refused),
		cmocka_unit_test(forms_that_go_with_an_algorithm),
		cmocka_unit_test(several_keys_and_signatures),
		cmocka_unit_test(few_signatures_for_public_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
