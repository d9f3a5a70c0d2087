/* SPDX-License-Identifier: MIT */
#include "form/characters.h"

#include <stdint.h>

/* The next code point; the text is UTF-8. */
static uint32_t
next_of(struct um_str text, size_t *at)
{
	const unsigned char *p = (const unsigned char *)text.ptr + *at;
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	uint32_t code = len == 1 ? p[0] : p[0] & (0xffU >> (len + 1));

	for (size_t i = 1; i < len; i++)
		code = code << 6 | (p[i] & 0x3f);
	*at += len;
	return code;
}

static bool
is_allowed(uint32_t code, bool lines)
{
	static const struct {
		uint32_t first, last;
	} refused[] = {
		{ 0x00, 0x1f },
		{ 0x7f, 0x9f },
		{ 0x61c, 0x61c },
		{ 0x200e, 0x200f },
		{ 0x2028, 0x202e },
		{ 0x2066, 0x2069 },
	};

	if (lines && (code == '\n' || code == '\t'))
		return true;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (code >= refused[i].first && code <= refused[i].last)
			return false;
	return true;
}

bool
um_characters_count(size_t *count, struct um_str text, bool lines)
{
	size_t at = 0;

	*count = 0;
	if (!um_str_is_text(text))
		return false;
	while (at < text.len) {
		if (!is_allowed(next_of(text, &at), lines))
			return false;
		++*count;
	}
	return true;
}
