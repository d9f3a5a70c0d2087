/* SPDX-License-Identifier: MIT */
/*
 * Sealed JSON text: an envelope (crypto/envelope.h) that only the waiting side
 * opens. The result stands in the row; the outcome travels in a notification.
 *
 *   key      HKDF-SHA256(secret of kid, salt = id, info = use || binding)
 *   use      "urlmode result v1" or "urlmode outcome v1"
 *   context  id
 */
#ifndef UM_SEAL_H
#define UM_SEAL_H

#include <stdbool.h>

#include "core/str.h"
#include "core/uuid.h"
#include "crypto/binding.h"
#include "crypto/envelope.h"
#include "crypto/keys.h"

/* What sealing adds to the JSON text, in bytes. */
#define UM_SEAL_OVERHEAD UM_ENVELOPE_OVERHEAD

enum um_seal_use { UM_SEAL_RESULT, UM_SEAL_OUTCOME };

/*
 * Appends the sealed JSON text to `out`, with the first key. False when
 * OpenSSL fails or memory runs out; what `out` holds must not be used then.
 */
bool um_seal_put(struct um_buf *out, enum um_seal_use use, struct um_str json,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN]);

/*
 * Appends the JSON text to `out`. False: the envelope is not genuine or is of
 * another use, elicitation or owner, or memory ran out.
 */
bool um_seal_open(struct um_buf *out, enum um_seal_use use,
	struct um_str sealed, const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys);

#endif
