/* SPDX-License-Identifier: MIT */
#include "core/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json_string.h"

/*
 * Reads a copy of the text and decodes strings in place, which never makes
 * them longer. No token has a NUL: the one that ends the copy ends everything.
 */
struct parser {
	char *at;
	const char *end;
	bool lenient;
	bool nul; /* a string may have one */
	struct um_json_node *nodes;
	size_t len, cap, max;
	unsigned depth;
	const char *reason; /* why it is refused, if known */
};

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

#define NAMES_FEW 8 /* of an object: no need to sort them */

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

/* Keeps the first reason. Always false. */
static bool
refuse(struct parser *p, const char *reason)
{
	if (p->reason == NULL)
		p->reason = reason;
	return false;
}

static bool parse_value(struct parser *p);

static struct um_json_node *
add_node(struct parser *p, enum um_json_kind kind, size_t len)
{
	if (p->len == p->cap) {
		if (p->cap == p->max)
			refuse(p, "has too many values and names");
		return NULL;
	}
	p->nodes[p->len] = (struct um_json_node){ p->at, (uint32_t)len, 1,
		kind };
	return &p->nodes[p->len++];
}

static void
skip_blank(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\n' || *p->at == '\r'
		|| *p->at == '\t')
		p->at++;
}

static bool
take(struct parser *p, char c)
{
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

/* The same after blanks. */
static bool
take_token(struct parser *p, char c)
{
	skip_blank(p);
	return take(p, c);
}

/* Refuses the document; or, if it is read leniently, this node alone. */
static bool
give_up(struct parser *p, struct um_json_node *node, const char *reason)
{
	if (!p->lenient)
		return refuse(p, reason);
	*node = (struct um_json_node){ reason, (uint32_t)strlen(reason), 1,
		UM_JSON_UNREADABLE };
	return true;
}

/* The quotation mark that ends the string in which `at` is, or the end. */
static char *
string_end(char *at, const char *end)
{
	for (; at < end && *at != '"'; at++)
		if (*at == '\\' && at + 1 < end)
			at++;
	return at;
}

/* Gives up a string that is decoded as far as `begin`, and moves behind it. */
static bool
skip_string(struct parser *p, struct um_json_node *node, char *begin,
	const char *reason)
{
	if (!give_up(p, node, reason))
		return false;
	p->at = string_end(begin, p->end);
	return take(p, '"');
}

/* Moves behind the bytes that stand for themselves. */
static void
skip_plain(struct parser *p)
{
	size_t plain;

	do
		p->at += plain = um_json_plain(p->at);
	while (plain == UM_JSON_EIGHT);
}

static bool
parse_string(struct parser *p)
{
	struct um_json_node *node;
	unsigned char c, any = 0;
	char *out;

	node = take_token(p, '"') ? add_node(p, UM_JSON_STRING, 0) : NULL;
	if (node == NULL)
		return false;
	skip_plain(p);
	for (out = p->at; (c = (unsigned char)*p->at++) != '"';) {
		char *begin = p->at - 1;

		if (c < ' ')
			return skip_string(p, node, begin,
				"has a control character in a string");
		any |= c;
		if (c != '\\')
			*out++ = (char)c;
		else if ((out = um_json_unescape(&p->at, out, p->nul)) == NULL)
			return skip_string(p, node, begin,
				"has an escape that is none, a NUL, or half a "
				"surrogate pair");
	}
	node->len = (uint32_t)(out - node->text);
	return any < 0x80 || um_json_is_text(um_json_str(node))
		|| give_up(p, node, "has a string that is not UTF-8");
}

static bool
take_digits(struct parser *p)
{
	size_t len = strspn(p->at, "0123456789");

	p->at += len;
	return len != 0;
}

/* RFC 8259 section 6. */
static bool
parse_number(struct parser *p)
{
	struct um_json_node *node = add_node(p, UM_JSON_INTEGER, 0);

	if (node == NULL)
		return false;
	take(p, '-');
	if (!take(p, '0') && !take_digits(p))
		return false;
	if (*p->at == '.' || *p->at == 'e' || *p->at == 'E')
		node->kind = UM_JSON_REAL;
	if (take(p, '.') && !take_digits(p))
		return false;
	if (take(p, 'e') || take(p, 'E')) {
		if (!take(p, '+'))
			take(p, '-');
		if (!take_digits(p))
			return false;
	}
	node->len = (uint32_t)(p->at - node->text);
	if (node->kind == UM_JSON_REAL)
		return (node->len <= UM_JSON_REAL_MAX
			       && isfinite(strtod(node->text, NULL)))
			|| give_up(p, node,
				"has a number that is too long or too large");
	errno = 0;
	(void)strtoll(node->text, NULL, 10);
	return errno == 0
		|| give_up(p, node, "has a whole number of more than 64 bits");
}

static bool
parse_word(struct parser *p, const char *word, enum um_json_kind kind)
{
	size_t len = strlen(word);
	bool ok = strncmp(p->at, word, len) == 0 && add_node(p, kind, len);

	p->at += ok ? len : 0;
	return ok;
}

static int
compare_names(const void *a, const void *b)
{
	const struct um_str *left = a, *right = b;

	if (left->len != right->len)
		return left->len < right->len ? -1 : 1;
	return memcmp(left->ptr, right->ptr, left->len);
}

/* Compares each name with those before it. */
static bool
few_names_differ(const struct um_json_node *object)
{
	const struct um_json_node *end = object + object->size;

	for (const struct um_json_node *node = object + 1; node < end;
		node += 1 + node[1].size)
		if (um_json_member(object, um_json_str(node)) != node + 1)
			return false;
	return true;
}

/* Sorts the names: the same ones would be neighbours. */
static bool
many_names_differ(const struct um_json_node *object, size_t count)
{
	const struct um_json_node *node = object + 1;
	struct um_str *names = malloc((count + 1) * sizeof(names[0]));
	bool differ = names != NULL;

	for (size_t i = 0; i < count && differ; i++, node += 1 + node[1].size)
		names[i] = um_json_str(node);
	if (differ)
		qsort(names, count, sizeof(names[0]), compare_names);
	for (size_t i = 1; i < count && differ; i++)
		differ = compare_names(&names[i - 1], &names[i]) != 0;
	free(names);
	return differ;
}

static bool
names_differ(const struct um_json_node *object, size_t count)
{
	return count <= NAMES_FEW ? few_names_differ(object)
				  : many_names_differ(object, count);
}

/* Gives up the object or array that begins here, and moves behind it. */
static bool
skip_container(struct parser *p, struct um_json_node *node)
{
	size_t open = 0;

	if (!give_up(p, node,
		    "is nested more than " TEXT(UM_JSON_DEPTH_MAX) " deep"))
		return false;
	for (; p->at < p->end; p->at++) {
		if (*p->at == '"')
			p->at = string_end(p->at + 1, p->end);
		else if (*p->at == '{' || *p->at == '[')
			open++;
		else if ((*p->at == '}' || *p->at == ']') && --open == 0)
			return take(p, *p->at);
	}
	return false;
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
parse_container(struct parser *p, enum um_json_kind kind, char close)
{
	struct um_json_node *node = add_node(p, kind, 0);
	size_t count = 0;

	if (node == NULL)
		return false;
	if (p->depth == UM_JSON_DEPTH_MAX)
		return skip_container(p, node);
	p->depth++;
	p->at++;
	if (!take_token(p, close)) {
		do {
			if (kind == UM_JSON_OBJECT
				&& (!parse_string(p) || !take_token(p, ':')))
				return false;
			if (!parse_value(p))
				return false;
			count++;
		} while (take_token(p, ','));
		if (!take(p, close))
			return false;
	}
	p->depth--;
	node->size = (uint32_t)(&p->nodes[p->len] - node);
	return kind != UM_JSON_OBJECT || p->lenient || names_differ(node, count)
		|| refuse(p, "has an object with a name twice");
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
parse_value(struct parser *p)
{
	skip_blank(p);
	switch (*p->at) {
	case '{':
		return parse_container(p, UM_JSON_OBJECT, '}');
	case '[':
		return parse_container(p, UM_JSON_ARRAY, ']');
	case '"':
		return parse_string(p);
	case 't':
		return parse_word(p, "true", UM_JSON_TRUE);
	case 'f':
		return parse_word(p, "false", UM_JSON_FALSE);
	case 'n':
		return parse_word(p, "null", UM_JSON_NULL);
	default:
		return parse_number(p);
	}
}

static struct um_json_node *
parse(struct um_str text, size_t max, bool lenient, bool nul,
	struct um_json_fault *fault)
{
	/*
	 * Every value has at least a byte and, but for the last, a separator.
	 */
	struct parser p = { .cap = text.len / 2 + 1,
		.max = max,
		.lenient = lenient,
		.nul = nul };
	struct um_json_fault ignored;
	char *copy;

	if (fault == NULL)
		fault = &ignored;
	*fault = (struct um_json_fault){ "is empty", 0 };
	if (text.len == 0 || text.len > INT32_MAX)
		return NULL;
	fault->reason = "out of memory";
	if (p.cap > max)
		p.cap = max;
	p.nodes = malloc(p.cap * sizeof(p.nodes[0]) + text.len + UM_JSON_EIGHT);
	if (p.nodes == NULL)
		return NULL;
	p.at = copy = (char *)&p.nodes[p.cap];
	memcpy(copy, text.ptr, text.len);
	memset(copy + text.len, 0, UM_JSON_EIGHT);
	p.end = copy + text.len;
	if (lenient && strncmp(copy, BYTE_ORDER_MARK, 3) == 0)
		p.at += 3;
	if (parse_value(&p) && p.nodes[0].kind <= UM_JSON_ARRAY
		&& take_token(&p, '\0') && p.at == copy + text.len + 1)
		return p.nodes;
	fault->reason = p.reason != NULL ? p.reason
					 : "is not a JSON object or array";
	fault->at = (size_t)(p.at - copy);
	if (fault->at > text.len)
		fault->at = text.len;
	free(p.nodes);
	return NULL;
}

struct um_json_node *
um_json_parse(struct um_str text, size_t max, struct um_json_fault *fault)
{
	return parse(text, max, false, false, fault);
}

struct um_json_node *
um_json_parse_with_nul(struct um_str text, size_t max,
	struct um_json_fault *fault)
{
	return parse(text, max, false, true, fault);
}

struct um_json_node *
um_json_parse_lenient(struct um_str text, size_t max,
	struct um_json_fault *fault)
{
	return parse(text, max, true, false, fault);
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

bool
um_json_text(const struct um_json_node *node, struct um_buf *out)
{
	if (node == NULL || node->kind < UM_JSON_STRING
		|| node->kind >= UM_JSON_NULL)
		return false;
	if (node->kind == UM_JSON_REAL) {
		char real[32];

		snprintf(real, sizeof(real), "%.15g", strtod(node->text, NULL));
		if (strtod(real, NULL) != strtod(node->text, NULL))
			return false;
		um_buf_puts(out, real);
	} else if (node->kind == UM_JSON_INTEGER) {
		um_buf_int(out, strtoll(node->text, NULL, 10));
	} else {
		um_buf_put(out, node->text, node->len);
	}
	return true;
}
