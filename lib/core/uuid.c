/* SPDX-License-Identifier: MIT */
#include "core/uuid.h"

#include <string.h>

#include "core/encode.h"

/* A hyphen stands before these bytes. */
static bool
has_hyphen_before(size_t byte)
{
	return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

void
um_uuid_format(char out[static UM_UUID_TEXT_LEN + 1],
	const uint8_t id[static UM_UUID_LEN])
{
	for (size_t i = 0; i < UM_UUID_LEN; i++) {
		if (has_hyphen_before(i))
			*out++ = '-';
		um_hex_encode(out, &id[i], 1);
		out += 2;
	}
}

#define IS_DIGIT 0x10

/*
 * The value of each digit, and that it is one. A branch would be guessed wrongly at
 * every other digit, and calls have many ids, which are no secret.
 */
static const uint8_t digits[256] = {
	['0'] = 0x10,
	0x11,
	0x12,
	0x13,
	0x14,
	0x15,
	0x16,
	0x17,
	0x18,
	0x19,
	['A'] = 0x1a,
	0x1b,
	0x1c,
	0x1d,
	0x1e,
	0x1f,
	['a'] = 0x1a,
	0x1b,
	0x1c,
	0x1d,
	0x1e,
	0x1f,
};

bool
um_uuid_parse(uint8_t id[static UM_UUID_LEN], struct um_str text)
{
	const char *at = text.ptr;
	unsigned all = IS_DIGIT;

	if (text.len != UM_UUID_TEXT_LEN)
		return false;
	for (size_t i = 0; i < UM_UUID_LEN; i++) {
		unsigned high, low;

		if (has_hyphen_before(i) && *at++ != '-')
			return false;
		high = digits[(uint8_t)at[0]];
		low = digits[(uint8_t)at[1]];
		all &= high & low;
		id[i] = (uint8_t)(high << 4 | (low & 15));
		at += 2;
	}
	return all != 0;
}

size_t
um_uuid_hash(const uint8_t id[static UM_UUID_LEN])
{
	uint64_t halves[2], sum;

	memcpy(halves, id, sizeof(halves));
	sum = (halves[0] ^ halves[1] * UINT64_C(0x9e3779b97f4a7c15))
		* UINT64_C(0xff51afd7ed558ccd);
	return (size_t)(sum ^ sum >> 32);
}
