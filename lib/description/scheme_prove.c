/* SPDX-License-Identifier: MIT */
/* What a right signature proves: decided when a description is loaded. */
#include <string.h>

#include "description/scheme_load.h"

static bool
is_fixed(const struct um_expr *expr)
{
	return expr->kind == UM_EXPR_LITERAL;
}

/* Whether both, which are not functions, read the same value. */
static bool
same_source(const struct um_expr *a, const struct um_expr *b)
{
	return a->parts_len == 0 && um_expr_same(a, b);
}

/* Whether what the function joins can be split into its parts again. */
static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
can_be_split(const struct um_expr *expr)
{
	if (expr->kind == UM_EXPR_JOIN && expr->text[0] == '\0')
		return false;
	for (size_t i = 0; i < expr->parts_len; i++)
		if (!can_be_split(&expr->parts[i]))
			return false;
	return true;
}

/* A timestamp neither begins nor ends with a bracket, as JSON does. */
static bool
may_touch(const struct um_expr *a, const struct um_expr *b,
	const struct um_payload *payload, const struct um_expr *timestamp)
{
	return payload->part == UM_PAYLOAD_BODY
		&& timestamp->kind != UM_EXPR_NONE
		&& ((a->kind == UM_EXPR_BODY && same_source(b, timestamp))
			|| (b->kind == UM_EXPR_BODY
				&& same_source(a, timestamp)));
}

/* Whether the signed text is unambiguous, or put_signed() notices if not. */
static bool
is_unambiguous(const struct um_scheme *scheme, const struct um_payload *payload,
	const struct um_expr *timestamp)
{
	for (size_t i = 0; i < scheme->parts_len; i++) {
		const struct um_expr *part = &scheme->parts[i];

		if (!can_be_split(part))
			return false;
		/* After headers that are listed there is JSON. */
		if (part->kind == UM_EXPR_LISTED
			&& payload->part != UM_PAYLOAD_BODY)
			return false;
		if (i != 0 && !is_fixed(part) && !is_fixed(part - 1)
			&& !may_touch(part - 1, part, payload, timestamp))
			return false;
	}
	return true;
}

/* Whether the value of `leaf` is part of what `part` signs. */
static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
holds(const struct um_expr *part, const struct um_expr *leaf)
{
	if (part->kind == UM_EXPR_SORTED_QUERY && leaf->kind == UM_EXPR_QUERY)
		return !um_strlist_has(&part->names, um_str(leaf->text));
	/*
	 * Where one header of a list ends, the signed text does not tell, nor
	 * which letters of a value in lower case were capitals.
	 */
	if (part->kind == UM_EXPR_LISTED || part->kind == UM_EXPR_LOWER)
		return false;
	if (same_source(part, leaf))
		return true;
	/* Of a text that is signed, what the JSON in it says, too. */
	if (leaf->json.is_text) {
		struct um_expr text = *leaf;

		text.json.is_text = false;
		text.json.inside = (struct um_pointer){ 0 };
		if (same_source(part, &text))
			return true;
	}
	/* The signed text does not tell which value of a `first` it has. */
	for (size_t i = 0; part->kind != UM_EXPR_FIRST && i < part->parts_len;
		i++)
		if (holds(&part->parts[i], leaf))
			return true;
	return false;
}

static bool
is_signed(const struct um_scheme *scheme, const struct um_expr *leaf)
{
	/* The claims, and by its digest the body. */
	if (scheme->is_jwt)
		return leaf->kind == UM_EXPR_CLAIM
			|| leaf->kind == UM_EXPR_BODY;
	for (size_t i = 0; i < scheme->parts_len; i++)
		if (holds(&scheme->parts[i], leaf))
			return true;
	return false;
}

/* Whether the value is part of a body or field that is signed as a whole. */
static bool
is_of_signed(const struct um_scheme *scheme, const struct um_expr *leaf,
	const struct um_payload *payload)
{
	static const struct um_expr body = { .kind = UM_EXPR_BODY };
	struct um_expr field = { .kind = UM_EXPR_FORM };

	if (leaf->kind == UM_EXPR_FORM)
		return is_signed(scheme, &body);
	if (leaf->kind != UM_EXPR_JSON && leaf->kind != UM_EXPR_ITEM)
		return false;
	/* The boundary of a multipart body is in a header, unsigned. */
	if (payload->part == UM_PAYLOAD_MULTIPART)
		field.kind = UM_EXPR_MULTIPART;
	field.text = payload->field;
	if (payload->part != UM_PAYLOAD_BODY && is_signed(scheme, &field))
		return true;
	return payload->part != UM_PAYLOAD_MULTIPART
		&& is_signed(scheme, &body);
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
proves(const struct um_scheme *scheme, const struct um_expr *expr,
	const struct um_payload *payload)
{
	if (expr->kind == UM_EXPR_NONE || is_fixed(expr))
		return true;
	if (expr->parts_len == 0)
		return is_signed(scheme, expr)
			|| is_of_signed(scheme, expr, payload);
	for (size_t i = 0; i < expr->parts_len; i++)
		if (!proves(scheme, &expr->parts[i], payload))
			return false;
	return true;
}

bool
um_scheme_proves(const struct um_scheme *scheme, const struct um_expr *expr,
	const struct um_payload *payload, const struct um_expr *timestamp)
{
	return expr->kind == UM_EXPR_NONE || is_fixed(expr)
		|| (is_unambiguous(scheme, payload, timestamp)
			&& proves(scheme, expr, payload));
}
