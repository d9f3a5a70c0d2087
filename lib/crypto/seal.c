/* SPDX-License-Identifier: MIT */
#include "crypto/seal.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 1
#define INFO "urlmode result v1"
#define INFO_LEN (sizeof(INFO) - 1 + UM_BINDING_LEN)
#define HEAD_LEN (2 + UM_NONCE_LEN)

static bool
derive(uint8_t out[static UM_AEAD_KEY_LEN], const struct um_key *key,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN])
{
	char info[INFO_LEN];

	memcpy(info, INFO, sizeof(INFO) - 1);
	memcpy(info + sizeof(INFO) - 1, binding, UM_BINDING_LEN);
	return um_hkdf_sha256(out, key->secret, key->secret_len,
		(struct um_str){ (const char *)id, UM_UUID_LEN },
		(struct um_str){ info, sizeof(info) });
}

/* 01 || kid || id */
static struct um_str
make_aad(char out[static 2 + UM_UUID_LEN], uint8_t kid,
	const uint8_t id[static UM_UUID_LEN])
{
	out[0] = VERSION;
	out[1] = (char)kid;
	memcpy(out + 2, id, UM_UUID_LEN);
	return (struct um_str){ out, 2 + UM_UUID_LEN };
}

bool
um_seal_put(struct um_buf *out, struct um_str json,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN])
{
	const struct um_key *key = um_keys_minting(keys);
	const uint8_t head[2] = { VERSION, key->kid };
	uint8_t derived[UM_AEAD_KEY_LEN];
	char aad[2 + UM_UUID_LEN];
	bool ok = um_buf_reserve(out, UM_SEAL_OVERHEAD + json.len)
		&& derive(derived, key, id, binding);

	um_buf_put(out, head, sizeof(head));
	um_buf_put(out, nonce, UM_NONCE_LEN);
	ok = ok
		&& um_aead_seal((uint8_t *)out->ptr + out->len, derived, nonce,
			make_aad(aad, key->kid, id), json);
	if (ok)
		out->len += json.len + UM_TAG_LEN;
	explicit_bzero(derived, sizeof(derived));
	return ok;
}

bool
um_seal_open(struct um_buf *out, struct um_str sealed,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys)
{
	const uint8_t *bytes = (const uint8_t *)sealed.ptr;
	const struct um_key *key;
	uint8_t derived[UM_AEAD_KEY_LEN];
	char aad[2 + UM_UUID_LEN];
	struct um_str body;
	uint8_t *text;
	bool ok;

	if (sealed.len < UM_SEAL_OVERHEAD || bytes[0] != VERSION)
		return false;
	key = um_keys_find(keys, bytes[1]);
	if (key == NULL)
		return false;
	body = (struct um_str){ sealed.ptr + HEAD_LEN, sealed.len - HEAD_LEN };
	text = malloc(body.len);
	ok = text != NULL && derive(derived, key, id, binding)
		&& um_aead_open(text, derived, bytes + 2,
			make_aad(aad, key->kid, id), body);
	if (ok)
		um_buf_put(out, text, body.len - UM_TAG_LEN);
	explicit_bzero(derived, sizeof(derived));
	um_wipe_free(text, body.len);
	return ok && !out->failed;
}
