/* SPDX-License-Identifier: MIT */
/*
 * Where a description takes its values from, and the functions over them
 * (lib/providers/README.md, "Values"): compiled once, when the description
 * is read.
 */
#ifndef UM_VALUE_H
#define UM_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "core/names.h"
#include "core/place.h"
#include "core/str.h"
#include "webhook/pointer.h"
#include "webhook/reading.h"

#define UM_VALUE_DEPTH_MAX 4   /* functions within functions */
#define UM_VALUE_PARTS_MAX 16  /* of a list */
#define UM_VALUE_HEADER_MAX 60 /* characters; a number may follow */

enum um_value_kind {
	UM_VALUE_NONE,    /* the description does not say it: absent */
	UM_VALUE_LITERAL, /* of the description, or a constant of the site */
	UM_VALUE_HEADER,
	UM_VALUE_QUERY,
	UM_VALUE_FORM,
	UM_VALUE_MULTIPART,
	UM_VALUE_JSON,
	UM_VALUE_ITEM,
	UM_VALUE_BODY,
	UM_VALUE_SIGNATURE, /* another named part of the signature header */
	UM_VALUE_CRC32,
	UM_VALUE_SHA256_HEX,
	UM_VALUE_JOIN,
	UM_VALUE_FIRST,
	UM_VALUE_SORTED_FORM,
	UM_VALUE_SORTED_QUERY,
};

/* Zeroed to begin with: NONE. */
struct um_value {
	enum um_value_kind kind;
	/* A literal, a name, or what stands between the parts of a join. */
	char *text;
	/* A header's spellings; fields that are left out of a sorted list. */
	struct um_names names;
	struct um_value_json {
		struct um_pointer at;
		/* Of an array, the one element whose `where` is `is`. */
		bool selects;
		struct um_pointer where, value;
		char *is;
	} json;
	struct um_value_sorted {
		char *equals, *between;
		bool as_sent; /* not decoded */
	} sorted;
	size_t parts_len;
	struct um_value *parts;
};

/* What a value may be made of at its place. */
struct um_value_scope {
	const char *(*constant)(const char *name, void *arg);
	void *arg;
	bool has_items; /* there is an iterator */
	bool has_pairs; /* the signature header has named parts */
};

/* Compiles the member `key`; free the value in every case. */
bool um_value_load(struct um_value *value, const struct um_place *at,
	const json_t *object, const char *key,
	const struct um_value_scope *scope);
/* The same of a node that is not a member: an element of a list. */
bool um_value_load_node(struct um_value *value, const struct um_place *at,
	json_t *node, const struct um_value_scope *scope);
void um_value_free(struct um_value *value);

/*
 * Puts the value's text at the end of `out`. Anything but FOUND puts
 * nothing of use there.
 */
enum um_found um_value_put(const struct um_value *value,
	struct um_reading *reading, struct um_buf *out);

/*
 * The kinds that sort. Like a join, they note in the reading when a value
 * holds what separates it from the next one.
 */
enum um_found um_value_put_sorted(const struct um_value *value,
	struct um_reading *reading, struct um_buf *out);

/*
 * Of bytes that end with `mark`: whether it begins earlier, counted from
 * `start`, so that what is before it could be cut in another way.
 */
bool um_value_cuts_early(const struct um_buf *out, size_t start,
	const char *mark);

/* Whether two values read the same thing. */
bool um_value_same(const struct um_value *a, const struct um_value *b);
/* Whether the value, or a part of it, is of this kind. */
bool um_value_uses(const struct um_value *value, enum um_value_kind kind);

#endif
