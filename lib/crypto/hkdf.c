/* SPDX-License-Identifier: MIT */
#include "crypto/hkdf.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

EVP_MAC_CTX *
um_hkdf_new(void)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *ctx = mac != NULL ? EVP_MAC_CTX_new(mac) : NULL;
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
			(char *)"SHA256", 0),
		OSSL_PARAM_construct_end(),
	};

	EVP_MAC_free(mac);
	if (ctx != NULL && EVP_MAC_CTX_set_params(ctx, params) != 1) {
		EVP_MAC_CTX_free(ctx);
		ctx = NULL;
	}
	return ctx;
}

bool
um_hkdf_hmac(uint8_t out[static UM_HKDF_LEN], EVP_MAC_CTX *ctx,
	struct um_str key, struct um_str a, struct um_str b)
{
	size_t len;

	return EVP_MAC_init(ctx, (const uint8_t *)key.ptr, key.len, NULL) == 1
		&& EVP_MAC_update(ctx, (const uint8_t *)a.ptr, a.len) == 1
		&& EVP_MAC_update(ctx, (const uint8_t *)b.ptr, b.len) == 1
		&& EVP_MAC_final(ctx, out, &len, UM_HKDF_LEN) == 1;
}

bool
um_hkdf_sha256(uint8_t out[static UM_HKDF_LEN], EVP_MAC_CTX *ctx,
	struct um_str secret, struct um_str salt, struct um_str info)
{
	static const char zeros[UM_HKDF_LEN]; /* RFC 5869 section 2.2 */
	uint8_t extracted[UM_HKDF_LEN];
	bool ok;

	if (salt.len == 0)
		salt = (struct um_str){ zeros, sizeof(zeros) };
	ok = um_hkdf_hmac(extracted, ctx, salt, secret, um_str(""))
		&& um_hkdf_hmac(out, ctx,
			(struct um_str){ (const char *)extracted,
				sizeof(extracted) },
			info, um_str("\x01"));
	explicit_bzero(extracted, sizeof(extracted));
	return ok;
}
