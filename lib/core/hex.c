/* SPDX-License-Identifier: MIT */
#include "core/hex.h"

void
um_hex_encode(char *out, const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
}

int
um_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool
um_hex_decode(uint8_t *out, size_t max, size_t *len, struct um_str text)
{
	bool lower = false, upper = false;

	*len = text.len / 2;
	if (text.len % 2 != 0 || *len > max)
		return false;
	for (size_t i = 0; i < *len; i++) {
		int high = um_hex_digit(text.ptr[2 * i]);
		int low = um_hex_digit(text.ptr[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	for (size_t i = 0; i < text.len; i++) {
		lower |= text.ptr[i] >= 'a';
		upper |= text.ptr[i] >= 'A' && text.ptr[i] <= 'F';
	}
	return !(lower && upper);
}
