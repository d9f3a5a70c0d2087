/* SPDX-License-Identifier: MIT */
#include "webhook/expr.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "core/hex.h"

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
	free(expr->json.is);
	free(expr->sorted.equals);
	free(expr->sorted.separator);
	*expr = (struct um_expr){ 0 };
}

static enum um_found
put_text(struct um_buf *out, struct um_str text)
{
	um_buf_put(out, text.ptr, text.len);
	return text.len != 0 ? UM_FOUND : UM_ABSENT;
}

/* All names of the header that are there must have the same value. */
static enum um_found
put_header(const struct um_expr *expr, const struct um_delivery *delivery,
	struct um_buf *out)
{
	struct um_str found = um_str(NULL);

	for (size_t i = 0; i < expr->names.len; i++) {
		struct um_str text = um_str(
			delivery->header(expr->names.item[i], delivery->arg));

		if (text.len == 0)
			continue;
		if (found.len != 0 && !um_str_eq(found, text))
			return UM_BAD;
		found = text;
	}
	return put_text(out, found);
}

/* Finds the selected element. False when there are two of them. */
static bool
select_element(const struct um_expr_json *json,
	const struct um_json_node **node)
{
	const struct um_json_node *element = NULL, *found = NULL;

	while ((element = um_json_next(*node, element)) != NULL) {
		if (!um_json_string_eq(um_pointer_find(&json->where, element),
			    um_str(json->is)))
			continue;
		if (found != NULL)
			return false;
		found = element;
	}
	*node = um_pointer_find(&json->value, found);
	return true;
}

static enum um_found
put_json(const struct um_expr_json *json, struct um_parsed_delivery *parsed,
	const struct um_json_node *root, struct um_buf *out)
{
	const struct um_json_node *node = um_pointer_find(&json->at, root);
	size_t before = out->len;

	parsed->bad_at = &json->at;
	parsed->bad_reason = "is not readable";
	if (root == NULL)
		return UM_BAD;
	if (json->selects && !select_element(json, &node)) {
		parsed->bad_reason = "has two elements that are meant";
		return UM_BAD;
	}
	if (node == NULL || um_json_is(node, UM_JSON_NULL))
		return UM_ABSENT;
	if (!um_json_text(node, out)) {
		parsed->bad_reason = um_json_is(node, UM_JSON_REAL)
			? "needs more than 15 significant digits"
			: "is an object or a list";
		return UM_BAD;
	}
	return out->len != before ? UM_FOUND : UM_ABSENT;
}

static enum um_found
put_address(const struct um_expr *expr, struct um_str query, struct um_buf *out)
{
	if (expr->text == NULL)
		return put_text(out, query);
	um_buf_puts(out, expr->text);
	if (query.len != 0)
		um_buf_puts(out, "?");
	um_buf_put(out, query.ptr, query.len);
	return UM_FOUND;
}

/* A parameter that occurs twice is ambiguous. */
static enum um_found
put_param(const char *name, const struct um_params *params, struct um_buf *out)
{
	struct um_str found = um_str(NULL);

	for (size_t i = 0; i < params->len; i++) {
		if (!um_str_is(params->param[i].name, name))
			continue;
		if (found.ptr != NULL)
			return UM_BAD;
		found = params->param[i].value;
	}
	return put_text(out, found);
}

static enum um_found
put_field(const struct um_expr *expr, struct um_parsed_delivery *parsed,
	struct um_buf *out)
{
	struct um_str text = um_str(NULL);
	enum um_found found;

	if (expr->kind == UM_EXPR_QUERY)
		found = um_delivery_query_field(parsed, expr->text, &text);
	else if (expr->kind == UM_EXPR_FORM)
		found = um_delivery_form_field(parsed, expr->text, &text);
	else
		found = um_delivery_multipart_field(parsed, expr->text, &text);
	return found == UM_FOUND ? put_text(out, text) : found;
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

static enum um_found /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
put_digest(const struct um_expr *expr, struct um_parsed_delivery *parsed,
	struct um_buf *out)
{
	struct um_buf text = { 0 };
	enum um_found found = um_expr_eval(&expr->parts[0], parsed, &text);

	if (found == UM_BAD || text.failed) {
		um_buf_free(&text);
		return UM_BAD;
	}
	/* An absent value has the digest of no bytes. */
	if (expr->kind == UM_EXPR_CRC32) {
		um_buf_printf(out, "%" PRIu32, crc32_of(um_buf_str(&text)));
	} else {
		uint8_t digest[SHA256_DIGEST_LENGTH];
		char hex[2 * SHA256_DIGEST_LENGTH + 1];

		SHA256((const uint8_t *)text.ptr, text.len, digest);
		um_hex_encode(hex, digest, sizeof(digest));
		um_buf_puts(out, hex);
	}
	um_buf_free(&text);
	return UM_FOUND;
}

bool
um_expr_is_digits(struct um_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (um_hex_digit(text.ptr[i]) < 0)
			return false;
	return text.len != 0 && text.len <= 64;
}

static enum um_found /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
put_mac(const struct um_expr *expr, struct um_parsed_delivery *parsed,
	struct um_buf *out)
{
	struct um_buf text = { 0 };
	enum um_found found = um_expr_eval(&expr->parts[0], parsed, &text);

	if (found == UM_FOUND
		&& (text.failed || parsed->mac == NULL
			|| (parsed->mac_of_digits
				&& !um_expr_is_digits(um_buf_str(&text)))
			|| !um_verifier_sign(parsed->mac, um_buf_str(&text),
				out)))
		found = UM_BAD;
	um_buf_free(&text);
	return found;
}

bool
um_expr_separator_is_ambiguous(const struct um_buf *out, size_t start,
	const char *separator)
{
	size_t len = strlen(separator);

	return len != 0 && out->len - start >= len
		&& memmem(out->ptr + start, out->len - start, separator, len)
		!= out->ptr + out->len - len;
}

/* Absent parts join as empty; if all are absent the value is absent. */
static enum um_found /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
put_join(const struct um_expr *expr, struct um_parsed_delivery *parsed,
	struct um_buf *out)
{
	const struct um_str separator = um_str(expr->text);
	bool any = false;

	for (size_t i = 0; i < expr->parts_len; i++) {
		const struct um_expr *part = &expr->parts[i];
		size_t start = out->len;
		enum um_found found = um_expr_eval(part, parsed, out);

		if (found == UM_BAD || out->failed)
			return UM_BAD;
		any |= found == UM_FOUND && part->kind != UM_EXPR_LITERAL;
		/* Also after the last one, to check it like the others. */
		um_buf_put(out, separator.ptr, separator.len);
		if (!out->failed
			&& um_expr_separator_is_ambiguous(out, start,
				expr->text))
			parsed->ambiguous = true;
	}
	out->len -= out->failed ? 0 : separator.len;
	return any ? UM_FOUND : UM_ABSENT;
}

static enum um_found /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
put_first(const struct um_expr *expr, struct um_parsed_delivery *parsed,
	struct um_buf *out)
{
	for (size_t i = 0; i < expr->parts_len; i++) {
		size_t before = out->len;
		enum um_found found = um_expr_eval(&expr->parts[i], parsed,
			out);

		if (found != UM_ABSENT)
			return found;
		out->len = before;
	}
	return UM_ABSENT;
}

static int
compare(const void *left, const void *right)
{
	const struct um_field *a = left, *b = right;
	size_t len = a->name.len < b->name.len ? a->name.len : b->name.len;
	int order = len != 0 ? memcmp(a->name.ptr, b->name.ptr, len) : 0;

	if (order != 0)
		return order;
	return (a->name.len > b->name.len) - (a->name.len < b->name.len);
}

/* The fields as they were sent. They have been parsed, so they all fit. */
static size_t
split_raw(struct um_field out[static UM_FORM_FIELDS_MAX], struct um_str text)
{
	size_t len = 0;

	while (text.len != 0 && len < UM_FORM_FIELDS_MAX) {
		const char *end = memchr(text.ptr, '&', text.len);
		size_t one = end != NULL ? (size_t)(end - text.ptr) : text.len;
		const char *equals = memchr(text.ptr, '=', one);
		size_t name = equals != NULL ? (size_t)(equals - text.ptr)
					     : one;

		/* Neither an empty part, as in `a&&b`, nor `=` is a field. */
		if (one != 0 && !(one == 1 && name == 0)) {
			out[len].name = (struct um_str){ text.ptr, name };
			out[len].value = (struct um_str){ text.ptr + name
					+ (equals != NULL),
				one - name - (equals != NULL) };
			len++;
		}
		text.ptr += one + (end != NULL);
		text.len -= one + (end != NULL);
	}
	return len;
}

static bool
holds(struct um_str text, const char *separator)
{
	return separator[0] != '\0' && text.len != 0
		&& memmem(text.ptr, text.len, separator, strlen(separator))
		!= NULL;
}

static enum um_found
put_sorted(const struct um_expr *expr, struct um_parsed_delivery *parsed,
	struct um_buf *out)
{
	bool query = expr->kind == UM_EXPR_SORTED_QUERY;
	const struct um_form *form = query ? um_delivery_query(parsed)
					   : um_delivery_form(parsed);
	const struct um_expr_sorted *how = &expr->sorted;
	struct um_field field[UM_FORM_FIELDS_MAX];
	bool any = false;
	size_t len;

	if (form == NULL)
		return UM_BAD;
	if (how->as_sent) {
		len = split_raw(field,
			query ? parsed->delivery->query
			      : parsed->delivery->body);
	} else {
		len = form->len;
		memcpy(field, form->field, len * sizeof(field[0]));
	}
	qsort(field, len, sizeof(field[0]), compare);
	for (size_t i = 0; i < len; i++) {
		if (um_strlist_has(&expr->names, field[i].name))
			continue;
		if (any)
			um_buf_puts(out, how->separator);
		um_buf_put(out, field[i].name.ptr, field[i].name.len);
		um_buf_puts(out, how->equals);
		um_buf_put(out, field[i].value.ptr, field[i].value.len);
		any = true;
		if (holds(field[i].name, how->equals)
			|| holds(field[i].name, how->separator)
			|| holds(field[i].value, how->separator))
			parsed->ambiguous = true;
	}
	return any ? UM_FOUND : UM_ABSENT;
}

enum um_found /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
um_expr_eval(const struct um_expr *expr, struct um_parsed_delivery *parsed,
	struct um_buf *out)
{
	switch (expr->kind) {
	case UM_EXPR_NONE:
		return UM_ABSENT;
	case UM_EXPR_LITERAL:
		return put_text(out, um_str(expr->text));
	case UM_EXPR_HEADER:
		return put_header(expr, parsed->delivery, out);
	case UM_EXPR_QUERY:
	case UM_EXPR_FORM:
	case UM_EXPR_MULTIPART:
		return put_field(expr, parsed, out);
	case UM_EXPR_JSON:
		return put_json(&expr->json, parsed,
			um_delivery_document(parsed), out);
	case UM_EXPR_ITEM:
		return put_json(&expr->json, parsed, parsed->item, out);
	case UM_EXPR_BODY:
		return put_text(out, parsed->delivery->body);
	case UM_EXPR_ADDRESS:
		return put_address(expr, parsed->delivery->query, out);
	case UM_EXPR_SIGNATURE:
		return put_param(expr->text, &parsed->params, out);
	case UM_EXPR_CRC32:
	case UM_EXPR_SHA256_HEX:
		return put_digest(expr, parsed, out);
	case UM_EXPR_MAC:
		return put_mac(expr, parsed, out);
	case UM_EXPR_JOIN:
		return put_join(expr, parsed, out);
	case UM_EXPR_FIRST:
		return put_first(expr, parsed, out);
	case UM_EXPR_SORTED_FORM:
	case UM_EXPR_SORTED_QUERY:
		return put_sorted(expr, parsed, out);
	}
	return UM_BAD;
}
