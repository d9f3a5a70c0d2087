/* SPDX-License-Identifier: MIT */
/* The characters of strings in JSON (RFC 8259 section 7). */
#ifndef UM_JSON_STRING_H
#define UM_JSON_STRING_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/str.h"

#define UM_JSON_EIGHT 8

/*
 * How many of eight bytes stand for themselves in a string, before the first that is a
 * quotation mark, a backslash, a control character, or not ASCII. Looking at all of them
 * at once makes a document and a log line much cheaper: each term has the high bit of a
 * byte that is one of these, and perhaps of some behind it.
 */
static inline size_t
um_json_plain(const char bytes[static UM_JSON_EIGHT])
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t all, quotes, backslashes, found;

	memcpy(&all, bytes, sizeof(all));
	all = le64toh(all);
	quotes = all ^ ones * '"';
	backslashes = all ^ ones * '\\';
	found = (all | (all - ones * ' ') | (quotes - ones)
			| (backslashes - ones))
		& ones << 7;
	return found != 0 ? (size_t)__builtin_ctzll(found) / 8 : UM_JSON_EIGHT;
}

/*
 * Decodes the escape at *at, which is behind the backslash, as UTF-8 (RFC 3629
 * section 3) to `out`, and moves *at behind it. `out` may be where the escape is, which
 * is longer; a NUL follows what is read. Returns the end of what was written. NULL where
 * it is not an escape, for half a surrogate pair, and unless `nul` for a NUL.
 */
char *um_json_unescape(char **at, char *out, bool nul);

/* Whether the string is UTF-8. A NUL in it is good: it was an escape. */
bool um_json_is_text(struct um_str text);

#endif
