/* SPDX-License-Identifier: MIT */
/* Hexadecimal (RFC 4648 section 8), in lower or upper case, never mixed. */
#ifndef UM_HEX_H
#define UM_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/* The value of one digit in either case, or -1. */
int um_hex_digit(char c);

/* Lower case; `out` takes 2 * len + 1 with NUL. */
void um_hex_encode(char *out, const uint8_t *bytes, size_t len);

/* At most `max` bytes; their number goes to *len. */
bool um_hex_decode(uint8_t *out, size_t max, size_t *len, struct um_str text);

#endif
