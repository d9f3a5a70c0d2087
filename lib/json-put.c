/* SPDX-License-Identifier: MIT */
#include "json.h"

static void
put_escape(struct um_buf *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	if (c == '"' || c == '\\') {
		um_buf_put(out, (const char[]){ '\\', (char)c }, 2);
		return;
	}
	um_buf_puts(out, "\\u00");
	um_buf_put(out, &digits[c >> 4], 1);
	um_buf_put(out, &digits[c & 15], 1);
}

void
um_json_put(struct um_buf *out, struct um_str text)
{
	size_t plain =
		0; /* from here on nothing needs an escape, nor was put */

	um_buf_puts(out, "\"");
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c >= ' ' && c != '"' && c != '\\')
			continue;
		um_buf_put(out, text.ptr + plain, i - plain);
		put_escape(out, c);
		plain = i + 1;
	}
	um_buf_put(out, text.ptr + plain, text.len - plain);
	um_buf_puts(out, "\"");
}
