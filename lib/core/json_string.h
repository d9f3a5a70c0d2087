/* SPDX-License-Identifier: MIT */
/* The characters of strings in JSON (RFC 8259 section 7). */
#ifndef UM_JSON_STRING_H
#define UM_JSON_STRING_H

#include <stdbool.h>

#include "core/str.h"

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
