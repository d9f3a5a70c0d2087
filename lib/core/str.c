/* SPDX-License-Identifier: MIT */
#include "core/str.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
um_str_is(struct um_str a, const char *text)
{
	return um_str_eq(a, um_str(text));
}

bool
um_str_take_prefix(struct um_str *s, const char *prefix)
{
	size_t len = strlen(prefix);

	if (s->len < len || memcmp(s->ptr, prefix, len) != 0)
		return false;
	s->ptr += len;
	s->len -= len;
	return true;
}

bool
um_str_take_suffix(struct um_str *s, const char *suffix)
{
	size_t len = strlen(suffix);

	if (s->len < len || memcmp(s->ptr + s->len - len, suffix, len) != 0)
		return false;
	s->len -= len;
	return true;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct um_str
um_str_trim(struct um_str s)
{
	while (s.len != 0 && is_blank(*s.ptr)) {
		s.ptr++;
		s.len--;
	}
	while (s.len != 0 && is_blank(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

struct um_str
um_str_cut(struct um_str *rest, const char *separator)
{
	struct um_str head = *rest;
	size_t len = strlen(separator);
	const char *at = head.len == 0 ? NULL
		: len == 1             ? memchr(head.ptr, *separator, head.len)
			   : memmem(head.ptr, head.len, separator, len);

	if (at == NULL) {
		*rest = um_str(NULL);
		return head;
	}
	head.len = (size_t)(at - head.ptr);
	rest->ptr += head.len + len;
	rest->len -= head.len + len;
	return head;
}

/* How many bytes the sequence at `p` takes, or 0 where it is not UTF-8. */
static size_t
utf8_length(const unsigned char *p, size_t left)
{
	size_t len;
	uint32_t rune;

	if (p[0] < 0x80)
		return p[0] != 0;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		len = 2;
	else if ((p[0] & 0xf0) == 0xe0)
		len = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		len = 4;
	else
		return 0;
	if (len > left)
		return 0;

	rune = p[0] & (0xffU >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		rune = rune << 6 | (p[i] & 0x3fU);
	}
	if (len == 3 && (rune < 0x800 || (rune >= 0xd800 && rune <= 0xdfff)))
		return 0;
	if (len == 4 && (rune < 0x10000 || rune > 0x10ffff))
		return 0;
	return len;
}

/* Whether each of the eight bytes is ASCII, and none of them NUL. */
static bool
is_plain(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return ((word | (word - UINT64_C(0x0101010101010101)))
		       & UINT64_C(0x8080808080808080))
		== 0;
}

bool
um_str_is_text(struct um_str s)
{
	const unsigned char *p = (const unsigned char *)s.ptr;

	for (size_t i = 0; i < s.len;) {
		size_t len;

		if (s.len - i >= 8 && is_plain(p + i)) {
			i += 8;
			continue;
		}
		len = utf8_length(p + i, s.len - i);
		if (len == 0)
			return false;
		i += len;
	}
	return true;
}

bool
um_buf_reserve(struct um_buf *b, size_t more)
{
	size_t cap = b->cap != 0 ? b->cap : 256;
	char *ptr;

	if (b->failed || more > SIZE_MAX / 4 - b->len)
		goto fail;
	if (b->cap - b->len >= more)
		return true;
	while (cap - b->len < more)
		cap *= 2;
	/* Not realloc(), which could leave secret bytes behind. */
	ptr = malloc(cap);
	if (ptr == NULL)
		goto fail;
	if (b->len != 0)
		memcpy(ptr, b->ptr, b->len);
	um_wipe_free(b->ptr, b->len);
	b->ptr = ptr;
	b->cap = cap;
	return true;
fail:
	b->failed = true;
	return false;
}

void
um_buf_put(struct um_buf *b, const void *bytes, size_t len)
{
	bool fits = len <= b->cap - b->len && !b->failed;

	if (len == 0 || (!fits && !um_buf_reserve(b, len)))
		return;
	memcpy(b->ptr + b->len, bytes, len);
	b->len += len;
}

void
um_buf_puts(struct um_buf *b, const char *text)
{
	um_buf_put(b, text, strlen(text));
}

void
um_buf_puts_each(struct um_buf *b, const char *const *texts)
{
	for (; *texts != NULL; texts++)
		um_buf_puts(b, *texts);
}

void
um_buf_int(struct um_buf *b, int64_t value)
{
	char digits[sizeof("-9223372036854775808")];
	char *p = digits + sizeof(digits);
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do
		*--p = (char)('0' + left % 10);
	while ((left /= 10) != 0);
	if (value < 0)
		*--p = '-';
	um_buf_put(b, p, (size_t)(digits + sizeof(digits) - p));
}

void
um_buf_printf(struct um_buf *b, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0 || !um_buf_reserve(b, (size_t)len + 1))
		return;
	va_start(ap, fmt);
	vsnprintf(b->ptr + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
}

struct um_str
um_buf_str(const struct um_buf *b)
{
	return (struct um_str){ b->ptr, b->len };
}

void
um_wipe_free(void *ptr, size_t len)
{
	if (ptr != NULL)
		explicit_bzero(ptr, len);
	free(ptr);
}

void
um_wipe_free_text(char *text)
{
	um_wipe_free(text, um_str(text).len);
}

void
um_buf_clear(struct um_buf *b)
{
	if (b->len != 0)
		explicit_bzero(b->ptr, b->len);
	b->len = 0;
	b->failed = false;
}

void
um_buf_free(struct um_buf *b)
{
	um_wipe_free(b->ptr, b->len);
	*b = (struct um_buf){ 0 };
}

bool
um_error(struct um_error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return false;
}
