/* SPDX-License-Identifier: MIT */
#include "core/json_put.h"

#include "core/json_string.h"

static void
put_escape(struct um_buf *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	static const char says[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *found = c != 0 ? strchr(says, c) : NULL;

	if (found != NULL) {
		um_buf_puts(out, "\\");
		um_buf_put(out, &letters[found - says], 1);
		return;
	}
	um_buf_puts(out, "\\u00");
	um_buf_put(out, &digits[c >> 4], 1);
	um_buf_put(out, &digits[c & 15], 1);
}

/* The text between the quotes. */
static void
put_text(struct um_buf *out, struct um_str text)
{
	size_t plain = 0; /* the first byte that is not yet appended */

	for (size_t i = 0; i < text.len;) {
		size_t ahead = text.len - i >= UM_JSON_EIGHT
			? um_json_plain(text.ptr + i)
			: 0;
		unsigned char c;

		i += ahead;
		if (ahead != 0)
			continue;
		c = (unsigned char)text.ptr[i++];
		if (c >= ' ' && c != '"' && c != '\\')
			continue;
		um_buf_put(out, text.ptr + plain, i - 1 - plain);
		put_escape(out, c);
		plain = i;
	}
	if (text.len != 0)
		um_buf_put(out, text.ptr + plain, text.len - plain);
}

/* The comma before the next member, if there is one. */
static const char *
separator(const struct um_buf *out)
{
	return out->len != 0 && out->ptr[out->len - 1] != '{' ? "," : "";
}

void
um_json_put_string(struct um_buf *out, struct um_str text)
{
	um_buf_puts(out, "\"");
	put_text(out, text);
	um_buf_puts(out, "\"");
}

void
um_json_put_begin(struct um_buf *out)
{
	um_buf_puts(out, "{");
}

void
um_json_put_end(struct um_buf *out)
{
	um_buf_puts(out, "}");
}

void
um_json_put_key(struct um_buf *out, struct um_str name)
{
	um_buf_puts(out, separator(out));
	um_json_put_string(out, name);
	um_buf_puts(out, ":");
}

void
um_json_put_int(struct um_buf *out, int64_t value)
{
	um_buf_int(out, value);
}

void
um_json_put_bool(struct um_buf *out, bool value)
{
	um_buf_puts(out, value ? "true" : "false");
}

void
um_json_put_null(struct um_buf *out)
{
	um_buf_puts(out, "null");
}

void
um_json_put_member(struct um_buf *out, const char *name, struct um_str text)
{
	um_buf_cat(out, separator(out), "\"", name, "\":\"");
	put_text(out, text);
	um_buf_puts(out, "\"");
}
