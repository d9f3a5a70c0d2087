/* SPDX-License-Identifier: MIT */
#include "core/uuid.h"

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

/* The value of a digit, or 16. Ids are no secret, and calls have many. */
static unsigned
digit(char c)
{
	unsigned byte = (unsigned char)c;
	bool is_digit = byte - '0' < 10 || (byte | 0x20) - 'a' < 6;

	return is_digit ? (byte & 15) + (byte >> 6) * 9 : 16;
}

bool
um_uuid_parse(uint8_t id[static UM_UUID_LEN], struct um_str text)
{
	const char *at = text.ptr;
	unsigned all = 0;

	if (text.len != UM_UUID_TEXT_LEN)
		return false;
	for (size_t i = 0; i < UM_UUID_LEN; i++) {
		unsigned high, low;

		if (has_hyphen_before(i) && *at++ != '-')
			return false;
		high = digit(at[0]);
		low = digit(at[1]);
		all |= high | low;
		id[i] = (uint8_t)(high << 4 | low);
		at += 2;
	}
	return all < 16;
}
