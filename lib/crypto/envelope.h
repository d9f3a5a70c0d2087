/* SPDX-License-Identifier: MIT */
/*
 * The layout of everything that is sealed with a key of the keys file, with
 * AES-256-GCM (NIST SP 800-38D):
 *
 *   bytes  version || kid || nonce(12) || ciphertext || tag(16)
 *   AAD    version || kid || context
 *
 * The state token, the session ticket, the sealed result and the sealed outcome
 * are envelopes. Each says how its key is derived and what its context is. The
 * version is 1, or 2 for an event (crypto/seal.h). In
 * JavaScript the layout is written in lib/node/src/core/envelope.js.
 */
#ifndef UM_ENVELOPE_H
#define UM_ENVELOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/seals.h"
#include "core/str.h"
#include "crypto/keys.h"

/* The bytes that sealing adds. */
#define UM_ENVELOPE_OVERHEAD (2 + UM_NONCE_LEN + UM_TAG_LEN)

/*
 * Seals `text` with `key`, which was derived from um_keys_minting(). `out`
 * takes UM_ENVELOPE_OVERHEAD + text.len bytes. A nonce must never be used
 * twice with one key. False only when OpenSSL fails.
 */
bool um_envelope_seal(uint8_t *out, uint8_t version, const struct um_keys *keys,
	const uint8_t key[static UM_KEY_LEN],
	const uint8_t nonce[static UM_NONCE_LEN], struct um_str context,
	struct um_str text);

/* The kid in the envelope. -1: it is too short, or of another version. */
int um_envelope_kid(struct um_str envelope, uint8_t version);

/* The key with that kid. NULL: no kid, or the file has no such key. */
const struct um_key *um_envelope_key(struct um_str envelope, uint8_t version,
	const struct um_keys *keys);

/*
 * Opens an envelope for which um_envelope_key() found a key, with `key`, which
 * was derived from that one. `out` takes envelope.len - UM_ENVELOPE_OVERHEAD
 * bytes. False: it is not genuine, or of another context; these bytes are
 * zeroed then.
 */
bool um_envelope_open(uint8_t *out, const struct um_keys *keys,
	const uint8_t key[static UM_KEY_LEN], struct um_str context,
	struct um_str envelope);

#endif
