/* SPDX-License-Identifier: MIT */
/* What strings say, and finding by name. */
#include "webhook/json_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/hex.h"

#define FEW 12 /* names that are compared each with each */

static unsigned
hex4(const char *digits)
{
	unsigned value = 0;

	for (size_t i = 0; i < 4; i++) {
		int digit = um_hex_digit(digits[i]);

		if (digit < 0)
			return UINT32_MAX;
		value = value << 4 | (unsigned)digit;
	}
	return value;
}

/*
 * The character of the escape at *at, which is moved beyond it; 0 for one
 * that is not allowed. A NUL is not, so 0 is no character.
 */
static uint32_t
unescape(const char **at, const char *end)
{
	static const char letters[] = "\"\\/bfnrt", says[] = "\"\\/\b\f\n\r\t";
	const char *p = *at + 1, *letter;
	uint32_t high, low;

	if (p == end)
		return 0;
	letter = *p != '\0' ? strchr(letters, *p) : NULL;
	if (letter != NULL) {
		*at = p + 1;
		return (unsigned char)says[letter - letters];
	}
	if (*p != 'u' || end - p < 5)
		return 0;
	high = hex4(p + 1);
	*at = p + 5;
	if (high < 0xd800 || (high > 0xdfff && high <= 0xffff))
		return high;
	if (high > 0xdbff || end - *at < 6 || (*at)[0] != '\\'
		|| (*at)[1] != 'u')
		return 0;
	low = hex4(*at + 2);
	if (low < 0xdc00 || low > 0xdfff)
		return 0;
	*at += 6;
	return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

bool
um_json_escapes_are_good(const struct um_json_node *string)
{
	const char *at = string->text, *end = at + string->len;

	while (at < end) {
		if (*at != '\\')
			at++;
		else if (unescape(&at, end) == 0)
			return false;
	}
	return true;
}

/* UTF-8 (RFC 3629 section 3). */
static void
put_rune(struct um_buf *out, uint32_t rune)
{
	char bytes[4];
	size_t len = rune < 0x80 ? 1
		: rune < 0x800   ? 2
		: rune < 0x10000 ? 3
				 : 4;
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = len - 1; i > 0; i--) {
		bytes[i] = (char)(0x80 | (rune & 0x3f));
		rune >>= 6;
	}
	bytes[0] = (char)(leads[len] | rune);
	um_buf_put(out, bytes, len);
}

static void
put_string(const struct um_json_node *string, struct um_buf *out)
{
	const char *at = string->text, *end = at + string->len;

	while (at < end) {
		const char *escape = string->is_escaped
			? memchr(at, '\\', (size_t)(end - at))
			: NULL;

		if (escape == NULL)
			escape = end;
		um_buf_put(out, at, (size_t)(escape - at));
		at = escape;
		if (at < end)
			put_rune(out, unescape(&at, end));
	}
}

bool
um_json_string_eq(const struct um_json_node *node, struct um_str text)
{
	struct um_buf says = { 0 };
	bool same;

	if (!um_json_is(node, UM_JSON_STRING))
		return false;
	if (!node->is_escaped)
		return node->len == text.len
			&& memcmp(node->text, text.ptr, text.len) == 0;
	put_string(node, &says);
	same = !says.failed && um_str_eq(um_buf_str(&says), text);
	um_buf_free(&says);
	return same;
}

bool
um_json_text(const struct um_json_node *node, struct um_buf *out)
{
	if (um_json_is(node, UM_JSON_STRING))
		put_string(node, out);
	else if (um_json_is(node, UM_JSON_INTEGER))
		/* The one number with two spellings. */
		um_buf_put(out,
			node->text
				+ (node->text[0] == '-'
					&& node->text[1] == '0'),
			node->len
				- (node->text[0] == '-'
					&& node->text[1] == '0'));
	else if (um_json_is(node, UM_JSON_TRUE))
		um_buf_puts(out, "true");
	else if (um_json_is(node, UM_JSON_FALSE))
		um_buf_puts(out, "false");
	else
		return false;
	return true;
}

/* FNV-1a; only to sort names, so that nobody gains by a collision. */
bool
um_json_hash_name(struct um_json_node *name)
{
	struct um_buf says = { 0 };
	struct um_str bytes = { name->text, name->len };
	uint32_t hash = 2166136261;

	if (name->is_escaped) {
		put_string(name, &says);
		bytes = um_buf_str(&says);
	}
	for (size_t i = 0; i < bytes.len; i++)
		hash = (hash ^ (unsigned char)bytes.ptr[i]) * 16777619;
	name->hash = hash;
	um_buf_free(&says);
	return !says.failed;
}

/* -1, 0 or 1, by hash and then by what they say. */
static int
compare_names(const struct um_json_node *a, const struct um_json_node *b)
{
	struct um_buf left = { 0 }, right = { 0 };
	int order;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (!a->is_escaped && !b->is_escaped) {
		if (a->len != b->len)
			return a->len < b->len ? -1 : 1;
		return memcmp(a->text, b->text, a->len);
	}
	put_string(a, &left);
	put_string(b, &right);
	/* Out of memory they count as the same, which is refused. */
	if (left.failed || right.failed)
		order = 0;
	else if (left.len != right.len)
		order = left.len < right.len ? -1 : 1;
	else
		order = left.len != 0 ? memcmp(left.ptr, right.ptr, left.len)
				      : 0;
	um_buf_free(&left);
	um_buf_free(&right);
	return order;
}

struct name {
	const struct um_json_node *node;
};

static int
compare(const void *a, const void *b)
{
	const struct name *left = a, *right = b;

	return compare_names(left->node, right->node);
}

static size_t
count_members(const struct um_json_node *object)
{
	const struct um_json_node *end = object + object->size;
	size_t count = 0;

	for (const struct um_json_node *name = object + 1; name < end;
		name += 1 + name[1].size)
		count++;
	return count;
}

bool
um_json_has_name_twice(const struct um_json_node *object)
{
	struct name few[FEW], *names = few;
	size_t count = count_members(object), len = 0;
	bool twice = false;

	if (count > FEW)
		names = calloc(count, sizeof(names[0]));
	if (names == NULL)
		return true;
	for (const struct um_json_node *name = object + 1; len < count;
		name += 1 + name[1].size)
		names[len++].node = name;
	if (count > FEW)
		qsort(names, count, sizeof(names[0]), compare);
	/* Sorted, the same names are neighbours. */
	for (size_t i = 1; i < count && !twice; i++)
		for (size_t j = count > FEW ? i - 1 : 0; j < i && !twice; j++)
			twice = compare_names(names[i].node, names[j].node)
				== 0;
	if (names != few)
		free(names);
	return twice;
}

bool
um_json_is(const struct um_json_node *node, enum um_json_kind kind)
{
	return node != NULL && node->kind == kind;
}

const struct um_json_node *
um_json_member(const struct um_json_node *object, struct um_str name)
{
	const struct um_json_node *at, *end;

	if (!um_json_is(object, UM_JSON_OBJECT))
		return NULL;
	end = object + object->size;
	for (at = object + 1; at < end; at += 1 + at[1].size)
		if (um_json_string_eq(at, name))
			return at + 1;
	return NULL;
}

const struct um_json_node *
um_json_next(const struct um_json_node *array,
	const struct um_json_node *element)
{
	const struct um_json_node *next;

	if (!um_json_is(array, UM_JSON_ARRAY))
		return NULL;
	next = element != NULL ? element + element->size : array + 1;
	return next < array + array->size ? next : NULL;
}

const struct um_json_node *
um_json_element(const struct um_json_node *array, size_t index)
{
	const struct um_json_node *element = um_json_next(array, NULL);

	for (; element != NULL && index != 0; index--)
		element = um_json_next(array, element);
	return element;
}
