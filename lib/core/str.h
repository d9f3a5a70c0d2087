/* SPDX-License-Identifier: MIT */
/* Bytes from outside (pointer and length) and text for outside (a buffer). */
#ifndef UM_STR_H
#define UM_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes that someone else owns; may hold NUL and need not be UTF-8. */
struct um_str {
	const char *ptr;
	size_t len;
};

/* The bytes of a C string, or no bytes for NULL. */
static inline struct um_str
um_str(const char *text)
{
	return (struct um_str){ text, text != NULL ? strlen(text) : 0 };
}

static inline bool
um_str_eq(struct um_str a, struct um_str b)
{
	return a.len == b.len
		&& (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* The same with a C string, or NULL for no bytes. */
bool um_str_is(struct um_str a, const char *text);

/* Removes what the string begins or ends with; false if it does not. */
bool um_str_take_prefix(struct um_str *s, const char *prefix);
bool um_str_take_suffix(struct um_str *s, const char *suffix);

/* The string without spaces and tabs at both ends. */
struct um_str um_str_trim(struct um_str s);

/*
 * Returns the part of *rest before the first `separator`, and removes it and
 * the separator from *rest. Without a separator it returns all of *rest, and
 * rest->ptr is NULL. `separator` must not be empty.
 */
struct um_str um_str_cut(struct um_str *rest, const char *separator);

/* Whether these bytes are UTF-8 (RFC 3629) without a NUL. */
bool um_str_is_text(struct um_str s);

/*
 * A growing buffer, zeroed to begin with. When memory runs out it becomes
 * `failed`, and drops whatever is put after that, so that a caller need only
 * look at the end. Bytes past `len` are not wiped.
 */
struct um_buf {
	char *ptr;
	size_t len;
	size_t cap;
	bool failed;
};

void um_buf_put(struct um_buf *b, const void *bytes, size_t len);
void um_buf_puts(struct um_buf *b, const char *text);

/* A NULL-terminated list of texts; um_buf_cat() takes them as arguments. */
void um_buf_puts_each(struct um_buf *b, const char *const *texts);
#define um_buf_cat(b, ...)                                                     \
	um_buf_puts_each(b, (const char *const[]){ __VA_ARGS__, NULL })
/* In decimal digits. */
void um_buf_int(struct um_buf *b, int64_t value);
void um_buf_printf(struct um_buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Makes room for this many more bytes. False: it has failed. */
bool um_buf_reserve(struct um_buf *b, size_t more);

/* The bytes so far. */
struct um_str um_buf_str(const struct um_buf *b);

/* Wipes and empties the buffer, failed or not, and keeps its memory. */
void um_buf_clear(struct um_buf *b);

/* Wipes and frees; the buffer is empty and usable again. */
void um_buf_free(struct um_buf *b);

/* Wipes and frees memory from malloc(); NULL is fine. */
void um_wipe_free(void *ptr, size_t len);
/* The same for a C string. */
void um_wipe_free_text(char *text);

/* Why something failed, for a person: one line for each reason, no secrets. */
struct um_error {
	char text[4096];
};

/* Sets the text. Always false, so that a caller can return it. */
bool um_error(struct um_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
