/* SPDX-License-Identifier: MIT */
/* JSON from outside (RFC 8259), and pointers into it (RFC 6901). */
#ifndef UM_JSON_H
#define UM_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "str.h"

#define UM_JSON_DEPTH_MAX 32     /* nesting of objects and arrays */
#define UM_JSON_VALUES_MAX 65536 /* elements and members, all together */
#define UM_POINTER_MAX 256       /* characters of a pointer */
#define UM_POINTER_TOKENS_MAX 16

/*
 * An object or an array, to be given back with json_decref(). NULL for
 * anything that is not exactly one: over a limit, not UTF-8, a NUL, a
 * repeated key, a number that fits no 64-bit integer or double, bytes after
 * the end.
 */
json_t *um_json_parse(struct um_str text);

/*
 * The text of a string, a whole number, true or false. False, with nothing
 * put, for everything else.
 */
bool um_json_text(const json_t *node, struct um_buf *out);

/* A pointer that was compiled; zeroed to begin with, then the whole. */
struct um_pointer {
	size_t len;
	struct um_pointer_token {
		char *name;
		size_t index; /* in an array; SIZE_MAX where it is none */
	} * token;
};

/* False for what is no pointer, is over a limit, or out of memory. */
bool um_pointer_compile(struct um_pointer *pointer, const char *text);
void um_pointer_free(struct um_pointer *pointer);
bool um_pointer_same(const struct um_pointer *a, const struct um_pointer *b);

/* The node there, which stays the document's; NULL where there is none. */
const json_t *um_pointer_find(const struct um_pointer *pointer,
	const json_t *document);

#endif
