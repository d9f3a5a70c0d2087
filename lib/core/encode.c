/* SPDX-License-Identifier: MIT */
#include "core/encode.h"

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

#define BLOCK 16 /* characters that are decoded at a time */
#define BLOCK_BYTES 12
#define NO_VALUE 0xc0 /* bits that no character's value has */

/* All ones for a character from `first` to `last`, else zero. */
static inline uint8_t
range(uint8_t c, uint8_t first, uint8_t last)
{
	return (uint8_t) - ((uint8_t)(c - first) <= (uint8_t)(last - first));
}

/*
 * The character's value (RFC 4648 section 5), or NO_VALUE. `either` is all
 * ones to accept the alphabet of section 4, too, else zero. No branch and no
 * table, so that neither time nor cache tells what the character is.
 */
static inline uint8_t
value_of(uint8_t c, uint8_t either)
{
	uint8_t upper = range(c, 'A', 'Z'), lower = range(c, 'a', 'z');
	uint8_t digit = range(c, '0', '9');
	uint8_t v62 = range(c, '-', '-') | (range(c, '+', '+') & either);
	uint8_t v63 = range(c, '_', '_') | (range(c, '/', '/') & either);
	uint8_t known = upper | lower | digit | v62 | v63;

	return (uint8_t)((upper & (c - 'A')) | (lower & (c - 'a' + 26))
		| (digit & (c - '0' + 52)) | (v62 & 62) | (v63 & 63)
		| (~known & NO_VALUE));
}

/*
 * The values of up to BLOCK characters, and zeros after them; returns them
 * joined by OR. The loop has a fixed count: compilers turn it into vectors.
 */
static uint8_t
values_of(uint8_t out[static BLOCK], const char *text, size_t len,
	uint8_t either)
{
	uint8_t c[BLOCK], all = 0;

	memset(c, 'A', sizeof(c));
	memcpy(c, text, len);
	for (size_t i = 0; i < BLOCK; i++)
		out[i] = value_of(c[i], either);
	for (size_t i = 0; i < BLOCK; i++)
		all |= out[i];
	return all;
}

static size_t
block_len(struct um_str text, size_t at)
{
	return text.len - at < BLOCK ? text.len - at : BLOCK;
}

bool
um_base64url_is(struct um_str text)
{
	uint8_t values[BLOCK], all = 0;

	for (size_t at = 0; at < text.len; at += BLOCK)
		all |= values_of(values, text.ptr + at, block_len(text, at), 0);
	return (all & NO_VALUE) == 0;
}

static bool
decode(uint8_t *out, size_t len, struct um_str text, uint8_t either)
{
	uint8_t values[BLOCK], bytes[BLOCK_BYTES];
	uint8_t all = 0, left_over = 0;

	if (text.len != UM_BASE64_LEN(len))
		return false;
	for (size_t at = 0; at < text.len; at += BLOCK) {
		size_t count = block_len(text, at);
		size_t whole = count * 6 / 8;
		const uint8_t *v = values;

		all |= values_of(values, text.ptr + at, count, either);
		for (uint8_t *b = bytes; v < values + BLOCK; b += 3, v += 4) {
			b[0] = (uint8_t)(v[0] << 2 | v[1] >> 4);
			b[1] = (uint8_t)(v[1] << 4 | v[2] >> 2);
			b[2] = (uint8_t)(v[2] << 6 | v[3]);
		}
		memcpy(out, bytes, whole);
		out += whole;
		if (whole < BLOCK_BYTES)
			left_over = bytes[whole];
	}
	explicit_bzero(values, sizeof(values));
	explicit_bzero(bytes, sizeof(bytes));
	return (all & NO_VALUE) == 0 && left_over == 0;
}

void
um_base64_put(struct um_buf *out, const uint8_t *bytes, size_t len)
{
	static const char padding[] = "==";
	size_t chars = UM_BASE64_LEN(len);
	char *to;

	if (!um_buf_reserve(out, chars + 4))
		return;
	to = out->ptr + out->len;
	um_base64url_encode(to, bytes, len);
	for (size_t i = 0; i < chars; i++) {
		if (to[i] == '-')
			to[i] = '+';
		else if (to[i] == '_')
			to[i] = '/';
	}
	out->len += chars;
	um_buf_put(out, padding, (4 - chars % 4) % 4);
}

bool
um_base64url_decode(uint8_t *out, size_t len, struct um_str text)
{
	return decode(out, len, text, 0);
}

bool
um_base64_decode(uint8_t *out, size_t max, size_t *len, struct um_str text)
{
	*len = 0;
	if (text.len % 4 == 0) {
		for (int pad = 0; pad < 2 && text.len != 0; pad++)
			if (text.ptr[text.len - 1] == '=')
				text.len--;
	}
	if (text.len > UM_BASE64_LEN(max))
		return false;
	*len = text.len * 6 / 8;
	return decode(out, *len, text, 0xff);
}

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
