/* SPDX-License-Identifier: MIT */
/*
 * JSON (RFC 8259) from outside, read strictly and in place: a document is one
 * array of nodes that point into its text. And strings of what we write. The
 * files that people write are read with jansson (core/conf.h); this is for what
 * anybody may send, thousands of times a second.
 */
#ifndef UM_JSON_H
#define UM_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

#define UM_JSON_DEPTH_MAX 32     /* nesting of objects and arrays */
#define UM_JSON_VALUES_MAX 65536 /* values and names, all together */
#define UM_JSON_REAL_MAX 64      /* characters of a number with . or e */

enum um_json_kind {
	UM_JSON_OBJECT,
	UM_JSON_ARRAY,
	UM_JSON_STRING,
	UM_JSON_INTEGER, /* within an int64_t */
	UM_JSON_REAL,    /* within a double */
	UM_JSON_TRUE,
	UM_JSON_FALSE,
	UM_JSON_NULL,
};

/* One value, or the name of a member; what is in it comes right after it. */
struct um_json_node {
	const char *text; /* of a string without its quotes, of a number */
	uint32_t len;
	uint32_t size; /* nodes, with all that is in it */
	uint32_t hash; /* of a name */
	uint8_t kind;
	bool is_escaped;
};

/*
 * The root, an object or an array, to be given back with free(); the text has
 * to stay. NULL for anything that is not exactly one document: over a limit,
 * not UTF-8, a NUL, half a surrogate, a repeated name, a number that fits
 * no 64-bit integer or double, bytes after the end.
 */
struct um_json_node *um_json_parse(struct um_str text);

/* False for NULL as well. */
bool um_json_is(const struct um_json_node *node, enum um_json_kind kind);

/* NULL where there is none, or the node is no object or array. */
const struct um_json_node *um_json_member(const struct um_json_node *object,
	struct um_str name);
const struct um_json_node *um_json_element(const struct um_json_node *array,
	size_t index);

/* The element after this one, the first for NULL; NULL after the last. */
const struct um_json_node *um_json_next(const struct um_json_node *array,
	const struct um_json_node *element);

/*
 * The text of a string, a whole number, true or false. False, with nothing
 * put, for everything else.
 */
bool um_json_text(const struct um_json_node *node, struct um_buf *out);

/* Whether it is a string that says this. */
bool um_json_string_eq(const struct um_json_node *node, struct um_str text);

#endif
