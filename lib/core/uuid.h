/* SPDX-License-Identifier: MIT */
/* UUIDs (RFC 9562) as 16 bytes and as text. */
#ifndef UM_UUID_H
#define UM_UUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

#define UM_UUID_LEN 16      /* bytes */
#define UM_UUID_TEXT_LEN 36 /* characters: 8-4-4-4-12 hexadecimal digits */

/* Writes the text in lower case, with its NUL (RFC 9562 section 4). */
void um_uuid_format(char out[static UM_UUID_TEXT_LEN + 1],
	const uint8_t id[static UM_UUID_LEN]);

/*
 * Reads the text form; upper-case digits are accepted, as RFC 9562 section 4
 * says. False for anything else; `id` must not be used then.
 */
bool um_uuid_parse(uint8_t id[static UM_UUID_LEN], struct um_str text);

/* For tables of ids that are random, or chosen by servers that have a key. */
size_t um_uuid_hash(const uint8_t id[static UM_UUID_LEN]);

#endif
