/* SPDX-License-Identifier: MIT */
/*
 * Reads the objects of a definition strictly: a mistake is a place and a reason.
 * For the other modules of form/ that read it.
 */
#ifndef UM_PLACE_H
#define UM_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/json.h"
#include "core/str.h"

/* The place of a mistake, as a JSON pointer (RFC 6901), and what it is. */
struct um_definition_fault {
	char pointer[80];
	const char *reason;
};

/* An object of the definition, and where it is. */
struct um_place {
	const struct um_json_node *node;
	char pointer[40];
	struct um_definition_fault *fault;
};

/* The member of this name, or NULL. */
const struct um_json_node *um_place_get(const struct um_place *at,
	const char *name);

/* Sets the fault, for the object itself if `name` is NULL. Always false. */
bool um_place_refuse(const struct um_place *at, const char *name,
	const char *reason);

/* The element `node` of the member `list`. */
struct um_place um_place_element(const struct um_place *at, const char *list,
	size_t index, const struct um_json_node *node);

/* It is an object with no other members than those of the list. */
bool um_place_has(const struct um_place *at, const char *const *names);

/* A member that is words (form/words.h); NULL without it. */
bool um_place_words(const struct um_json_node **out, const struct um_place *at,
	const char *name, size_t max, bool lines, bool required);

/* A member that is true or false; false without it. */
bool um_place_bool(bool *out, const struct um_place *at, const char *name);

#endif
