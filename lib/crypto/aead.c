/* SPDX-License-Identifier: MIT */
#include "crypto/aead.h"

#include <limits.h>

#include "crypto/evp.h"

bool
um_aead_seal(uint8_t *out, const uint8_t key[static UM_AEAD_KEY_LEN],
	const uint8_t nonce[static UM_NONCE_LEN], struct um_str aad,
	struct um_str text)
{
	EVP_CIPHER_CTX *ctx = um_evp_aes_256_gcm();
	int len;

	return ctx != NULL && text.len <= INT_MAX && aad.len <= INT_MAX
		&& EVP_EncryptInit_ex(ctx, NULL, NULL, key, nonce) == 1
		&& EVP_EncryptUpdate(ctx, NULL, &len, (const uint8_t *)aad.ptr,
			   (int)aad.len)
		== 1
		&& EVP_EncryptUpdate(ctx, out, &len, (const uint8_t *)text.ptr,
			   (int)text.len)
		== 1
		&& EVP_EncryptFinal_ex(ctx, out + len, &len) == 1
		&& EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, UM_TAG_LEN,
			   out + text.len)
		== 1;
}

bool
um_aead_open(uint8_t *out, const uint8_t key[static UM_AEAD_KEY_LEN],
	const uint8_t nonce[static UM_NONCE_LEN], struct um_str aad,
	struct um_str sealed)
{
	EVP_CIPHER_CTX *ctx = um_evp_aes_256_gcm();
	int len;
	bool ok = false;

	if (ctx != NULL && sealed.len >= UM_TAG_LEN && sealed.len <= INT_MAX
		&& aad.len <= INT_MAX) {
		size_t text_len = sealed.len - UM_TAG_LEN;

		ok = EVP_DecryptInit_ex(ctx, NULL, NULL, key, nonce) == 1
			&& EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG,
				   UM_TAG_LEN, (void *)(sealed.ptr + text_len))
				== 1
			&& EVP_DecryptUpdate(ctx, NULL, &len,
				   (const uint8_t *)aad.ptr, (int)aad.len)
				== 1
			&& EVP_DecryptUpdate(ctx, out, &len,
				   (const uint8_t *)sealed.ptr, (int)text_len)
				== 1
			&& EVP_DecryptFinal_ex(ctx, out + len, &len) == 1;
	}
	return ok;
}
