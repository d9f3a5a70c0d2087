/* SPDX-License-Identifier: MIT */
#include "crypto/binding.h"

#include <string.h>

#include <openssl/evp.h>

#include "core/encode.h"

/* SHA-256(label [00 part] ...). */
static bool
sha256_of(uint8_t out[static EVP_MAX_MD_SIZE], const struct um_keys *keys,
	const char *label, const struct um_str *parts, size_t len)
{
	EVP_MD_CTX *ctx = um_keys_sha256(keys);
	bool ok = EVP_DigestInit_ex(ctx, NULL, NULL) == 1
		&& EVP_DigestUpdate(ctx, label, strlen(label)) == 1;

	for (size_t i = 0; i < len && ok; i++)
		ok = EVP_DigestUpdate(ctx, "", 1) == 1
			&& EVP_DigestUpdate(ctx, parts[i].ptr, parts[i].len)
				== 1;
	return ok && EVP_DigestFinal_ex(ctx, out, NULL) == 1;
}

/* Its first 16 bytes. */
static void
digest(uint8_t out[static 16], const struct um_keys *keys, const char *label,
	const struct um_str *parts, size_t len)
{
	uint8_t sha256[EVP_MAX_MD_SIZE];

	if (!sha256_of(sha256, keys, label, parts, len))
		memset(sha256, 0xff, sizeof(sha256));
	memcpy(out, sha256, 16);
}

void
um_binding_digest(uint8_t out[static UM_BINDING_LEN],
	const struct um_keys *keys, struct um_str subject,
	struct um_str session)
{
	const struct um_str parts[] = { subject, session };

	digest(out, keys, UM_BINDING_LABEL, parts, 2);
}

void
um_binding_digest_of(uint8_t out[static UM_BINDING_LEN],
	const struct um_keys *keys, struct um_str tenant, struct um_str subject,
	struct um_str session)
{
	const struct um_str parts[] = { tenant, subject, session };

	if (tenant.len == 0)
		um_binding_digest(out, keys, subject, session);
	else
		digest(out, keys, UM_TENANT_BINDING_LABEL, parts, 3);
}

void
um_browser_digest(uint8_t out[static UM_BROWSER_LEN],
	const struct um_keys *keys, struct um_str cookie)
{
	digest(out, keys, UM_BROWSER_LABEL, &cookie, 1);
}

bool
um_signin_nonce(char out[static UM_SIGNIN_NONCE_LEN + 1],
	const struct um_keys *keys, struct um_str cookie, struct um_str state)
{
	const struct um_str parts[] = { cookie, state };
	uint8_t sha256[EVP_MAX_MD_SIZE];

	if (!sha256_of(sha256, keys, UM_NONCE_LABEL, parts, 2))
		return false;
	um_base64url_encode(out, sha256, 32);
	return true;
}

void
um_digest_of(uint8_t out[static UM_DIGEST_LEN], const struct um_keys *keys,
	const char *label, struct um_str text)
{
	digest(out, keys, label, &text, 1);
}
