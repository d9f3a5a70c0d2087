/* SPDX-License-Identifier: MIT */
#include "client/link.h"

#include <stdio.h>

#include <openssl/rand.h>

bool
um_link_make_id(uint8_t id[static UM_UUID_LEN])
{
	if (RAND_bytes(id, UM_UUID_LEN) != 1)
		return false;
	id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
	id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
	return true;
}

bool
um_link_format(char *out, size_t size, const char *base_url,
	const char *provider, const struct um_token *token,
	const struct um_keys *keys, struct um_error *err)
{
	char text[UM_TOKEN_LEN + 1];
	uint8_t nonce[UM_NONCE_LEN];
	int len;

	if (RAND_bytes(nonce, sizeof(nonce)) != 1
		|| !um_token_mint(text, token, keys, UM_PURPOSE_CONNECT,
			provider, nonce))
		return um_error(err, "OpenSSL failed");
	len = snprintf(out, size, "%s/connect/%s?state=%s", base_url, provider,
		text);
	if (len < 0 || (size_t)len >= size)
		return um_error(err, "the link is too long");
	return true;
}
