/* SPDX-License-Identifier: MIT */
#include "crypto/envelope.h"

#include <limits.h>
#include <string.h>

#define PREFIX_LEN 2 /* version and kid */
#define HEADER_LEN (PREFIX_LEN + UM_NONCE_LEN)
#define TAG_LEN (UM_ENVELOPE_OVERHEAD - HEADER_LEN)

bool
um_envelope_seal(uint8_t *out, uint8_t version, const struct um_keys *keys,
	const uint8_t key[static UM_KEY_LEN],
	const uint8_t nonce[static UM_NONCE_LEN], struct um_str context,
	struct um_str text)
{
	EVP_CIPHER_CTX *ctx = um_keys_cipher(keys);
	uint8_t *body = out + HEADER_LEN;
	int len;

	if (text.len > INT_MAX || context.len > INT_MAX)
		return false;
	out[0] = version;
	out[1] = um_keys_minting(keys)->kid;
	memcpy(out + PREFIX_LEN, nonce, UM_NONCE_LEN);
	return EVP_EncryptInit_ex(ctx, NULL, NULL, key, nonce) == 1
		&& EVP_EncryptUpdate(ctx, NULL, &len, out, PREFIX_LEN) == 1
		&& EVP_EncryptUpdate(ctx, NULL, &len,
			   (const uint8_t *)context.ptr, (int)context.len)
		== 1
		&& EVP_EncryptUpdate(ctx, body, &len, (const uint8_t *)text.ptr,
			   (int)text.len)
		== 1
		&& EVP_EncryptFinal_ex(ctx, body + len, &len) == 1
		&& EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG_LEN,
			   body + text.len)
		== 1;
}

int
um_envelope_kid(struct um_str envelope, uint8_t version)
{
	if (envelope.len < UM_ENVELOPE_OVERHEAD
		|| (uint8_t)envelope.ptr[0] != version)
		return -1;
	return (uint8_t)envelope.ptr[1];
}

const struct um_key *
um_envelope_key(struct um_str envelope, uint8_t version,
	const struct um_keys *keys)
{
	int kid = um_envelope_kid(envelope, version);

	return kid >= 0 ? um_keys_find(keys, (uint8_t)kid) : NULL;
}

bool
um_envelope_open(uint8_t *out, const struct um_keys *keys,
	const uint8_t key[static UM_KEY_LEN], struct um_str context,
	struct um_str envelope)
{
	EVP_CIPHER_CTX *ctx = um_keys_cipher(keys);
	const uint8_t *bytes = (const uint8_t *)envelope.ptr;
	size_t text_len = envelope.len - UM_ENVELOPE_OVERHEAD;
	const uint8_t *tag = bytes + HEADER_LEN + text_len;
	int len;
	bool ok = text_len <= INT_MAX && context.len <= INT_MAX
		&& EVP_DecryptInit_ex(ctx, NULL, NULL, key, bytes + PREFIX_LEN)
			== 1
		&& EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG_LEN,
			   (void *)tag)
			== 1
		&& EVP_DecryptUpdate(ctx, NULL, &len, bytes, PREFIX_LEN) == 1
		&& EVP_DecryptUpdate(ctx, NULL, &len,
			   (const uint8_t *)context.ptr, (int)context.len)
			== 1
		&& EVP_DecryptUpdate(ctx, out, &len, bytes + HEADER_LEN,
			   (int)text_len)
			== 1
		&& EVP_DecryptFinal_ex(ctx, out + len, &len) == 1;

	if (!ok)
		explicit_bzero(out, text_len);
	return ok;
}
