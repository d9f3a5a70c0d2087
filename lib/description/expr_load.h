/* SPDX-License-Identifier: MIT */
/*
 * Compiles expressions (lib/providers/VALUES.md, "Values"), and says what they
 * consist of.
 */
#ifndef UM_EXPR_LOAD_H
#define UM_EXPR_LOAD_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"
#include "core/strlist.h"
#include "description/provider_env.h"
#include "webhook/expr.h"

/* What an expression may refer to where it stands. */
struct um_expr_scope {
	um_constant *constant;
	void *arg;
	bool has_items;      /* the description has `events` */
	bool has_only_items; /* it is a row of a list, and of no delivery */
	bool has_params;     /* the signature has a `field` */
	bool has_mac;        /* it is an answer to a challenge */
	bool has_claims;     /* the signature is a token; in `timestamp` */
	bool is_signed;      /* it is a part of `signed` */
};

/* Compiles the member `key`. Free the expression in every case. */
bool um_expr_load(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *object, const char *key,
	const struct um_expr_scope *scope);
/* The same, and refuses what would be the same text for every delivery. */
bool um_expr_load_found(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *object, const char *key,
	const struct um_expr_scope *scope);
/*
 * Compiles a list of 1 to UM_EXPR_PARTS_MAX of them. In every case, free each of
 * the *parts_len in *parts, which were NULL and 0, and the list itself.
 */
bool um_expr_load_list(struct um_expr **parts, size_t *parts_len,
	const struct um_conf_loc *at, const json_t *list,
	const struct um_expr_scope *scope);
/* A member that is a JSON pointer (RFC 6901). */
bool um_expr_load_pointer(struct um_pointer *pointer,
	const struct um_conf_loc *at, const json_t *object, const char *key);
/* All values of the constant that {"site": …} names. */
bool um_expr_load_constants(struct um_strlist *list,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope);

/* Whether two expressions read the same value. */
bool um_expr_same(const struct um_expr *a, const struct um_expr *b);
/* Whether the expression is the same text for every delivery. */
bool um_expr_is_constant(const struct um_expr *expr);
/* Whether the expression, or a part of it, is of this kind. */
bool um_expr_uses(const struct um_expr *expr, enum um_expr_kind kind);
/* The parts of a delivery that it is read from: a set of enum um_need. */
unsigned um_expr_needs(const struct um_expr *expr);

#endif
