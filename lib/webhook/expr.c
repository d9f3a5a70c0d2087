/* SPDX-License-Identifier: MIT */
#include "webhook/expr.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/encode.h"

void /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
um_expr_free(struct um_expr *expr)
{
	um_strlist_free(&expr->names);
	for (size_t i = 0; i < expr->parts_len; i++)
		um_expr_free(&expr->parts[i]);
	free(expr->parts);
	free(expr->text);
	um_pointer_free(&expr->json.at);
	um_pointer_free(&expr->json.where);
	um_pointer_free(&expr->json.value);
	um_pointer_free(&expr->json.inside);
	free(expr->json.is);
	*expr = (struct um_expr){ 0 };
}

void
um_value_free(struct um_value *value)
{
	um_buf_free(&value->made);
	*value = (struct um_value){ 0 };
}

/* How an expression of one kind is evaluated, into a value that is zeroed. */
typedef enum um_found evaluate(const struct um_expr *expr,
	const struct um_source *source, struct um_value *value);

/* NONE has no text, and is absent. */
static enum um_found
eval_literal(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	(void)source;
	return um_value_take(value, um_str(expr->text));
}

/* All names of the header that are there must have the same value. */
static enum um_found
eval_header(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	const struct um_delivery *delivery = source->parsed->delivery;
	struct um_str found = um_str(NULL);

	for (size_t i = 0; i < expr->names.len; i++) {
		struct um_str text = um_str(
			delivery->header(expr->names.item[i], delivery->arg));

		if (text.len == 0)
			continue;
		if (found.len != 0 && !um_str_eq(found, text))
			return um_value_unreadable(value,
				"is a header with two values");
		found = text;
	}
	return um_value_take(value, found);
}

static enum um_found
take_field(const struct um_field *field, struct um_value *value)
{
	if (field == NULL)
		return UM_ABSENT;
	if (field->unreadable)
		return um_value_unreadable(value,
			"is a field that is there twice, too long, or not "
			"decodable");
	return um_value_take(value, field->value);
}

/* A field of the query, or of a form. */
static enum um_found
eval_field(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	const struct um_fields *fields =
		&source->parsed->fields[expr->kind == UM_EXPR_QUERY
				? UM_FIELDS_OF_QUERY
				: UM_FIELDS_OF_BODY];

	if (fields->found != UM_FOUND)
		return fields->found;
	return take_field(um_form_field(&fields->form, expr->text), value);
}

static enum um_found
eval_multipart(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	const struct um_parsed *parsed = source->parsed;

	if (parsed->multipart_is != UM_FOUND)
		return parsed->multipart_is;
	return take_field(um_multipart_field(&parsed->multipart, expr->text),
		value);
}

static enum um_found
eval_json(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	return um_expr_find(&expr->json,
		expr->kind == UM_EXPR_ITEM ? source->item
					   : source->parsed->document,
		value);
}

static enum um_found
eval_claim(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	if (source->claims == NULL || *source->claims == NULL)
		return UM_ABSENT;
	return um_expr_find(&expr->json, *source->claims, value);
}

static enum um_found
eval_body(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	(void)expr;
	return um_value_take(value, source->parsed->delivery->body);
}

/* A parameter that occurs twice is ambiguous. */
static enum um_found
eval_signature(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	const struct um_params *params = source->params;
	struct um_str found = um_str(NULL);

	for (size_t i = 0; params != NULL && i < params->len; i++) {
		if (!um_str_is(params->param[i].name, expr->text))
			continue;
		if (found.ptr != NULL)
			return um_value_unreadable(value,
				"is a parameter that is there twice");
		found = params->param[i].value;
	}
	return um_value_take(value, found);
}

/* CRC-32 of ISO 3309 as in gzip (RFC 1952 section 8), half a byte a step. */
static uint32_t
crc32_of(struct um_str bytes)
{
	static const uint32_t table[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8,
		0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0,
		0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < bytes.len; i++) {
		crc ^= (unsigned char)bytes.ptr[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

/* An absent value has the checksum of no bytes. */
static enum um_found
eval_crc32(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	struct um_value of;
	enum um_found found = um_expr_eval(&expr->parts[0], source, &of);

	um_buf_printf(&value->made, "%" PRIu32, crc32_of(of.text));
	um_value_free(&of);
	return found == UM_BAD ? UM_BAD : um_value_take_made(value);
}

/* Letters of ASCII alone. */
static enum um_found
eval_lower(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	struct um_value of;
	enum um_found found = um_expr_eval(&expr->parts[0], source, &of);

	um_buf_put(&value->made, of.text.ptr, of.text.len);
	for (size_t i = 0; i < value->made.len; i++)
		if (value->made.ptr[i] >= 'A' && value->made.ptr[i] <= 'Z')
			value->made.ptr[i] += 'a' - 'A';
	value->bad_at = of.bad_at;
	value->bad_reason = of.bad_reason;
	value->is_unreadable = of.is_unreadable;
	um_value_free(&of);
	return found == UM_FOUND ? um_value_take_made(value) : found;
}

bool
um_expr_is_digits(struct um_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (um_hex_digit(text.ptr[i]) < 0)
			return false;
	return text.len != 0 && text.len <= 64;
}

static enum um_found
eval_mac(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	struct um_value of;
	enum um_found found = um_expr_eval(&expr->parts[0], source, &of);

	if (found == UM_FOUND
		&& (source->mac == NULL
			|| (source->mac_of_digits
				&& !um_expr_is_digits(of.text))
			|| !um_verifier_sign(source->mac, of.text,
				&value->made)))
		found = UM_BAD;
	um_value_free(&of);
	return found == UM_FOUND ? um_value_take_made(value) : found;
}

/*
 * `out` ends with a value, which begins at `start`, and the separator after it.
 * Whether the separator occurs earlier as well, so that the value could end
 * there.
 */
static bool
separator_is_ambiguous(const struct um_buf *out, size_t start,
	const char *separator)
{
	size_t len = strlen(separator);

	return len != 0 && out->len - start >= len
		&& memmem(out->ptr + start, out->len - start, separator, len)
		!= out->ptr + out->len - len;
}

/* Absent parts join as empty; if all are absent the value is absent. */
static enum um_found
eval_join(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	const struct um_str separator = um_str(expr->text);
	struct um_buf *made = &value->made;
	bool any = false;

	for (size_t i = 0; i < expr->parts_len; i++) {
		const struct um_expr *part = &expr->parts[i];
		struct um_value one;
		size_t start = made->len;
		enum um_found found = um_expr_eval(part, source, &one);

		um_buf_put(made, one.text.ptr, one.text.len);
		value->bad_at = one.bad_at;
		value->bad_reason = one.bad_reason;
		value->is_unreadable |= one.is_unreadable;
		value->is_ambiguous |= one.is_ambiguous;
		um_value_free(&one);
		any |= found == UM_FOUND && part->kind != UM_EXPR_LITERAL;
		/* Also after the last one, to check it like the others. */
		um_buf_put(made, separator.ptr, separator.len);
		if (found == UM_BAD || made->failed)
			return UM_BAD;
		value->is_ambiguous |= separator_is_ambiguous(made, start,
			expr->text);
	}
	made->len -= separator.len;
	return any ? um_value_take_made(value) : UM_ABSENT;
}

static enum um_found
eval_first(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	enum um_found found = UM_ABSENT;

	for (size_t i = 0; i < expr->parts_len && found == UM_ABSENT; i++) {
		um_value_free(value);
		found = um_expr_eval(&expr->parts[i], source, value);
	}
	return found;
}

static int
compare_names(const void *left, const void *right)
{
	const struct um_field *a = left, *b = right;
	size_t len = a->name.len < b->name.len ? a->name.len : b->name.len;
	int order = len != 0 ? memcmp(a->name.ptr, b->name.ptr, len) : 0;

	if (order != 0)
		return order;
	return (a->name.len > b->name.len) - (a->name.len < b->name.len);
}

/* Neither an empty part, as in `a&&b`, nor `=` is a field. */
static size_t
split_query(struct um_field out[static UM_FORM_FIELDS_MAX], struct um_str query)
{
	size_t len = 0;

	while (query.len != 0 && len < UM_FORM_FIELDS_MAX) {
		struct um_str value = um_str_cut(&query, "&");
		struct um_str name = um_str_cut(&value, "=");

		if (name.len != 0 || value.len != 0)
			out[len++] = (struct um_field){ name, value, false };
	}
	return len;
}

/*
 * The fields as they were sent, with their percent-encoding, as
 * `name=value&name=value`, but for those that `without` names. False if none is
 * left.
 */
static bool
put_sorted(struct um_buf *out, struct um_str query,
	const struct um_strlist *without)
{
	struct um_field field[UM_FORM_FIELDS_MAX];
	size_t len = split_query(field, query);
	bool any = false;

	qsort(field, len, sizeof(field[0]), compare_names);
	for (size_t i = 0; i < len; i++) {
		if (um_strlist_has(without, field[i].name))
			continue;
		if (any)
			um_buf_puts(out, "&");
		um_buf_put(out, field[i].name.ptr, field[i].name.len);
		um_buf_puts(out, "=");
		um_buf_put(out, field[i].value.ptr, field[i].value.len);
		any = true;
	}
	return any;
}

/* All of it is signed, so that all of it has to be readable. */
static enum um_found
eval_sorted_query(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	struct um_str query = source->parsed->delivery->query;
	struct um_form strict;
	bool is_readable = um_form_parse(&strict, query) == UM_REFUSAL_NONE;

	um_form_free(&strict);
	if (!is_readable)
		return um_value_unreadable(value, "is not readable");
	return put_sorted(&value->made, query, &expr->names)
		? um_value_take_made(value)
		: UM_ABSENT;
}

/* Appends the value of the header with this name. */
static enum um_found
put_listed(struct um_value *value, struct um_str name,
	const struct um_delivery *delivery)
{
	char text[UM_EXPR_HEADER_MAX + 1];
	struct um_str header;

	if (name.len == 0 || name.len >= sizeof(text)
		|| memchr(name.ptr, '\0', name.len) != NULL)
		return UM_BAD;
	memcpy(text, name.ptr, name.len);
	text[name.len] = '\0';
	header = um_str(delivery->header(text, delivery->arg));
	for (size_t i = 0; i < header.len; i++)
		value->is_ambiguous |= header.ptr[i] == '{'
			|| header.ptr[i] == '[';
	um_buf_put(&value->made, header.ptr, header.len);
	return header.len != 0 ? UM_FOUND : UM_ABSENT;
}

/*
 * A header may have the separator in its value, as Host has full stops. What
 * follows is JSON, whose first bracket shows where it begins, unless a header
 * has one as well.
 */
static enum um_found
eval_listed(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	struct um_value names;
	enum um_found found = um_expr_eval(&expr->parts[0], source, &names);
	struct um_str rest = names.text;

	for (size_t i = 0; found == UM_FOUND && rest.ptr != NULL; i++) {
		if (i != 0)
			um_buf_puts(&value->made, expr->text);
		found = i == UM_PARAMS_MAX
			? UM_BAD
			: put_listed(value, um_str_cut(&rest, " "),
				source->parsed->delivery);
	}
	um_value_free(&names);
	return found == UM_FOUND ? um_value_take_made(value) : found;
}

enum um_found
um_expr_eval(const struct um_expr *expr, const struct um_source *source,
	struct um_value *value)
{
	static evaluate *const by_kind[] = {
		[UM_EXPR_NONE] = eval_literal,
		[UM_EXPR_LITERAL] = eval_literal,
		[UM_EXPR_HEADER] = eval_header,
		[UM_EXPR_QUERY] = eval_field,
		[UM_EXPR_FORM] = eval_field,
		[UM_EXPR_MULTIPART] = eval_multipart,
		[UM_EXPR_JSON] = eval_json,
		[UM_EXPR_ITEM] = eval_json,
		[UM_EXPR_BODY] = eval_body,
		[UM_EXPR_CLAIM] = eval_claim,
		[UM_EXPR_SIGNATURE] = eval_signature,
		[UM_EXPR_CRC32] = eval_crc32,
		[UM_EXPR_LOWER] = eval_lower,
		[UM_EXPR_MAC] = eval_mac,
		[UM_EXPR_JOIN] = eval_join,
		[UM_EXPR_FIRST] = eval_first,
		[UM_EXPR_SORTED_QUERY] = eval_sorted_query,
		[UM_EXPR_LISTED] = eval_listed,
	};

	*value = (struct um_value){ 0 };
	return by_kind[expr->kind](expr, source, value);
}
