/* SPDX-License-Identifier: MIT */
/* The bytes that a scheme signs, and whether they have one reading. */
#include <string.h>

#include "webhook/scheme.h"

/* The body, where it is signed; otherwise the end. */
static size_t
find_body(const struct um_scheme *scheme)
{
	for (size_t i = 0; i < scheme->parts_len; i++)
		if (scheme->parts[i].kind == UM_EXPR_BODY)
			return i;
	return scheme->parts_len;
}

/* Where each part begins in the signed text; after the last one its end. */
struct places {
	size_t at[UM_EXPR_PARTS_MAX + 1];
};

/* Whether the text after the value `i` occurs in the value, or begins in it. */
static bool
value_ends_elsewhere(const struct um_scheme *scheme, size_t i,
	const struct um_buf *out, const struct places *places)
{
	const struct um_expr *mark = &scheme->parts[i + 1];
	const char *start = out->ptr + places->at[i];

	return mark->kind == UM_EXPR_LITERAL
		&& memmem(start, out->len - places->at[i], mark->text,
			   strlen(mark->text))
		!= out->ptr + places->at[i + 1];
}

/* Whether the value `i`, after the body, begins at a later text like that before it. */
static bool
value_begins_elsewhere(const struct um_scheme *scheme, size_t i,
	const struct um_buf *out, const struct places *places)
{
	const struct um_expr *mark = &scheme->parts[i - 1];
	size_t start = places->at[i - 1] + 1;

	return mark->kind == UM_EXPR_LITERAL
		&& memmem(out->ptr + start, places->at[i + 1] - start,
			   mark->text, strlen(mark->text))
		!= NULL;
}

/*
 * Whether other values could result in the same text. A reader who knows the
 * parts finds each value before the body from its beginning to the first text
 * like the one after it; each value after the body, from the end on, back to the
 * last text like the one before it.
 */
static bool
could_be_others(const struct um_scheme *scheme, const struct um_buf *out,
	const struct places *places)
{
	size_t body = find_body(scheme);
	bool others = false;

	for (size_t i = 0; i < scheme->parts_len && !others; i++) {
		enum um_expr_kind kind = scheme->parts[i].kind;

		if (kind == UM_EXPR_LITERAL || kind == UM_EXPR_LISTED
			|| i == body)
			continue;
		if (i < body && i + 1 < scheme->parts_len)
			others = value_ends_elsewhere(scheme, i, out, places);
		else if (i > body)
			others = value_begins_elsewhere(scheme, i, out, places);
	}
	return others;
}

/* Whether the body, after headers that the signature lists, is no JSON. */
static bool
body_may_touch(const struct um_scheme *scheme, size_t number,
	const struct um_buf *out, size_t start)
{
	return scheme->parts[number].kind == UM_EXPR_BODY && number >= 2
		&& scheme->parts[number - 2].kind == UM_EXPR_LISTED
		&& (out->len == start
			|| (out->ptr[start] != '{' && out->ptr[start] != '['));
}

enum um_found
um_scheme_put_signed(const struct um_scheme *scheme,
	const struct um_source *source, struct um_buf *out, bool *is_ambiguous)
{
	struct places places;

	*is_ambiguous = false;
	for (size_t i = 0; i < scheme->parts_len; i++) {
		const struct um_expr *part = &scheme->parts[i];
		struct um_value value;
		enum um_found found = um_expr_eval(part, source, &value);

		places.at[i] = out->len;
		um_buf_put(out, value.text.ptr, value.text.len);
		*is_ambiguous |= value.is_ambiguous;
		um_value_free(&value);
		if (found == UM_BAD || out->failed)
			return UM_BAD;
		if (found == UM_ABSENT && part->kind != UM_EXPR_BODY)
			return UM_ABSENT;
		*is_ambiguous |= body_may_touch(scheme, i, out, places.at[i]);
	}
	places.at[scheme->parts_len] = out->len;
	*is_ambiguous |= could_be_others(scheme, out, &places);
	return UM_FOUND;
}
