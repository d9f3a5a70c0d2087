/* SPDX-License-Identifier: MIT */
/* Expressions beside each other, and what they consist of. */
#include <string.h>

#include "description/expr_load.h"

static bool
same_text(const char *a, const char *b)
{
	return (a == NULL && b == NULL)
		|| (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
same_json(const struct um_expr_json *a, const struct um_expr_json *b)
{
	return um_pointer_equal(&a->at, &b->at) && a->selects == b->selects
		&& um_pointer_equal(&a->where, &b->where)
		&& um_pointer_equal(&a->value, &b->value)
		&& same_text(a->is, b->is) && a->is_text == b->is_text
		&& um_pointer_equal(&a->inside, &b->inside);
}

bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
um_expr_same(const struct um_expr *a, const struct um_expr *b)
{
	if (a->kind != b->kind || a->parts_len != b->parts_len
		|| !same_text(a->text, b->text)
		|| !um_strlist_equal(&a->names, &b->names)
		|| !same_json(&a->json, &b->json))
		return false;
	for (size_t i = 0; i < a->parts_len; i++)
		if (!um_expr_same(&a->parts[i], &b->parts[i]))
			return false;
	return true;
}

bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
um_expr_is_constant(const struct um_expr *expr)
{
	for (size_t i = 0; i < expr->parts_len; i++)
		if (!um_expr_is_constant(&expr->parts[i]))
			return false;
	return expr->kind == UM_EXPR_LITERAL || expr->parts_len != 0;
}

bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
um_expr_uses(const struct um_expr *expr, enum um_expr_kind kind)
{
	if (expr->kind == kind)
		return true;
	for (size_t i = 0; i < expr->parts_len; i++)
		if (um_expr_uses(&expr->parts[i], kind))
			return true;
	return false;
}

unsigned /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
um_expr_needs(const struct um_expr *expr)
{
	static const unsigned needs_of[] = {
		[UM_EXPR_QUERY] = UM_NEED_QUERY,
		[UM_EXPR_SORTED_QUERY] = UM_NEED_QUERY,
		[UM_EXPR_FORM] = UM_NEED_FORM,
		[UM_EXPR_MULTIPART] = UM_NEED_MULTIPART,
		[UM_EXPR_JSON] = UM_NEED_JSON,
		[UM_EXPR_ITEM] = UM_NEED_JSON,
	};
	unsigned needs = expr->kind < sizeof(needs_of) / sizeof(needs_of[0])
		? needs_of[expr->kind]
		: 0;

	for (size_t i = 0; i < expr->parts_len; i++)
		needs |= um_expr_needs(&expr->parts[i]);
	return needs;
}
