/* SPDX-License-Identifier: MIT */
#include "core/json_string.h"

#include <stdint.h>
#include <string.h>

#include "core/encode.h"

static bool
take(char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

/* Four hexadecimal digits, or UINT32_MAX. */
static uint32_t
take_hex4(char **at)
{
	uint32_t value = 0;

	for (const char *end = *at + 4; *at < end; (*at)++) {
		if (um_hex_digit(**at) < 0)
			return UINT32_MAX;
		value = value << 4 | (uint32_t)um_hex_digit(**at);
	}
	return value;
}

char *
um_json_unescape(char **at, char *out, bool nul)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	static const unsigned char leads[] = { 0, 0xc0, 0xe0, 0xf0 };
	const char *letter = **at != '\0' ? strchr(letters, **at) : NULL;
	uint32_t c;
	int more;

	if (letter == NULL && **at != 'u')
		return NULL;
	(*at)++;
	c = letter != NULL ? (uint32_t)bytes[letter - letters] : take_hex4(at);
	if ((c == 0 && !nul) || c > 0xffff || (c >= 0xdc00 && c <= 0xdfff))
		return NULL;
	if (c >= 0xd800 && c <= 0xdbff) {
		uint32_t low = take(at, '\\') && take(at, 'u') ? take_hex4(at)
							       : 0;

		if (low < 0xdc00 || low > 0xdfff)
			return NULL;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);
	*out++ = (char)(leads[more] | c >> 6 * more);
	while (more-- > 0)
		*out++ = (char)(0x80 | (c >> 6 * more & 0x3f));
	return out;
}

bool
um_json_is_text(struct um_str text)
{
	while (text.ptr != NULL) {
		const char *nul = memchr(text.ptr, '\0', text.len);
		struct um_str part = text;

		if (nul != NULL)
			part.len = (size_t)(nul - text.ptr);
		if (!um_str_is_text(part))
			return false;
		text.ptr = nul != NULL ? nul + 1 : NULL;
		text.len -= nul != NULL ? part.len + 1 : 0;
	}
	return true;
}
