/* SPDX-License-Identifier: MIT */
/* Which characters a text of a form may have, and how many it has. */
#ifndef UM_CHARACTERS_H
#define UM_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

/*
 * Counts the characters (code points) of UTF-8 into *count. False: the text has
 * a character that none may have. These are control characters (U+0000 to
 * U+001F, U+007F to U+009F), line and paragraph separators (U+2028, U+2029),
 * and those that change the direction of text (U+061C, U+200E, U+200F, U+202A to
 * U+202E, U+2066 to U+2069). With `lines`, line feeds and tabs are allowed.
 */
bool um_characters_count(size_t *count, struct um_str text, bool lines);

/*
 * What is wrong with the characters of UTF-8, as the rest of a sentence; NULL for
 * nothing. `allowed` are control characters.
 */
const char *um_characters_fault(struct um_str text, const char *allowed);

#endif
