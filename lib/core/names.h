/* SPDX-License-Identifier: MIT */
/* A list of strings that a file gives: names, or words to compare with. */
#ifndef UM_NAMES_H
#define UM_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "core/place.h"
#include "core/str.h"

#define UM_NAMES_MAX 32

/* Zeroed to begin with. */
struct um_names {
	size_t len;
	char **name;
};

/*
 * Copies a list of 1 to UM_NAMES_MAX strings, none of them empty or with a
 * NUL; with `may_be_one`, also a string alone. Free it in every case.
 */
bool um_names_load(struct um_names *names, const struct um_place *at,
	const json_t *node, bool may_be_one);
void um_names_free(struct um_names *names);

bool um_names_has(const struct um_names *names, struct um_str name);
bool um_names_same(const struct um_names *a, const struct um_names *b);

#endif
