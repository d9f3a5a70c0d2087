/* SPDX-License-Identifier: MIT */
/* Base64 and base64url (RFC 4648 sections 4 and 5). */
#ifndef UM_BASE64_H
#define UM_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/* Characters that `len` bytes take, without padding and without a NUL. */
#define UM_BASE64_LEN(len) (((len)*8 + 5) / 6)

/* base64url without padding; `out` takes UM_BASE64_LEN(len) + 1 with NUL. */
void um_base64url_encode(char *out, const uint8_t *bytes, size_t len);

/*
 * Exactly `len` bytes out of base64url without padding. Refused: another
 * length, another alphabet, bits that are left over and not zero.
 */
bool um_base64url_decode(uint8_t *out, size_t len, struct um_str text);

/* Whether there is no other character in it. */
bool um_base64url_is(struct um_str text);

/*
 * Either alphabet, with or without padding, at most `max` bytes.
 * The number of bytes goes to *len.
 */
bool um_base64_decode(uint8_t *out, size_t max, size_t *len,
	struct um_str text);

#endif
