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

bool
um_uuid_parse(uint8_t id[static UM_UUID_LEN], struct um_str text)
{
	const char *at = text.ptr;

	if (text.len != UM_UUID_TEXT_LEN)
		return false;
	for (size_t i = 0; i < UM_UUID_LEN; i++) {
		int high, low;

		if (has_hyphen_before(i) && *at++ != '-')
			return false;
		high = um_hex_digit(at[0]);
		low = um_hex_digit(at[1]);
		if (high < 0 || low < 0)
			return false;
		id[i] = (uint8_t)(high << 4 | low);
		at += 2;
	}
	return true;
}
