/* SPDX-License-Identifier: MIT */
#include "jose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/rsa.h>

#include "core/encode.h"
#include "signing.h"
#include "support.h"

static EVP_PKEY *made[UM_JWS_ALGS][2];

EVP_PKEY *
jose_key(enum um_jws_alg alg, bool other)
{
	EVP_PKEY **key;

	if (alg == UM_JWS_PS256)
		alg = UM_JWS_RS256;
	key = &made[alg][other];
	if (*key == NULL && alg == UM_JWS_RS256)
		*key = key_of_tests(other ? "rsa-2" : "rsa-1");
	else if (*key == NULL && alg == UM_JWS_ES256)
		*key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	else if (*key == NULL)
		*key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	assert_non_null(*key);
	return *key;
}

int
jose_tear_down(void **state)
{
	(void)state;
	for (int alg = 0; alg < UM_JWS_ALGS; alg++)
		for (int i = 0; i < 2; i++) {
			EVP_PKEY_free(made[alg][i]);
			made[alg][i] = NULL;
		}
	return 0;
}

/* A number of the key as base64url, `len` bytes, or as few as it has for 0. */
static void
number_of(char out[static 1024], const EVP_PKEY *key, const char *name,
	size_t len)
{
	uint8_t bytes[512];
	BIGNUM *number = NULL;

	assert_int_equal(EVP_PKEY_get_bn_param(key, name, &number), 1);
	if (len == 0)
		len = (size_t)BN_num_bytes(number);
	assert_int_equal(BN_bn2binpad(number, bytes, (int)len), (int)len);
	BN_free(number);
	um_base64url_encode(out, bytes, len);
}

char *
jose_jwk(EVP_PKEY *key, const char *members)
{
	const char *comma = members != NULL ? "," : "";
	char a[1024], b[1024], *text = NULL;

	if (members == NULL)
		members = "";
	if (EVP_PKEY_is_a(key, "RSA")) {
		number_of(a, key, OSSL_PKEY_PARAM_RSA_N, 0);
		number_of(b, key, OSSL_PKEY_PARAM_RSA_E, 0);
		assert_true(asprintf(&text,
				    "{\"kty\":\"RSA\",\"n\":\"%s\","
				    "\"e\":\"%s\"%s%s}",
				    a, b, comma, members)
			> 0);
	} else if (EVP_PKEY_is_a(key, "EC")) {
		number_of(a, key, OSSL_PKEY_PARAM_EC_PUB_X, 32);
		number_of(b, key, OSSL_PKEY_PARAM_EC_PUB_Y, 32);
		assert_true(asprintf(&text,
				    "{\"kty\":\"EC\",\"crv\":\"P-256\","
				    "\"x\":\"%s\",\"y\":\"%s\"%s%s}",
				    a, b, comma, members)
			> 0);
	} else {
		uint8_t bytes[32];
		size_t len = sizeof(bytes);

		assert_int_equal(EVP_PKEY_get_raw_public_key(key, bytes, &len),
			1);
		um_base64url_encode(a, bytes, len);
		assert_true(asprintf(&text,
				    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\","
				    "\"x\":\"%s\"%s%s}",
				    a, comma, members)
			> 0);
	}
	return text;
}

char *
jose_set(char *jwk, ...)
{
	struct um_buf set = { 0 };
	va_list args;

	va_start(args, jwk);
	for (; jwk != NULL; jwk = va_arg(args, char *)) {
		um_buf_cat(&set, set.len == 0 ? "{\"keys\":[" : ",", jwk);
		free(jwk);
	}
	va_end(args);
	um_buf_put(&set, "]}", 3);
	assert_false(set.failed);
	return set.ptr;
}

struct um_jwks *
jose_parse(char *set)
{
	struct um_jwks *jwks = NULL;
	struct um_error err;

	if (!um_jwks_parse(&jwks, um_str(set), &err))
		fail_msg("%s", err.text);
	free(set);
	return jwks;
}

/* r and s, 32 bytes each, of a signature as DER. */
static size_t
raw_of_der(uint8_t *signature, size_t len)
{
	const uint8_t *at = signature;
	ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &at, (long)len);

	assert_non_null(pair);
	assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, 32),
		32);
	assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + 32,
				 32),
		32);
	ECDSA_SIG_free(pair);
	return 64;
}

static void
put_base64url(struct um_buf *out, const void *bytes, size_t len)
{
	char *text = malloc(UM_BASE64_LEN(len) + 1);

	assert_non_null(text);
	um_base64url_encode(text, bytes, len);
	um_buf_puts(out, text);
	free(text);
}

char *
jose_token(EVP_PKEY *key, enum um_jws_alg alg, const char *header,
	const char *payload)
{
	const EVP_MD *digest = alg == UM_JWS_EDDSA ? NULL : EVP_sha256();
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	struct um_buf token = { 0 };
	uint8_t signature[512];
	size_t len = sizeof(signature);
	EVP_PKEY_CTX *key_ctx;

	put_base64url(&token, header, strlen(header));
	um_buf_puts(&token, ".");
	put_base64url(&token, payload, strlen(payload));
	assert_int_equal(EVP_DigestSignInit(ctx, &key_ctx, digest, NULL, key),
		1);
	if (alg == UM_JWS_PS256) {
		assert_int_equal(EVP_PKEY_CTX_set_rsa_padding(key_ctx,
					 RSA_PKCS1_PSS_PADDING),
			1);
		assert_int_equal(EVP_PKEY_CTX_set_rsa_pss_saltlen(key_ctx,
					 RSA_PSS_SALTLEN_DIGEST),
			1);
	}
	assert_int_equal(EVP_DigestSign(ctx, signature, &len,
				 (const uint8_t *)token.ptr, token.len),
		1);
	EVP_MD_CTX_free(ctx);
	if (alg == UM_JWS_ES256)
		len = raw_of_der(signature, len);
	um_buf_puts(&token, ".");
	put_base64url(&token, signature, len);
	um_buf_put(&token, "", 1);
	assert_false(token.failed);
	return token.ptr;
}
