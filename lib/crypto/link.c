/* SPDX-License-Identifier: MIT */
#include "crypto/link.h"

#include <string.h>

#include <openssl/crypto.h>

#include "core/encode.h"

#define VERSION 1
#define PREFIX_LEN 2 /* version and kid */
#define BYTES_LEN (PREFIX_LEN + UM_UUID_LEN + UM_LINK_MAC_LEN)
#define CONNECT "connect"
#define APPROVE "approve"
#define PURPOSE_SIZE sizeof(CONNECT) /* of both, with the NUL */
#define COVERED_MAX                                                            \
	(PREFIX_LEN + PURPOSE_SIZE + UM_PROVIDER_MAX + 1 + UM_UUID_LEN)

_Static_assert(UM_BASE64_LEN(BYTES_LEN) == UM_LINK_LEN,
	"UM_LINK_LEN follows from the bytes");

/* False: the provider's name is too long, or OpenSSL failed. */
static bool
make_mac(uint8_t mac[static UM_HKDF_LEN], const char purpose[PURPOSE_SIZE],
	const struct um_key *key, const uint8_t id[static UM_UUID_LEN],
	const struct um_keys *keys, const char *provider)
{
	size_t provider_size = strlen(provider) + 1;
	uint8_t covered[COVERED_MAX] = { VERSION, key->kid };
	uint8_t *p = covered + PREFIX_LEN;

	if (provider_size > UM_PROVIDER_MAX + 1)
		return false;
	memcpy(p, purpose, PURPOSE_SIZE);
	p += PURPOSE_SIZE;
	memcpy(p, provider, provider_size);
	p += provider_size;
	memcpy(p, id, UM_UUID_LEN);
	p += UM_UUID_LEN;
	return um_hkdf_hmac(mac, um_keys_hmac(keys),
		(struct um_str){ (const char *)key->of[UM_USE_LINK],
			UM_KEY_LEN },
		(struct um_str){ (const char *)covered, (size_t)(p - covered) },
		um_str(""));
}

bool
um_link_mint(char text[static UM_LINK_LEN + 1],
	const uint8_t id[static UM_UUID_LEN], const struct um_keys *keys,
	const char *provider)
{
	return um_link_mint_with(text, id, keys, -1, provider, false);
}

bool
um_link_mint_with(char text[static UM_LINK_LEN + 1],
	const uint8_t id[static UM_UUID_LEN], const struct um_keys *keys,
	int kid, const char *provider, bool by_others)
{
	const struct um_key *key = kid >= 0 ? um_keys_find(keys, (uint8_t)kid)
					    : NULL;
	uint8_t mac[UM_HKDF_LEN];
	bool ok;

	if (key == NULL)
		key = um_keys_minting(keys);
	ok = make_mac(mac, by_others ? APPROVE : CONNECT, key, id, keys,
		provider);

	if (ok) {
		uint8_t bytes[BYTES_LEN] = { VERSION, key->kid };

		memcpy(bytes + PREFIX_LEN, id, UM_UUID_LEN);
		memcpy(bytes + PREFIX_LEN + UM_UUID_LEN, mac, UM_LINK_MAC_LEN);
		um_base64url_encode(text, bytes, sizeof(bytes));
	}
	explicit_bzero(mac, sizeof(mac));
	return ok;
}

static enum um_token_state
open_for(const char purpose[PURPOSE_SIZE], uint8_t id[static UM_UUID_LEN],
	struct um_str text, const struct um_keys *keys, const char *provider)
{
	uint8_t bytes[BYTES_LEN], mac[UM_HKDF_LEN];
	const uint8_t *claimed = bytes + PREFIX_LEN;
	const struct um_key *key;
	bool same;

	explicit_bzero(id, UM_UUID_LEN);
	if (!um_base64url_decode(bytes, sizeof(bytes), text)
		|| bytes[0] != VERSION)
		return UM_TOKEN_INVALID;
	key = um_keys_find(keys, bytes[1]);
	if (key == NULL)
		return UM_TOKEN_UNKNOWN_KEY;
	same = make_mac(mac, purpose, key, claimed, keys, provider)
		&& CRYPTO_memcmp(mac, claimed + UM_UUID_LEN, UM_LINK_MAC_LEN)
			== 0;
	explicit_bzero(mac, sizeof(mac));
	if (!same)
		return UM_TOKEN_INVALID;
	memcpy(id, claimed, UM_UUID_LEN);
	return UM_TOKEN_GOOD;
}

enum um_token_state
um_link_open(uint8_t id[static UM_UUID_LEN], struct um_str text,
	const struct um_keys *keys, const char *provider)
{
	return open_for(CONNECT, id, text, keys, provider);
}

enum um_token_state
um_link_open_approval(uint8_t id[static UM_UUID_LEN], struct um_str text,
	const struct um_keys *keys, const char *provider)
{
	return open_for(APPROVE, id, text, keys, provider);
}
