/* SPDX-License-Identifier: MIT */
/* AES-256-GCM with a 96 bit nonce and a 128 bit tag (NIST SP 800-38D). */
#ifndef UM_AEAD_H
#define UM_AEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

#define UM_AEAD_KEY_LEN 32
#define UM_NONCE_LEN 12
#define UM_TAG_LEN 16

/* `out` takes text.len bytes and then the tag. False: OpenSSL failed. */
bool um_aead_seal(uint8_t *out, const uint8_t key[static UM_AEAD_KEY_LEN],
	const uint8_t nonce[static UM_NONCE_LEN], struct um_str aad,
	struct um_str text);

/*
 * `sealed` ends with the tag; `out` takes sealed.len - UM_TAG_LEN bytes and
 * holds nothing of use when the answer is false.
 */
bool um_aead_open(uint8_t *out, const uint8_t key[static UM_AEAD_KEY_LEN],
	const uint8_t nonce[static UM_NONCE_LEN], struct um_str aad,
	struct um_str sealed);

#endif
