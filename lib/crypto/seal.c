/* SPDX-License-Identifier: MIT */
#include "crypto/seal.h"

#include <stdlib.h>
#include <string.h>

#include "contract/seals.h"

#define FOR_OWNER 1
#define FOR_ID 2

static const char owner_label[] = UM_RESULT_INFO;

#define LABEL_LEN (sizeof(owner_label) - 1)

static uint8_t
version_for(const uint8_t *binding)
{
	return binding != NULL ? FOR_OWNER : FOR_ID;
}

static struct um_str
id_str(const uint8_t id[static UM_UUID_LEN])
{
	return (struct um_str){ (const char *)id, UM_UUID_LEN };
}

static bool
derive(uint8_t out[static UM_KEY_LEN], const struct um_keys *keys,
	const struct um_key *key, struct um_str id, const uint8_t *binding)
{
	char info[LABEL_LEN + UM_BINDING_LEN];

	if (binding == NULL)
		return um_keys_derive(out, keys, key, id,
			um_str(UM_EVENT_RESULT_INFO));
	memcpy(info, owner_label, LABEL_LEN);
	memcpy(info + LABEL_LEN, binding, UM_BINDING_LEN);
	return um_keys_derive(out, keys, key, id,
		(struct um_str){ info, sizeof(info) });
}

static bool
put(struct um_buf *out, struct um_str json, uint8_t version,
	const uint8_t key[static UM_KEY_LEN], struct um_str context,
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN])
{
	bool ok = um_buf_reserve(out, UM_SEAL_OVERHEAD + json.len)
		&& um_envelope_seal((uint8_t *)out->ptr + out->len, version,
			keys, key, nonce, context, json);

	if (ok)
		out->len += UM_SEAL_OVERHEAD + json.len;
	return ok;
}

bool
um_seal_put(struct um_buf *out, struct um_str json,
	const uint8_t id[static UM_UUID_LEN], const uint8_t *binding,
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN])
{
	const struct um_str context = id_str(id);
	uint8_t derived[UM_KEY_LEN];
	bool ok = derive(derived, keys, um_keys_minting(keys), context, binding)
		&& put(out, json, version_for(binding), derived, context, keys,
			nonce);

	explicit_bzero(derived, sizeof(derived));
	return ok;
}

/* The context where one key serves all rows; `bytes` receives it. */
static struct um_str
put_context(char bytes[static UM_UUID_LEN + UM_BINDING_LEN],
	const uint8_t id[static UM_UUID_LEN], const uint8_t *binding)
{
	memcpy(bytes, id, UM_UUID_LEN);
	if (binding == NULL)
		return (struct um_str){ bytes, UM_UUID_LEN };
	memcpy(bytes + UM_UUID_LEN, binding, UM_BINDING_LEN);
	return (struct um_str){ bytes, UM_UUID_LEN + UM_BINDING_LEN };
}

bool
um_seal_put_outcome(struct um_buf *out, struct um_str json,
	const uint8_t id[static UM_UUID_LEN], const uint8_t *binding,
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN])
{
	const struct um_key *key = um_keys_minting(keys);
	char context[UM_UUID_LEN + UM_BINDING_LEN];

	return put(out, json, version_for(binding),
		key->of[binding != NULL ? UM_USE_OUTCOME
					: UM_USE_EVENT_OUTCOME],
		put_context(context, id, binding), keys, nonce);
}

static bool
open_with(struct um_buf *out, struct um_str sealed,
	const uint8_t key[static UM_KEY_LEN], struct um_str context,
	const struct um_keys *keys)
{
	bool ok = um_buf_reserve(out, sealed.len)
		&& um_envelope_open((uint8_t *)out->ptr + out->len, keys, key,
			context, sealed);

	if (ok)
		out->len += sealed.len - UM_SEAL_OVERHEAD;
	return ok;
}

bool
um_seal_open(struct um_buf *out, struct um_str sealed,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys)
{
	const struct um_str context = id_str(id);
	bool is_for_id = sealed.len != 0 && sealed.ptr[0] == FOR_ID;
	const struct um_key *key = um_envelope_key(sealed,
		is_for_id ? FOR_ID : FOR_OWNER, keys);
	uint8_t derived[UM_KEY_LEN];
	bool ok = key != NULL
		&& derive(derived, keys, key, context,
			is_for_id ? NULL : binding)
		&& open_with(out, sealed, derived, context, keys);

	explicit_bzero(derived, sizeof(derived));
	return ok;
}

bool
um_seal_open_outcome(struct um_buf *out, struct um_str sealed,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys)
{
	bool is_for_id = sealed.len != 0 && sealed.ptr[0] == FOR_ID;
	const struct um_key *key = um_envelope_key(sealed,
		is_for_id ? FOR_ID : FOR_OWNER, keys);
	char context[UM_UUID_LEN + UM_BINDING_LEN];

	return key != NULL
		&& open_with(out, sealed,
			key->of[is_for_id ? UM_USE_EVENT_OUTCOME
					  : UM_USE_OUTCOME],
			put_context(context, id, is_for_id ? NULL : binding),
			keys);
}

bool
um_seal_put_for_page(struct um_buf *out, struct um_str json,
	enum um_key_use use, const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN])
{
	char context[UM_UUID_LEN + UM_BINDING_LEN];

	return put(out, json, FOR_OWNER, um_keys_minting(keys)->of[use],
		put_context(context, id, binding), keys, nonce);
}

bool
um_seal_open_for_page(struct um_buf *out, struct um_str sealed,
	enum um_key_use use, const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys)
{
	const struct um_key *key = um_envelope_key(sealed, FOR_OWNER, keys);
	char context[UM_UUID_LEN + UM_BINDING_LEN];

	return key != NULL
		&& open_with(out, sealed, key->of[use],
			put_context(context, id, binding), keys);
}
