/* SPDX-License-Identifier: MIT */
#include "crypto/seal.h"

#include <stdlib.h>
#include <string.h>

static const char label[] = "urlmode result v1";

#define LABEL_LEN (sizeof(label) - 1)

static bool
derive(uint8_t out[static UM_KEY_LEN], const struct um_keys *keys,
	const struct um_key *key, struct um_str id,
	const uint8_t binding[static UM_BINDING_LEN])
{
	char info[LABEL_LEN + UM_BINDING_LEN];

	memcpy(info, label, LABEL_LEN);
	memcpy(info + LABEL_LEN, binding, UM_BINDING_LEN);
	return um_keys_derive(out, keys, key, id,
		(struct um_str){ info, sizeof(info) });
}

bool
um_seal_put(struct um_buf *out, struct um_str json,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN])
{
	const struct um_str context = { (const char *)id, UM_UUID_LEN };
	uint8_t derived[UM_KEY_LEN];
	bool ok = um_buf_reserve(out, UM_SEAL_OVERHEAD + json.len)
		&& derive(derived, keys, um_keys_minting(keys), context,
			binding)
		&& um_envelope_seal((uint8_t *)out->ptr + out->len, keys,
			derived, nonce, context, json);

	if (ok)
		out->len += UM_SEAL_OVERHEAD + json.len;
	explicit_bzero(derived, sizeof(derived));
	return ok;
}

bool
um_seal_put_outcome(struct um_buf *out, struct um_str json,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN])
{
	char context[UM_UUID_LEN + UM_BINDING_LEN];
	bool ok;

	memcpy(context, id, UM_UUID_LEN);
	memcpy(context + UM_UUID_LEN, binding, UM_BINDING_LEN);
	ok = um_buf_reserve(out, UM_SEAL_OVERHEAD + json.len)
		&& um_envelope_seal((uint8_t *)out->ptr + out->len, keys,
			um_keys_minting(keys)->outcome_key, nonce,
			(struct um_str){ context, sizeof(context) }, json);
	if (ok)
		out->len += UM_SEAL_OVERHEAD + json.len;
	return ok;
}

bool
um_seal_open(struct um_buf *out, struct um_str sealed,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys)
{
	const struct um_key *key = um_envelope_key(sealed, keys);
	const struct um_str context = { (const char *)id, UM_UUID_LEN };
	uint8_t derived[UM_KEY_LEN];
	bool ok;

	if (key == NULL || !um_buf_reserve(out, sealed.len))
		return false;
	ok = derive(derived, keys, key, context, binding)
		&& um_envelope_open((uint8_t *)out->ptr + out->len, keys,
			derived, context, sealed);
	if (ok)
		out->len += sealed.len - UM_SEAL_OVERHEAD;
	else
		explicit_bzero(out->ptr + out->len, sealed.len);
	explicit_bzero(derived, sizeof(derived));
	return ok;
}
