/* SPDX-License-Identifier: MIT */
/* Bytes as text: base64, base64url and hexadecimal digits (RFC 4648). */
#ifndef UM_ENCODE_H
#define UM_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/*
 * Secrets are decoded from base64 here: the keys file, the secrets of providers, state
 * tokens and session tickets. The time that decoding takes, and the memory it
 * reads, depend on the length only. That costs a completion about 900
 * instructions of 80,000 more than a table would.
 */

/* Characters that `len` bytes take, without padding and without a NUL. */
#define UM_BASE64_LEN(len) (((len)*8 + 5) / 6)

/*
 * Encodes base64url without padding; `out` takes UM_BASE64_LEN(len) + 1 with
 * NUL.
 */
void um_base64url_encode(char *out, const uint8_t *bytes, size_t len);

/* Appends base64 with padding (RFC 4648 section 4). */
void um_base64_put(struct um_buf *out, const uint8_t *bytes, size_t len);

/*
 * Decodes base64url without padding to exactly `len` bytes. False: the text is
 * of another length, or holds a character of another alphabet, or its last
 * bits, which belong to no byte, are not zero. `out` must not be used then.
 */
bool um_base64url_decode(uint8_t *out, size_t len, struct um_str text);

/* Whether all characters are of the base64url alphabet, without padding. */
bool um_base64url_is(struct um_str text);

/*
 * Decodes either alphabet, also mixed, with or without padding, to at most
 * `max` bytes; their number goes to *len.
 */
bool um_base64_decode(uint8_t *out, size_t max, size_t *len,
	struct um_str text);

/* Hexadecimal (RFC 4648 section 8), in lower or upper case, never mixed. */

/* The value of one digit in either case, or -1. */
int um_hex_digit(char c);

/* Lower case; `out` takes 2 * len + 1 with NUL. */
void um_hex_encode(char *out, const uint8_t *bytes, size_t len);

/* At most `max` bytes; their number goes to *len. */
bool um_hex_decode(uint8_t *out, size_t max, size_t *len, struct um_str text);

#endif
