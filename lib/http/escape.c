/* SPDX-License-Identifier: MIT */
#include "http/escape.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static const char digits[] = "0123456789ABCDEF";

/*
 * A bidirectional embedding, override or isolate, which could make
 * "elpmaxe.live" look like another name.
 */
static bool
is_bidi_control(struct um_str rest)
{
	const unsigned char *p = (const unsigned char *)rest.ptr;

	return rest.len >= 3 && p[0] == 0xe2
		&& ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae)
			|| (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

static bool
is_unreserved(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
		|| (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'
		|| c == '~';
}

static bool
is_special_in_text(unsigned char c)
{
	return c == '&' || c == '<' || c == '>' || c == '"' || c == '\'';
}

static bool
is_special_in_attr(unsigned char c)
{
	return c < 0x80 && !is_unreserved(c);
}

static void
put_reference(struct um_buf *out, unsigned char c)
{
	switch (c) {
	case '&':
		um_buf_puts(out, "&amp;");
		break;
	case '<':
		um_buf_puts(out, "&lt;");
		break;
	case '>':
		um_buf_puts(out, "&gt;");
		break;
	case '"':
		um_buf_puts(out, "&quot;");
		break;
	default:
		um_buf_puts(out, "&#");
		um_buf_int(out, c);
		um_buf_puts(out, ";");
	}
}

static void
escape_html(struct um_buf *out, struct um_str text,
	bool (*is_special)(unsigned char c))
{
	size_t plain = 0; /* the first byte that is not yet appended */
	size_t i = 0;

	while (i < text.len) {
		unsigned char c = (unsigned char)text.ptr[i];
		bool bidi = is_bidi_control(
			(struct um_str){ text.ptr + i, text.len - i });

		if (!bidi && !is_special(c)) {
			i++;
			continue;
		}
		um_buf_put(out, text.ptr + plain, i - plain);
		if (bidi)
			um_buf_puts(out, REPLACEMENT);
		else
			put_reference(out, c);
		i += bidi ? 3 : 1;
		plain = i;
	}
	um_buf_put(out, text.ptr + plain, text.len - plain);
}

void
um_escape_html_text(struct um_buf *out, struct um_str text)
{
	escape_html(out, text, is_special_in_text);
}

void
um_escape_html_attr(struct um_buf *out, struct um_str text)
{
	escape_html(out, text, is_special_in_attr);
}

void
um_escape_url_arg(struct um_buf *out, struct um_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		const char escaped[3] = { '%', digits[c >> 4], digits[c & 15] };

		if (is_unreserved(c))
			um_buf_put(out, &text.ptr[i], 1);
		else
			um_buf_put(out, escaped, sizeof(escaped));
	}
}
