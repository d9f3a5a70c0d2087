/* SPDX-License-Identifier: MIT */
/*
 * Where a description takes its values from, and the functions over them
 * (lib/providers/README.md, "Values"): compiled once, when the description
 * is read.
 */
#ifndef UM_EXPR_H
#define UM_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "core/conf.h"
#include "core/str.h"
#include "core/strlist.h"
#include "webhook/delivery.h"
#include "webhook/pointer.h"

#define UM_EXPR_DEPTH_MAX 4   /* functions within functions */
#define UM_EXPR_PARTS_MAX 16  /* of a list */
#define UM_EXPR_HEADER_MAX 60 /* characters; a number may follow */

enum um_expr_kind {
	UM_EXPR_NONE,    /* the description does not say it: absent */
	UM_EXPR_LITERAL, /* of the description, or a constant of the site */
	UM_EXPR_HEADER,
	UM_EXPR_QUERY,
	UM_EXPR_FORM,
	UM_EXPR_MULTIPART,
	UM_EXPR_JSON,
	UM_EXPR_ITEM,
	UM_EXPR_BODY,
	UM_EXPR_SIGNATURE, /* another named part of the signature header */
	UM_EXPR_CRC32,
	UM_EXPR_SHA256_HEX,
	UM_EXPR_JOIN,
	UM_EXPR_FIRST,
	UM_EXPR_SORTED_FORM,
	UM_EXPR_SORTED_QUERY,
};

/* Zeroed to begin with: NONE. */
struct um_expr {
	enum um_expr_kind kind;
	/* A literal, a name, or what stands between the parts of a join. */
	char *text;
	/* A header's spellings; fields that are left out of a sorted list. */
	struct um_strlist names;
	struct um_expr_json {
		struct um_pointer at;
		/* Of an array, the one element whose `where` is `is`. */
		bool selects;
		struct um_pointer where, value;
		char *is;
	} json;
	struct um_expr_sorted {
		char *equals, *separator;
		bool as_sent; /* not decoded */
	} sorted;
	size_t parts_len;
	struct um_expr *parts;
};

/* What a value may be made of at its place. */
struct um_expr_scope {
	const char *(*constant)(const char *name, void *arg);
	void *arg;
	bool has_items;  /* there is an iterator */
	bool has_params; /* the signature header has named parts */
};

/* Compiles the member `key`; free the value in every case. */
bool um_expr_load(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *object, const char *key,
	const struct um_expr_scope *scope);
/* The same of a node that is not a member: an element of a list. */
bool um_expr_load_node(struct um_expr *expr, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope);
void um_expr_free(struct um_expr *expr);

/*
 * Puts the value's text at the end of `out`. Anything but FOUND puts
 * nothing of use there.
 */
enum um_found um_expr_eval(const struct um_expr *expr,
	struct um_parsed_delivery *parsed, struct um_buf *out);

/*
 * The kinds that sort. Like a join, they note in the reading when a value
 * holds what separates it from the next one.
 */
enum um_found um_expr_eval_sorted(const struct um_expr *expr,
	struct um_parsed_delivery *parsed, struct um_buf *out);

/*
 * Of bytes that end with `mark`: whether it begins earlier, counted from
 * `start`, so that what is before it could be cut in another way.
 */
bool um_expr_separator_is_ambiguous(const struct um_buf *out, size_t start,
	const char *separator);

/* Whether two values read the same thing. */
bool um_expr_equal(const struct um_expr *a, const struct um_expr *b);
/* Whether the value, or a part of it, is of this kind. */
bool um_expr_uses(const struct um_expr *expr, enum um_expr_kind kind);

#endif
