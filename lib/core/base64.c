/* SPDX-License-Identifier: MIT */
#include "core/base64.h"

#include <string.h>

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

/* Each character's place in the alphabet, from 1; 0: it is not there. */
/* clang-format off */
static const uint8_t place[256] = {
	['A'] = 1, ['B'] = 2, ['C'] = 3, ['D'] = 4, ['E'] = 5,
	['F'] = 6, ['G'] = 7, ['H'] = 8, ['I'] = 9, ['J'] = 10,
	['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15,
	['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20,
	['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25,
	['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30,
	['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
	['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
	['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45,
	['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49, ['x'] = 50,
	['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55,
	['3'] = 56, ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60,
	['8'] = 61, ['9'] = 62, ['-'] = 63, ['_'] = 64,
};
/* clang-format on */

/* All ones for a character that is not in the alphabet. */
static uint32_t
value_of(char character)
{
	return (uint32_t)place[(unsigned char)character] - 1;
}

bool
um_base64url_is(struct um_str text)
{
	uint32_t bad = 0;

	for (size_t i = 0; i < text.len; i++)
		bad |= value_of(text.ptr[i]);
	return bad <= 63;
}

bool
um_base64url_decode(uint8_t *out, size_t len, struct um_str text)
{
	const char *p = text.ptr;
	size_t whole = text.len / 4;
	size_t rest = text.len % 4; /* 0, 2 or 3 */
	uint32_t bad = 0;

	if (text.len != UM_BASE64_LEN(len))
		return false;
	for (; whole != 0; whole--, p += 4) {
		uint32_t a = value_of(p[0]), b = value_of(p[1]);
		uint32_t c = value_of(p[2]), d = value_of(p[3]);

		bad |= a | b | c | d;
		*out++ = (uint8_t)(a << 2 | b >> 4);
		*out++ = (uint8_t)(b << 4 | c >> 2);
		*out++ = (uint8_t)(c << 6 | d);
	}
	if (rest != 0) {
		uint32_t a = value_of(p[0]), b = value_of(p[1]);
		uint32_t c = rest == 3 ? value_of(p[2]) : 0;

		bad |= a | b | c;
		/* Bits that are left over. */
		bad |= (rest == 3 ? c & 3 : b & 15) << 6;
		*out++ = (uint8_t)(a << 2 | b >> 4);
		if (rest == 3)
			*out = (uint8_t)(b << 4 | c >> 2);
	}
	return bad <= 63;
}

bool
um_base64_decode(uint8_t *out, size_t max, size_t *len, struct um_str text)
{
	char url[4096] = { 0 };
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
	explicit_bzero(url, sizeof(url)); /* it may have been a key */
	return ok;
}
