/* SPDX-License-Identifier: MIT */
#include "crypto/token.h"

#include <stdio.h>
#include <string.h>

#include <openssl/crypto.h>

#include "core/base64.h"
#include "crypto/evp.h"

#define VERSION 1
#define HEAD_LEN (2 + UM_NONCE_LEN)
#define PLAIN_LEN (UM_UUID_LEN + 8 + UM_BINDING_LEN + UM_BROWSER_LEN)
#define SEALED_LEN (PLAIN_LEN + UM_TAG_LEN)
#define BYTES_LEN (HEAD_LEN + SEALED_LEN)
#define AAD_MAX (2 + 8 + 1 + UM_PROVIDER_MAX)

_Static_assert(UM_BASE64_LEN(BYTES_LEN) == UM_TOKEN_LEN, "the token's length");

/* 01 || kid || purpose || 00 || provider; no bytes for a provider too long. */
static struct um_str
make_aad(char out[static AAD_MAX], uint8_t kid, enum um_purpose purpose,
	const char *provider)
{
	static const char *const names[] = { "connect", "return", "cancel" };
	const char *name = names[purpose];
	size_t name_len = strlen(name);
	size_t provider_len = strlen(provider);

	if (provider_len > UM_PROVIDER_MAX)
		return um_str(NULL);
	out[0] = VERSION;
	out[1] = (char)kid;
	memcpy(out + 2, name, name_len);
	out[2 + name_len] = '\0';
	memcpy(out + 3 + name_len, provider, provider_len);
	return (struct um_str){ out, 3 + name_len + provider_len };
}

bool
um_token_mint(char text[static UM_TOKEN_LEN + 1], const struct um_token *token,
	const struct um_keys *keys, enum um_purpose purpose,
	const char *provider, const uint8_t nonce[static UM_NONCE_LEN])
{
	const struct um_key *key = um_keys_minting(keys);
	uint8_t bytes[BYTES_LEN];
	uint8_t plain[PLAIN_LEN];
	uint8_t *p = plain;
	char aad_bytes[AAD_MAX];
	struct um_str aad = make_aad(aad_bytes, key->kid, purpose, provider);
	bool ok;

	memcpy(p, token->id, UM_UUID_LEN);
	p += UM_UUID_LEN;
	for (int shift = 56; shift >= 0; shift -= 8)
		*p++ = (uint8_t)((uint64_t)token->expires >> shift);
	memcpy(p, token->binding, UM_BINDING_LEN);
	memcpy(p + UM_BINDING_LEN, token->browser, UM_BROWSER_LEN);

	bytes[0] = VERSION;
	bytes[1] = key->kid;
	memcpy(bytes + 2, nonce, UM_NONCE_LEN);
	ok = aad.len != 0
		&& um_aead_seal(bytes + HEAD_LEN, key->state_key, nonce, aad,
			(struct um_str){ (const char *)plain, sizeof(plain) });
	if (ok)
		um_base64url_encode(text, bytes, sizeof(bytes));
	explicit_bzero(plain, sizeof(plain));
	return ok;
}

enum um_token_state
um_token_open(struct um_token *token, struct um_str text,
	const struct um_keys *keys, enum um_purpose purpose,
	const char *provider, int64_t now)
{
	uint8_t bytes[BYTES_LEN];
	uint8_t plain[PLAIN_LEN];
	const uint8_t *p = plain;
	const struct um_key *key;
	char aad_bytes[AAD_MAX];
	struct um_str aad;
	uint64_t expires = 0;

	memset(token, 0, sizeof(*token));
	if (!um_base64url_decode(bytes, sizeof(bytes), text)
		|| bytes[0] != VERSION)
		return UM_TOKEN_INVALID;
	key = um_keys_find(keys, bytes[1]);
	if (key == NULL)
		return UM_TOKEN_INVALID;
	aad = make_aad(aad_bytes, key->kid, purpose, provider);
	if (aad.len == 0
		|| !um_aead_open(plain, key->state_key, bytes + 2, aad,
			(struct um_str){ (const char *)bytes + HEAD_LEN,
				SEALED_LEN }))
		return UM_TOKEN_INVALID;

	memcpy(token->id, p, UM_UUID_LEN);
	p += UM_UUID_LEN;
	for (int i = 0; i < 8; i++)
		expires = expires << 8 | *p++;
	memcpy(token->binding, p, UM_BINDING_LEN);
	memcpy(token->browser, p + UM_BINDING_LEN, UM_BROWSER_LEN);
	explicit_bzero(plain, sizeof(plain));

	token->expires = expires > INT64_MAX ? INT64_MAX : (int64_t)expires;
	return token->expires > now ? UM_TOKEN_GOOD : UM_TOKEN_EXPIRED;
}

bool
um_token_is_bound(const struct um_token *token)
{
	static const uint8_t any[UM_BROWSER_LEN];

	return CRYPTO_memcmp(token->browser, any, sizeof(any)) != 0;
}

bool
um_token_fits_browser(const struct um_token *token, struct um_str cookie)
{
	uint8_t browser[UM_BROWSER_LEN];

	if (!um_token_is_bound(token))
		return true;
	if (cookie.len == 0)
		return false;
	um_browser_digest(browser, cookie);
	return CRYPTO_memcmp(browser, token->browser, sizeof(browser)) == 0;
}

/* The first 16 bytes of SHA-256(label 00 a [00 b]). */
static void
short_hash(uint8_t out[static 16], const char *label, struct um_str a,
	const struct um_str *b)
{
	uint8_t digest[EVP_MAX_MD_SIZE] = { 0 };
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx != NULL
		&& EVP_DigestInit_ex(ctx, um_evp_sha256(), NULL) == 1
		&& EVP_DigestUpdate(ctx, label, strlen(label) + 1) == 1
		&& EVP_DigestUpdate(ctx, a.ptr, a.len) == 1
		&& (b == NULL
			|| (EVP_DigestUpdate(ctx, "", 1) == 1
				&& EVP_DigestUpdate(ctx, b->ptr, b->len) == 1))
		&& EVP_DigestFinal_ex(ctx, digest, NULL) == 1;

	/* All ones can bind nothing, all zeros would bind everything. */
	if (!ok)
		memset(digest, 0xff, sizeof(digest));
	memcpy(out, digest, 16);
	EVP_MD_CTX_free(ctx);
}

void
um_binding_digest(uint8_t out[static UM_BINDING_LEN], struct um_str subject,
	struct um_str session)
{
	short_hash(out, "urlmode binding v1", subject, &session);
}

void
um_browser_digest(uint8_t out[static UM_BROWSER_LEN], struct um_str cookie)
{
	short_hash(out, "urlmode browser v1", cookie, NULL);
}
