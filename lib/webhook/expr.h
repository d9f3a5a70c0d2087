/* SPDX-License-Identifier: MIT */
/*
 * Expressions: where a description takes its values from, and the functions
 * over them (lib/providers/README.md, "Values"). They are compiled once, when
 * the description is loaded, and evaluated for each delivery.
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
#include "webhook/provider_env.h"

#define UM_EXPR_DEPTH_MAX 4   /* nesting of functions */
#define UM_EXPR_PARTS_MAX 16  /* of a list */
#define UM_EXPR_HEADER_MAX 60 /* characters; a number may follow */

enum um_expr_kind {
	UM_EXPR_NONE,    /* not in the description: absent */
	UM_EXPR_LITERAL, /* of the description, or a constant of the site */
	UM_EXPR_HEADER,
	UM_EXPR_QUERY,
	UM_EXPR_FORM,
	UM_EXPR_MULTIPART,
	UM_EXPR_JSON,
	UM_EXPR_ITEM,
	UM_EXPR_BODY,
	UM_EXPR_ADDRESS, /* the query as it came; with `text`, the whole URL */
	UM_EXPR_SIGNATURE, /* another parameter of the signature header */
	UM_EXPR_CRC32,
	UM_EXPR_SHA256_HEX,
	UM_EXPR_MAC, /* with a key of parsed->mac; in challenges */
	UM_EXPR_JOIN,
	UM_EXPR_FIRST,
	UM_EXPR_SORTED_FORM,
	UM_EXPR_SORTED_QUERY,
};

/* Zeroed to begin with: NONE. */
struct um_expr {
	enum um_expr_kind kind;
	/* A literal, a name, or the separator of a join. */
	char *text;
	/* The names of a header; the fields that a sorted list leaves out. */
	struct um_strlist names;
	struct um_expr_json {
		struct um_pointer at;
		/* Selects the element of an array whose `where` is `is`. */
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

/* What an expression may refer to where it stands. */
struct um_expr_scope {
	um_constant *constant;
	void *arg;
	/* The constant that is the address of this kind of delivery. */
	const char *address;
	bool has_items;  /* the description has `events` */
	bool has_params; /* the signature has a `field` */
	bool has_mac;    /* it is an answer to a challenge */
};

/* Compiles the member `key`. Free the expression in every case. */
bool um_expr_load(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *object, const char *key,
	const struct um_expr_scope *scope);
/* The same, and refuses what would be the same text for every delivery. */
bool um_expr_load_found(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *object, const char *key,
	const struct um_expr_scope *scope);
/* The same for a node that is not a member, as an element of a list. */
bool um_expr_load_node(struct um_expr *expr, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope);
void um_expr_free(struct um_expr *expr);

/* All values of the constant that {"site": …} names. */
bool um_expr_load_constants(struct um_strlist *list,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope);

/*
 * Appends the value's text to `out`. What is appended has no meaning unless
 * FOUND is returned. Sets parsed->ambiguous when a value contains the separator
 * that stands between it and the next one.
 */
enum um_found um_expr_eval(const struct um_expr *expr,
	struct um_parsed_delivery *parsed, struct um_buf *out);

/*
 * `out` ends with a value, which begins at `start`, and the separator after it.
 * Whether the separator occurs earlier as well, so that the value could end
 * there.
 */
bool um_expr_separator_is_ambiguous(const struct um_buf *out, size_t start,
	const char *separator);

/*
 * Whether the text is 1 to 64 hexadecimal digits: all that is signed for
 * somebody who has proved nothing.
 */
bool um_expr_is_digits(struct um_str text);

/* Whether two expressions, which are not functions, read the same value. */
bool um_expr_equal(const struct um_expr *a, const struct um_expr *b);
/* The same for any two expressions. */
bool um_expr_same(const struct um_expr *a, const struct um_expr *b);
/* Whether the expression is the same text for every delivery. */
bool um_expr_is_constant(const struct um_expr *expr);
/* Whether the expression, or a part of it, is of this kind. */
bool um_expr_uses(const struct um_expr *expr, enum um_expr_kind kind);

#endif
