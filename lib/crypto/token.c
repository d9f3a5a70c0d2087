/* SPDX-License-Identifier: MIT */
#include "crypto/token.h"

#include <string.h>

#include <openssl/crypto.h>

#include "core/encode.h"

#define PLAIN_LEN (UM_UUID_LEN + 8 + UM_BINDING_LEN + UM_BROWSER_LEN)
#define ENVELOPE_LEN (UM_ENVELOPE_OVERHEAD + PLAIN_LEN)
#define PURPOSE_MAX 8
#define CONTEXT_MAX (PURPOSE_MAX + 1 + UM_PROVIDER_MAX)

_Static_assert(UM_BASE64_LEN(ENVELOPE_LEN) == UM_TOKEN_LEN,
	"UM_TOKEN_LEN follows from the plaintext");

/* purpose || 00 || provider; false when the provider's name is too long. */
static bool
make_context(struct um_str *context, char out[static CONTEXT_MAX],
	enum um_purpose purpose, const char *provider)
{
	static const char names[][PURPOSE_MAX + 1] = {
		[UM_PURPOSE_CONNECT] = "connect",
		[UM_PURPOSE_RETURN] = "return",
		[UM_PURPOSE_CANCEL] = "cancel",
		[UM_PURPOSE_WEBHOOK] = "webhook",
		[UM_PURPOSE_FORM] = "form",
	};
	size_t purpose_size = strlen(names[purpose]) + 1;
	size_t provider_len = strlen(provider);

	if (provider_len > UM_PROVIDER_MAX)
		return false;
	memcpy(out, names[purpose], purpose_size);
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): a length says it */
	memcpy(out + purpose_size, provider, provider_len);
	*context = (struct um_str){ out, purpose_size + provider_len };
	return true;
}

bool
um_token_mint(char text[static UM_TOKEN_LEN + 1], const struct um_token *token,
	const struct um_keys *keys, enum um_purpose purpose,
	const char *provider, const uint8_t nonce[static UM_NONCE_LEN])
{
	uint8_t envelope[ENVELOPE_LEN];
	uint8_t plain[PLAIN_LEN];
	uint8_t *p = plain;
	char context_bytes[CONTEXT_MAX];
	struct um_str context;
	bool ok;

	if (!make_context(&context, context_bytes, purpose, provider))
		return false;
	memcpy(p, token->id, UM_UUID_LEN);
	p += UM_UUID_LEN;
	for (int shift = 56; shift >= 0; shift -= 8)
		*p++ = (uint8_t)((uint64_t)token->expires >> shift);
	memcpy(p, token->binding, UM_BINDING_LEN);
	memcpy(p + UM_BINDING_LEN, token->browser, UM_BROWSER_LEN);

	ok = um_envelope_seal(envelope, 1, keys,
		um_keys_minting(keys)->of[UM_USE_STATE], nonce, context,
		(struct um_str){ (const char *)plain, sizeof(plain) });
	if (ok)
		um_base64url_encode(text, envelope, sizeof(envelope));
	explicit_bzero(plain, sizeof(plain));
	return ok;
}

enum um_token_state
um_token_open(struct um_token *token, struct um_str text,
	const struct um_keys *keys, enum um_purpose purpose,
	const char *provider, int64_t now)
{
	uint8_t bytes[ENVELOPE_LEN];
	const struct um_str envelope = { (const char *)bytes, sizeof(bytes) };
	uint8_t plain[PLAIN_LEN];
	const uint8_t *p = plain;
	const struct um_key *key;
	char context_bytes[CONTEXT_MAX];
	struct um_str context;
	uint64_t expires = 0;

	explicit_bzero(token, sizeof(*token));
	if (!um_base64url_decode(bytes, sizeof(bytes), text)
		|| um_envelope_kid(envelope, 1) < 0)
		return UM_TOKEN_INVALID;
	key = um_envelope_key(envelope, 1, keys);
	if (key == NULL)
		return UM_TOKEN_UNKNOWN_KEY;
	if (!make_context(&context, context_bytes, purpose, provider)
		|| !um_envelope_open(plain, keys, key->of[UM_USE_STATE],
			context, envelope))
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
um_token_fits_browser(const struct um_token *token, const struct um_keys *keys,
	struct um_str cookie)
{
	uint8_t browser[UM_BROWSER_LEN];

	if (!um_token_is_bound(token))
		return true;
	if (cookie.len == 0)
		return false;
	um_browser_digest(browser, keys, cookie);
	return CRYPTO_memcmp(browser, token->browser, sizeof(browser)) == 0;
}
