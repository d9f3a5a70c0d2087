/* SPDX-License-Identifier: MIT */
#include "crypto/binding.h"

#include <string.h>

#include <openssl/evp.h>

#include "core/encode.h"

/* SHA-256(label 00 a [00 b]). */
static bool
sha256_of(uint8_t out[static EVP_MAX_MD_SIZE], const struct um_keys *keys,
	const char *label, struct um_str a, const struct um_str *b)
{
	EVP_MD_CTX *ctx = um_keys_sha256(keys);

	return EVP_DigestInit_ex(ctx, NULL, NULL) == 1
		&& EVP_DigestUpdate(ctx, label, strlen(label) + 1) == 1
		&& EVP_DigestUpdate(ctx, a.ptr, a.len) == 1
		&& (b == NULL
			|| (EVP_DigestUpdate(ctx, "", 1) == 1
				&& EVP_DigestUpdate(ctx, b->ptr, b->len) == 1))
		&& EVP_DigestFinal_ex(ctx, out, NULL) == 1;
}

/* Its first 16 bytes. */
static void
digest(uint8_t out[static 16], const struct um_keys *keys, const char *label,
	struct um_str a, const struct um_str *b)
{
	uint8_t sha256[EVP_MAX_MD_SIZE];

	if (!sha256_of(sha256, keys, label, a, b))
		memset(sha256, 0xff, sizeof(sha256));
	memcpy(out, sha256, 16);
}

void
um_binding_digest(uint8_t out[static UM_BINDING_LEN],
	const struct um_keys *keys, struct um_str subject,
	struct um_str session)
{
	digest(out, keys, UM_BINDING_LABEL, subject, &session);
}

void
um_browser_digest(uint8_t out[static UM_BROWSER_LEN],
	const struct um_keys *keys, struct um_str cookie)
{
	digest(out, keys, UM_BROWSER_LABEL, cookie, NULL);
}

bool
um_signin_nonce(char out[static UM_SIGNIN_NONCE_LEN + 1],
	const struct um_keys *keys, struct um_str cookie, struct um_str state)
{
	uint8_t sha256[EVP_MAX_MD_SIZE];

	if (!sha256_of(sha256, keys, UM_NONCE_LABEL, cookie, &state))
		return false;
	um_base64url_encode(out, sha256, 32);
	return true;
}
