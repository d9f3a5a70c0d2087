/* SPDX-License-Identifier: MIT */
#include "base64.h"

#include <openssl/crypto.h>

static const char alphabet[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void
um_base64url_encode(char *out, const uint8_t *bytes, size_t len)
{
	uint32_t bits = 0;
	unsigned have = 0;

	for (size_t i = 0; i < len; i++) {
		bits = bits << 8 | bytes[i];
		for (have += 8; have >= 6; have -= 6)
			*out++ = alphabet[bits >> (have - 6) & 63];
	}
	if (have != 0)
		*out++ = alphabet[bits << (6 - have) & 63];
	*out = '\0';
}

/* -1 for a character outside of the alphabet; no branch on its value. */
static int
value_of(unsigned char c)
{
	int value = -1;

	value += (((64 - c) & (c - 91)) >> 8) & (c - 64);
	value += (((96 - c) & (c - 123)) >> 8) & (c - 70);
	value += (((47 - c) & (c - 58)) >> 8) & (c + 5);
	value += (((44 - c) & (c - 46)) >> 8) & 63;
	value += (((94 - c) & (c - 96)) >> 8) & 64;
	return value;
}

bool
um_base64url_decode(uint8_t *out, size_t len, struct um_str text)
{
	uint32_t bits = 0;
	unsigned have = 0;
	int bad = 0;

	if (text.len != UM_BASE64_LEN(len))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		int value = value_of((unsigned char)text.ptr[i]);

		bad |= value;
		bits = bits << 6 | ((uint32_t)value & 63);
		have += 6;
		if (have >= 8) {
			have -= 8;
			*out++ = (uint8_t)(bits >> have);
		}
	}
	return bad >= 0 && (bits & ((1U << have) - 1)) == 0;
}

bool
um_base64_decode(uint8_t *out, size_t max, size_t *len, struct um_str text)
{
	char url[4096];
	bool ok;

	*len = 0;
	if (text.len % 4 == 0) {
		for (int pad = 0; pad < 2 && text.len != 0; pad++)
			if (text.ptr[text.len - 1] == '=')
				text.len--;
	}
	if (text.len > sizeof(url) || text.len / 4 * 3 + text.len % 4 > max + 3)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		url[i] = (char)(c == '+' ? '-' : c == '/' ? '_' : c);
	}
	*len = text.len * 6 / 8;
	ok = *len <= max
		&& um_base64url_decode(out, *len,
			(struct um_str){ url, text.len });
	OPENSSL_cleanse(url, sizeof(url)); /* it may have been a key */
	return ok;
}
