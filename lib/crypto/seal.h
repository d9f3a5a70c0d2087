/* SPDX-License-Identifier: MIT */
/*
 * The sealed result: JSON that only the waiting side opens.
 *
 *   bytes  01 || kid || nonce(12) || ciphertext || tag(16)
 *   key    HKDF-SHA256(secret of kid, salt = id,
 *          info = "urlmode result v1" || binding)
 *   AAD    01 || kid || id
 */
#ifndef UM_SEAL_H
#define UM_SEAL_H

#include <stdbool.h>

#include "core/str.h"
#include "crypto/keys.h"
#include "crypto/token.h"

/* What sealing adds to the JSON text, in bytes. */
#define UM_SEAL_OVERHEAD (2 + UM_NONCE_LEN + UM_TAG_LEN)

/*
 * Appends the sealed JSON text to `out`, with the first key. False when
 * OpenSSL or memory fails; `out` is to be thrown away then.
 */
bool um_seal_put(struct um_buf *out, struct um_str json,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN]);

/* Appends the JSON text to `out`; false for whatever is not genuine. */
bool um_seal_open(struct um_buf *out, struct um_str sealed,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys);

#endif
