/* SPDX-License-Identifier: MIT */
/*
 * Text that is sealed until a time, as base64url without padding: an envelope
 * (crypto/envelope.h, version 1) of
 *
 *   plaintext  expires(8, big-endian Unix seconds) || text
 *   key        of its use (crypto/keys.h)
 */
#ifndef UM_SEALED_TEXT_H
#define UM_SEALED_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"
#include "crypto/envelope.h"

#define UM_SEALED_TEXT_MAX 1024 /* bytes of the text */

/* The purpose of a sealed text, which does not open for another purpose. */
struct um_seal_purpose {
	enum um_key_use use;
	struct um_str context;
};

enum um_sealed_text {
	UM_SEALED_TEXT_GOOD,
	UM_SEALED_TEXT_EXPIRED,
	UM_SEALED_TEXT_UNKNOWN_KEY,
	UM_SEALED_TEXT_INVALID, /* not genuine, or for something else */
};

/* Appends the sealed text. False: OpenSSL failed, or the text is too long. */
bool um_sealed_text_put(struct um_buf *out, struct um_str text, int64_t expires,
	const struct um_keys *keys, const struct um_seal_purpose *purpose,
	const uint8_t nonce[static UM_NONCE_LEN]);

/*
 * Opens with any key of the file, at `now` (Unix seconds). GOOD and EXPIRED:
 * appends the text to `out`. The caller frees `out`.
 */
enum um_sealed_text um_sealed_text_open(struct um_buf *out,
	struct um_str sealed, const struct um_keys *keys,
	const struct um_seal_purpose *purpose, int64_t now);

#endif
