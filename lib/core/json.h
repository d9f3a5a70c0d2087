/* SPDX-License-Identifier: MIT */
/*
 * JSON (RFC 8259) from outside: a document is one array of nodes.
 *
 * Tokens, keys and sealed values are read strictly. A message that is known to be
 * authentic is read leniently: it is refused for what somebody reads of it, and
 * not for what nobody does.
 *
 * The files that people write are read with jansson (core/conf.h). Deliveries
 * are not, because it costs too much: callgrind counts 79,000 instructions for
 * the 4 KB event of tests/bench/scenarios/webhooks.mjs here, and 611,000 for
 * jansson 2.14 with JSON_REJECT_DUPLICATES. The whole signed webhook takes
 * 332,000, so that jansson would make it cost 2.6 times as much.
 */
#ifndef UM_JSON_H
#define UM_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

#define UM_JSON_DEPTH_MAX 32      /* nesting of objects and arrays */
#define UM_JSON_VALUES_MAX 262144 /* values and names, all together */
#define UM_JSON_REAL_MAX 64       /* characters of a number with . or e */

enum um_json_kind {
	UM_JSON_OBJECT,
	UM_JSON_ARRAY,
	UM_JSON_STRING,
	UM_JSON_INTEGER, /* within an int64_t */
	UM_JSON_REAL,    /* within a double */
	UM_JSON_TRUE,
	UM_JSON_FALSE,
	UM_JSON_NULL,
	/* It is there, but cannot be read: `text` is the reason, a C string. */
	UM_JSON_UNREADABLE,
};

/*
 * A value, or the name of a member, which is a string and stands before its
 * value. What an object or array contains follows it.
 */
struct um_json_node {
	const char *text; /* of a string, decoded; of a number, as it came */
	uint32_t len;
	uint32_t size; /* nodes, this one and all that it contains */
	enum um_json_kind kind;
};

struct um_json_fault {
	const char *reason;
	size_t at; /* after about how many bytes */
};

/*
 * Parses a document of at most `max` values and names, whose root is an object or
 * an array. The caller frees it with free(); `text` is not needed any longer.
 * NULL, and *fault unless that is NULL, for anything that is not exactly one
 * document: over a limit, not UTF-8, a NUL, half a surrogate pair, a name that an
 * object has twice, a number outside of its type, bytes after the end; and when
 * out of memory.
 */
struct um_json_node *um_json_parse(struct um_str text, size_t max,
	struct um_json_fault *fault);

/*
 * The same, but a string and a name may have a NUL, as an escape, for a reader who
 * refuses it where it is not allowed.
 */
struct um_json_node *um_json_parse_with_nul(struct um_str text, size_t max,
	struct um_json_fault *fault);

/*
 * The same, but a byte order mark may come first, and these become nodes of kind
 * UNREADABLE: a string or name with a control character, an escape that is none,
 * a NUL, half a surrogate pair, or that is not UTF-8; a number outside of its
 * type; an object or array that is nested too deep. A name may be there twice:
 * um_pointer_find() does not choose one of them.
 */
struct um_json_node *um_json_parse_lenient(struct um_str text, size_t max,
	struct um_json_fault *fault);

static inline bool
um_json_is(const struct um_json_node *node, enum um_json_kind kind)
{
	return node != NULL && node->kind == kind;
}

/* The text of a string, a name or a number; no bytes for NULL. */
static inline struct um_str
um_json_str(const struct um_json_node *node)
{
	return node != NULL ? (struct um_str){ node->text, node->len }
			    : (struct um_str){ 0 };
}

/*
 * The element after this one, the first for NULL. NULL after the last, and
 * where `array` is not an array.
 */
static inline const struct um_json_node *
um_json_next(const struct um_json_node *array,
	const struct um_json_node *element)
{
	const struct um_json_node *next;

	if (!um_json_is(array, UM_JSON_ARRAY))
		return NULL;
	next = element != NULL ? element + element->size : array + 1;
	return next < array + array->size ? next : NULL;
}

/* The first member with this name; NULL: none, or it is no object. */
const struct um_json_node *um_json_member(const struct um_json_node *object,
	struct um_str name);

/*
 * Appends the text of a string, a number, true or false. A number with a
 * fraction or an exponent is given in its shortest form, 10.50 as 10.5 and 1e2
 * as 100; one that needs more than 15 significant digits is refused, because a
 * double does not hold it exactly. False, with nothing appended, for that and
 * for everything else.
 */
bool um_json_text(const struct um_json_node *node, struct um_buf *out);

/* Whether the node is a string with this text. */
static inline bool
um_json_string_eq(const struct um_json_node *node, struct um_str text)
{
	return um_json_is(node, UM_JSON_STRING)
		&& um_str_eq(um_json_str(node), text);
}

#endif
