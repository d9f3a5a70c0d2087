/* SPDX-License-Identifier: MIT */
#include "client/elicitation.h"

#include <stdio.h>

#include <openssl/rand.h>

#include "crypto/link.h"

bool
um_elicitation_make_id(uint8_t id[static UM_UUID_LEN])
{
	if (RAND_bytes(id, UM_UUID_LEN) != 1)
		return false;
	id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
	id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
	return true;
}

bool
um_elicitation_url(char *out, size_t size, const char *base_url,
	const char *provider, const uint8_t id[static UM_UUID_LEN],
	const struct um_keys *keys, struct um_error *err)
{
	char state[UM_LINK_LEN + 1];
	int len;

	if (!um_link_mint(state, id, keys, provider))
		return um_error(err, "OpenSSL failed");
	len = snprintf(out, size, "%s/connect/%s?state=%s", base_url, provider,
		state);
	if (len < 0 || (size_t)len >= size)
		return um_error(err, "the link is too long");
	return true;
}
