/* SPDX-License-Identifier: MIT */
#include "signing.h"

#include <stdio.h>
#include <string.h>

#include <openssl/hmac.h>
#include <openssl/pem.h>

#include "support.h"

EVP_PKEY *
key_of_tests(const char *name)
{
	char path[64];
	FILE *file;
	EVP_PKEY *key;

	snprintf(path, sizeof(path), "tests/unit/keys/%s.pem", name);
	file = fopen(path, "re");
	if (file == NULL)
		fail_msg("%s cannot be read", path);
	key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
	fclose(file);
	assert_non_null(key);
	return key;
}

void
sign_text(EVP_PKEY *key, const EVP_MD *digest, struct um_str message,
	char out[static 1024])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	uint8_t signature[600];
	size_t len = sizeof(signature);

	assert_int_equal(EVP_DigestSignInit(ctx, NULL, digest, NULL, key), 1);
	assert_int_equal(EVP_DigestSign(ctx, signature, &len,
				 (const uint8_t *)message.ptr, message.len),
		1);
	EVP_MD_CTX_free(ctx);
	EVP_EncodeBlock((unsigned char *)out, signature, (int)len);
}

void
hmac_hex(char out[static 65], const char *secret, struct um_str text)
{
	uint8_t digest[32];

	assert_non_null(HMAC(EVP_sha256(), secret, (int)strlen(secret),
		(const uint8_t *)text.ptr, text.len, digest, NULL));
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}
