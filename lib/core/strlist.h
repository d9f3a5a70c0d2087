/* SPDX-License-Identifier: MIT */
/* A list of strings, such as the names of fields. */
#ifndef UM_STRLIST_H
#define UM_STRLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

#define UM_STRLIST_MAX 32 /* strings in a list of a file */

/* Zeroed to begin with. The list owns its strings. */
struct um_strlist {
	size_t len;
	char **item;
};

/* Frees the strings; the list is empty afterwards. */
void um_strlist_free(struct um_strlist *list);

bool um_strlist_has(const struct um_strlist *list, struct um_str string);

/* Whether both hold the same strings in the same order. */
bool um_strlist_equal(const struct um_strlist *a, const struct um_strlist *b);

#endif
