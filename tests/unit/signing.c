/* SPDX-License-Identifier: MIT */
#include "signing.h"

#include "support.h"

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
