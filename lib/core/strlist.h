/* SPDX-License-Identifier: MIT */
/* A list of strings that a file gives: names, or words to compare with. */
#ifndef UM_STRLIST_H
#define UM_STRLIST_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "core/conf.h"
#include "core/str.h"

#define UM_STRLIST_MAX 32

/* Zeroed to begin with. */
struct um_strlist {
	size_t len;
	char **item;
};

/*
 * Copies a list of 1 to UM_STRLIST_MAX strings, none of them empty or with a
 * NUL; with `may_be_one`, also a string alone. Free it in every case.
 */
bool um_conf_get_strlist(struct um_strlist *list, const struct um_conf_loc *at,
	const json_t *node, bool may_be_one);
void um_strlist_free(struct um_strlist *list);

bool um_strlist_has(const struct um_strlist *list, struct um_str name);
bool um_strlist_equal(const struct um_strlist *a, const struct um_strlist *b);

#endif
