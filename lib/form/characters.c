/* SPDX-License-Identifier: MIT */
#include "form/characters.h"

#include <stdint.h>

#include "contract/texts.h"

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

/* U+0000 to U+001F, U+007F to U+009F, and the separators of lines. */
static bool
is_control(uint32_t code)
{
	return code <= 0x1f || (code >= 0x7f && code <= 0x9f) || code == 0x2028
		|| code == 0x2029;
}

static bool
is_of_direction(uint32_t code)
{
	return code == 0x61c || code == 0x200e || code == 0x200f
		|| (code >= 0x202a && code <= 0x202e)
		|| (code >= 0x2066 && code <= 0x2069);
}

const char *
um_characters_fault(struct um_str text, const char *allowed)
{
	const char *fault = NULL;

	for (size_t at = 0; at < text.len;) {
		uint32_t code = next_of(text, &at);

		if (is_control(code)
			&& (code == 0 || code > 0x1f
				|| strchr(allowed, (int)code) == NULL))
			return UM_TEXT_HAS_CONTROLS;
		if (is_of_direction(code))
			fault = UM_TEXT_HAS_DIRECTIONS;
	}
	return fault;
}

bool
um_characters_count(size_t *count, struct um_str text, bool lines)
{
	*count = 0;
	if (!um_str_is_text(text)
		|| um_characters_fault(text, lines ? "\n\t" : "") != NULL)
		return false;
	for (size_t at = 0; at < text.len; ++*count)
		next_of(text, &at);
	return true;
}
