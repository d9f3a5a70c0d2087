/* SPDX-License-Identifier: MIT */
#include "crypto/sealed_text.h"

#include "core/encode.h"

#define EXPIRES_LEN 8
#define PLAIN_MAX (EXPIRES_LEN + UM_SEALED_TEXT_MAX)
#define BYTES_MIN (UM_ENVELOPE_OVERHEAD + EXPIRES_LEN)
#define BYTES_MAX (UM_ENVELOPE_OVERHEAD + PLAIN_MAX)

bool
um_sealed_text_put(struct um_buf *out, struct um_str text, int64_t expires,
	const struct um_keys *keys, const struct um_seal_purpose *purpose,
	const uint8_t nonce[static UM_NONCE_LEN])
{
	uint8_t plain[PLAIN_MAX], bytes[BYTES_MAX];
	char encoded[UM_BASE64_LEN(BYTES_MAX) + 1];
	bool ok;

	if (text.len > UM_SEALED_TEXT_MAX)
		return false;
	for (size_t i = 0; i < EXPIRES_LEN; i++)
		plain[i] = (uint8_t)((uint64_t)expires >> (56 - 8 * i));
	if (text.len != 0)
		memcpy(plain + EXPIRES_LEN, text.ptr, text.len);
	ok = um_envelope_seal(bytes, 1, keys,
		um_keys_minting(keys)->of[purpose->use], nonce,
		purpose->context,
		(struct um_str){ (const char *)plain, EXPIRES_LEN + text.len });
	explicit_bzero(plain, sizeof(plain));
	if (!ok)
		return false;
	um_base64url_encode(encoded, bytes, BYTES_MIN + text.len);
	um_buf_puts(out, encoded);
	return !out->failed;
}

enum um_sealed_text
um_sealed_text_open(struct um_buf *out, struct um_str sealed,
	const struct um_keys *keys, const struct um_seal_purpose *purpose,
	int64_t now)
{
	uint8_t plain[PLAIN_MAX], bytes[BYTES_MAX];
	const struct um_str envelope = { (const char *)bytes,
		sealed.len * 6 / 8 };
	const struct um_key *key;
	uint64_t expires = 0;

	if (envelope.len < BYTES_MIN || envelope.len > BYTES_MAX
		|| !um_base64url_decode(bytes, envelope.len, sealed)
		|| um_envelope_kid(envelope, 1) < 0)
		return UM_SEALED_TEXT_INVALID;
	key = um_envelope_key(envelope, 1, keys);
	if (key == NULL)
		return UM_SEALED_TEXT_UNKNOWN_KEY;
	if (!um_envelope_open(plain, keys, key->of[purpose->use],
		    purpose->context, envelope))
		return UM_SEALED_TEXT_INVALID;
	for (size_t i = 0; i < EXPIRES_LEN; i++)
		expires = expires << 8 | plain[i];
	um_buf_put(out, plain + EXPIRES_LEN, envelope.len - BYTES_MIN);
	explicit_bzero(plain, sizeof(plain));
	if (out->failed)
		return UM_SEALED_TEXT_INVALID;
	return now < 0 || expires <= (uint64_t)now ? UM_SEALED_TEXT_EXPIRED
						   : UM_SEALED_TEXT_GOOD;
}
