/* SPDX-License-Identifier: MIT */
#include "crypto/check_signature.h"

#include <stdio.h>
#include <string.h>

#include <openssl/crypto.h>

#include "contract/seals.h"
#include "core/encode.h"

static bool
sign(char out[static UM_CHECK_SIGNATURE_MAX + 1], const struct um_keys *keys,
	const struct um_key *key, struct um_str body)
{
	uint8_t derived[UM_KEY_LEN], mac[UM_HKDF_LEN];
	char hex[2 * UM_HKDF_LEN + 1] = "";
	bool ok = um_keys_derive(derived, keys, key, um_str(NULL),
			  um_str(UM_CHECK_DELIVERY_INFO))
		&& um_hkdf_hmac(mac, um_keys_hmac(keys),
			(struct um_str){ (const char *)derived,
				sizeof(derived) },
			body, um_str(NULL));

	if (ok)
		um_hex_encode(hex, mac, sizeof(mac));
	snprintf(out, UM_CHECK_SIGNATURE_MAX + 1, "%u.%.64s",
		(unsigned)key->kid, hex);
	OPENSSL_cleanse(derived, sizeof(derived));
	return ok;
}

bool
um_check_signature_make(char out[static UM_CHECK_SIGNATURE_MAX + 1],
	const struct um_keys *keys, struct um_str body)
{
	return sign(out, keys, um_keys_minting(keys), body);
}

/* The number before the point; -1: it is none of 0 to 255. */
static int
kid_of(const char *text)
{
	int kid = 0;

	for (size_t i = 0; i < 4; i++) {
		if (text[i] == '.' && i != 0)
			return kid;
		if (text[i] < '0' || text[i] > '9')
			break;
		kid = kid * 10 + (text[i] - '0');
		if (kid > UINT8_MAX)
			break;
	}
	return -1;
}

bool
um_check_signature_is_good(const char *text, const struct um_keys *keys,
	struct um_str body)
{
	char expected[UM_CHECK_SIGNATURE_MAX + 1];
	int kid = text != NULL ? kid_of(text) : -1;
	const struct um_key *key = kid >= 0 ? um_keys_find(keys, (uint8_t)kid)
					    : NULL;

	return key != NULL && sign(expected, keys, key, body)
		&& strlen(text) == strlen(expected)
		&& CRYPTO_memcmp(text, expected, strlen(expected)) == 0;
}
