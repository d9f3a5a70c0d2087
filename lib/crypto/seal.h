/* SPDX-License-Identifier: MIT */
/*
 * The sealed result and the sealed outcome: envelopes (crypto/envelope.h) with
 * JSON text that only the SDK opens. The version says to what one is
 * bound: 1 to the elicitation and its owner, 2 to the elicitation alone. An
 * event of a provider gets 2, because it does not name the owner and is sealed
 * before the database is asked.
 *
 * The result is stored in the row.
 *
 *   key      HKDF-SHA256(secret of kid, salt = id,
 *            1: info = "urlmode result v1" || binding
 *            2: info = "urlmode result v2")
 *   context  id
 *
 * The definition of a form, and the problem of a value in it, are sealed by the
 * SDK, for the page: version 1, with the key of "urlmode form v1" or
 * "urlmode problem v1" without a salt, and the context id || binding. What the
 * page itself keeps for a browser or for a user in it is sealed in the same way:
 * "urlmode typed v1" and "urlmode reader v1" with the context id || browser, and
 * "urlmode kept v1" (app/kept.h).
 *
 * The outcome is sent in a notification. It has one key for all rows, as state
 * tokens have, because a derivation is a quarter of the cost of a completion.
 *
 *   key      HKDF-SHA256(secret of kid, no salt,
 *            1: info = "urlmode outcome v1"
 *            2: info = "urlmode outcome v2")
 *   context  1: id || binding
 *            2: id
 */
#ifndef UM_SEAL_H
#define UM_SEAL_H

#include <stdbool.h>

#include "core/str.h"
#include "core/uuid.h"
#include "crypto/binding.h"
#include "crypto/envelope.h"
#include "crypto/keys.h"

/* The bytes that sealing adds to the JSON text. */
#define UM_SEAL_OVERHEAD UM_ENVELOPE_OVERHEAD

/*
 * Appends the sealed JSON text to `out`, with the first key: for the owner of
 * this binding (UM_BINDING_LEN bytes), or for the elicitation alone if
 * `binding` is NULL. False when OpenSSL fails or memory runs out; `out` must
 * not be used then.
 */
bool um_seal_put(struct um_buf *out, struct um_str json,
	const uint8_t id[static UM_UUID_LEN], const uint8_t *binding,
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN]);

/* The same for the outcome. */
bool um_seal_put_outcome(struct um_buf *out, struct um_str json,
	const uint8_t id[static UM_UUID_LEN], const uint8_t *binding,
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN]);

/*
 * Appends the JSON text of a result of either version to `out`. False: the
 * envelope is not genuine or is of another elicitation or owner, or memory ran
 * out.
 */
bool um_seal_open(struct um_buf *out, struct um_str sealed,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys);

/* The same of an outcome. */
bool um_seal_open_outcome(struct um_buf *out, struct um_str sealed,
	const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys);

/*
 * The same for the page: `use` is UM_USE_FORM, UM_USE_PROBLEM, or UM_USE_TYPED,
 * for which `binding` is the digest of the browser, which is as long.
 */
bool um_seal_put_for_page(struct um_buf *out, struct um_str json,
	enum um_key_use use, const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN]);
bool um_seal_open_for_page(struct um_buf *out, struct um_str sealed,
	enum um_key_use use, const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN],
	const struct um_keys *keys);

#endif
