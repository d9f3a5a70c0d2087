/* SPDX-License-Identifier: MIT */
#include "core/json_canonical.h"

#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json_put.h"

/*
 * The bytes of UTF-8 are in the order of the code points. In UTF-16, those above
 * U+FFFF begin with a surrogate (D800 to DBFF), and stand before U+E000 to U+FFFF:
 * a lead byte of F0 to F4 before EE and EF.
 */
static int
weight(unsigned char byte)
{
	if (byte >= 0xf0)
		return byte - 2;
	return byte >= 0xee ? byte + 5 : byte;
}

static int
compare(struct um_str a, struct um_str b)
{
	for (size_t i = 0; i < a.len && i < b.len; i++)
		if (a.ptr[i] != b.ptr[i])
			return weight((unsigned char)a.ptr[i])
				- weight((unsigned char)b.ptr[i]);
	return (a.len > b.len) - (a.len < b.len);
}

struct member {
	const struct um_json_node *name; /* its value follows it */
};

static int
compare_names(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	return compare(um_json_str(a->name), um_json_str(b->name));
}

/*
 * RFC 8785 section 3.2.2.3, ECMA-262 Number::toString: the fewest digits that give
 * the same double, as an integer, a decimal, or with an exponent. Two numbers of
 * 15 digits are never the same double, unless it is subnormal: if 15 digits give
 * it, then these are the fewest, but for the zeros at their end.
 */
static void
put_number(struct um_buf *out, double value)
{
	char text[40], digits[24];
	int precision = value > -DBL_MIN && value < DBL_MIN ? 0 : DBL_DIG - 1;
	int exponent, count;

	if (value == 0) {
		um_buf_puts(out, "0"); /* also for -0 */
		return;
	}
	do
		snprintf(text, sizeof(text), "%.*e", precision, value);
	while (precision++ < 17 && strtod(text, NULL) != value);
	exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10) + 1;
	count = 0;
	for (const char *p = text; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			digits[count++] = *p;
	while (count > 1 && digits[count - 1] == '0')
		count--;
	digits[count] = '\0';
	if (value < 0)
		um_buf_puts(out, "-");
	if (exponent > 21 || exponent < -5)
		um_buf_printf(out, "%c%s%se%+d", digits[0],
			count > 1 ? "." : "", digits + 1, exponent - 1);
	else if (exponent <= 0)
		um_buf_printf(out, "0.%.*s%s", -exponent, "000000", digits);
	else if (exponent >= count)
		um_buf_printf(out, "%s%.*s", digits, exponent - count,
			"00000000000000000000");
	else
		um_buf_printf(out, "%.*s.%s", exponent, digits,
			digits + exponent);
}

static bool
is_among(struct um_str name, const char *const *names)
{
	for (; names != NULL && *names != NULL; names++)
		if (um_str_is(name, *names))
			return true;
	return false;
}

void /* NOLINTNEXTLINE(misc-no-recursion): the depth of a document is limited */
um_json_canonical_without(struct um_buf *out, const struct um_json_node *object,
	const char *const *names)
{
	struct member *sorted = malloc(object->size * sizeof(*sorted));
	const struct um_json_node *end = object + object->size;
	size_t len = 0;

	if (sorted == NULL) {
		out->failed = true;
		return;
	}
	for (const struct um_json_node *at = object + 1; at < end;
		at += 1 + at[1].size)
		if (!is_among(um_json_str(at), names))
			sorted[len++].name = at;
	qsort(sorted, len, sizeof(*sorted), compare_names);
	um_buf_puts(out, "{");
	for (size_t i = 0; i < len; i++) {
		if (i != 0)
			um_buf_puts(out, ",");
		um_json_put_string(out, um_json_str(sorted[i].name));
		um_buf_puts(out, ":");
		um_json_canonical(out, sorted[i].name + 1);
	}
	um_buf_puts(out, "}");
	free(sorted);
}

void /* NOLINTNEXTLINE(misc-no-recursion): the depth of a document is limited */
um_json_canonical(struct um_buf *out, const struct um_json_node *node)
{
	const struct um_json_node *element = NULL;

	switch (node->kind) {
	case UM_JSON_OBJECT:
		um_json_canonical_without(out, node, NULL);
		break;
	case UM_JSON_ARRAY:
		um_buf_puts(out, "[");
		while ((element = um_json_next(node, element)) != NULL) {
			if (element != node + 1)
				um_buf_puts(out, ",");
			um_json_canonical(out, element);
		}
		um_buf_puts(out, "]");
		break;
	case UM_JSON_STRING:
		um_json_put_string(out, um_json_str(node));
		break;
	case UM_JSON_INTEGER:
	case UM_JSON_REAL:
		put_number(out, strtod(node->text, NULL));
		break;
	case UM_JSON_TRUE:
	case UM_JSON_FALSE:
	case UM_JSON_NULL:
		um_buf_put(out, node->text, node->len);
		break;
	case UM_JSON_UNREADABLE:
		out->failed = true;
		break;
	}
}
