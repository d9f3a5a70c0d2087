/* SPDX-License-Identifier: MIT */
#include "crypto/binding.h"

#include <stdbool.h>
#include <string.h>

#include <openssl/evp.h>

/* The first 16 bytes of SHA-256(label 00 a [00 b]). */
static void
digest(uint8_t out[static 16], const struct um_keys *keys, const char *label,
	struct um_str a, const struct um_str *b)
{
	uint8_t sha256[EVP_MAX_MD_SIZE] = { 0 };
	EVP_MD_CTX *ctx = um_keys_sha256(keys);
	bool ok = EVP_DigestInit_ex(ctx, NULL, NULL) == 1
		&& EVP_DigestUpdate(ctx, label, strlen(label) + 1) == 1
		&& EVP_DigestUpdate(ctx, a.ptr, a.len) == 1
		&& (b == NULL
			|| (EVP_DigestUpdate(ctx, "", 1) == 1
				&& EVP_DigestUpdate(ctx, b->ptr, b->len) == 1))
		&& EVP_DigestFinal_ex(ctx, sha256, NULL) == 1;

	if (!ok)
		memset(sha256, 0xff, sizeof(sha256));
	memcpy(out, sha256, 16);
}

void
um_binding_digest(uint8_t out[static UM_BINDING_LEN],
	const struct um_keys *keys, struct um_str subject,
	struct um_str session)
{
	digest(out, keys, "urlmode binding v1", subject, &session);
}

void
um_browser_digest(uint8_t out[static UM_BROWSER_LEN],
	const struct um_keys *keys, struct um_str cookie)
{
	digest(out, keys, "urlmode browser v1", cookie, NULL);
}
