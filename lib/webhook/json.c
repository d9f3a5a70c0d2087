/* SPDX-License-Identifier: MIT */
/* From text to nodes. */
#include "webhook/json.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "webhook/json_names.h"

struct parser {
	const char *at, *end;
	struct um_json_node *nodes;
	uint32_t len, cap;
	uint32_t open[UM_JSON_DEPTH_MAX]; /* objects and arrays around */
	size_t depth;
};

static struct um_json_node *
add_node(struct parser *p, enum um_json_kind kind)
{
	if (p->len == p->cap) {
		uint32_t cap = p->cap != 0 ? 2 * p->cap : 128;
		struct um_json_node *nodes;

		if (p->len >= UM_JSON_VALUES_MAX)
			return NULL;
		nodes = realloc(p->nodes, cap * sizeof(nodes[0]));
		if (nodes == NULL)
			return NULL;
		p->nodes = nodes;
		p->cap = cap;
	}
	p->nodes[p->len] = (struct um_json_node){ .kind = (uint8_t)kind,
		.text = p->at,
		.size = 1 };
	return &p->nodes[p->len++];
}

static void
skip_blank(struct parser *p)
{
	while (p->at < p->end
		&& (*p->at == ' ' || *p->at == '\n' || *p->at == '\r'
			|| *p->at == '\t'))
		p->at++;
}

static bool
take(struct parser *p, char c)
{
	if (p->at == p->end || *p->at != c)
		return false;
	p->at++;
	return true;
}

#define EACH UINT64_C(0x0101010101010101)

/*
 * The first byte of a string that is not one of ASCII's plain characters, or
 * where less than eight bytes are left: looks at eight of them at a time.
 */
static const char *
plain_end(const char *at, const char *end)
{
	for (; end - at >= 8; at += 8) {
		uint64_t bytes;
		uint64_t special;

		memcpy(&bytes, at, sizeof(bytes));
		bytes = le64toh(bytes);
		/* The high bit of each byte that is below a space, a quote, a
		 * backslash or no ASCII; above the first such, of others too. */
		special = ((bytes - EACH * ' ') | ((bytes ^ EACH * '"') - EACH)
				  | ((bytes ^ EACH * '\\') - EACH) | bytes)
			& EACH * 0x80;
		if (special != 0)
			return at + __builtin_ctzll(special) / 8;
	}
	return at;
}

/* After the opening quote, to beyond the closing one. */
static bool
parse_string(struct parser *p)
{
	struct um_json_node *node = add_node(p, UM_JSON_STRING);
	bool is_ascii = true;
	const char *at = plain_end(p->at, p->end);

	if (node == NULL)
		return false;
	for (; at < p->end && *at != '"'; at = plain_end(at + 1, p->end)) {
		unsigned char c = (unsigned char)*at;

		if (c < ' ')
			return false;
		is_ascii &= c < 0x80;
		if (c == '\\') {
			node->is_escaped = true;
			/* A quote after it ends nothing. */
			if (++at == p->end)
				return false;
		}
	}
	if (at == p->end)
		return false;
	node->len = (uint32_t)(at - p->at);
	p->at = at + 1;
	if (!is_ascii
		&& !um_str_is_text((struct um_str){ node->text, node->len }))
		return false;
	return !node->is_escaped || um_json_escapes_are_good(node);
}

/* The digits from here on; how many. */
static size_t
take_digits(struct parser *p)
{
	const char *from = p->at;

	while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
		p->at++;
	return (size_t)(p->at - from);
}

static bool
is_int64(const struct um_json_node *node)
{
	bool is_negative = node->text[0] == '-';
	const char *limit = is_negative ? "9223372036854775808"
					: "9223372036854775807";
	size_t digits = node->len - is_negative;

	return digits < 19
		|| (digits == 19
			&& memcmp(node->text + is_negative, limit, 19) <= 0);
}

static bool
is_double(const struct um_json_node *node)
{
	char text[UM_JSON_REAL_MAX + 1];

	if (node->len > UM_JSON_REAL_MAX)
		return false;
	memcpy(text, node->text, node->len);
	text[node->len] = '\0';
	return isfinite(strtod(text, NULL));
}

/* RFC 8259 section 6. */
static bool
parse_number(struct parser *p)
{
	struct um_json_node *node = add_node(p, UM_JSON_INTEGER);

	if (node == NULL)
		return false;
	take(p, '-');
	if (!take(p, '0') && take_digits(p) == 0)
		return false;
	if (take(p, '.')) {
		node->kind = UM_JSON_REAL;
		if (take_digits(p) == 0)
			return false;
	}
	if (take(p, 'e') || take(p, 'E')) {
		node->kind = UM_JSON_REAL;
		if (!take(p, '+'))
			take(p, '-');
		if (take_digits(p) == 0)
			return false;
	}
	node->len = (uint32_t)(p->at - node->text);
	return node->kind == UM_JSON_REAL ? is_double(node) : is_int64(node);
}

static bool
parse_word(struct parser *p, const char *word, enum um_json_kind kind)
{
	size_t len = strlen(word);

	if ((size_t)(p->end - p->at) < len || memcmp(p->at, word, len) != 0
		|| add_node(p, kind) == NULL)
		return false;
	p->at += len;
	return true;
}

/* A value that holds no other. */
static bool
parse_scalar(struct parser *p)
{
	if (p->at == p->end)
		return false;
	switch (*p->at) {
	case '"':
		p->at++;
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

/* The name of a member, and the colon after it. */
static bool
parse_name(struct parser *p)
{
	struct um_json_node *name;

	skip_blank(p);
	if (!take(p, '"') || !parse_string(p))
		return false;
	name = &p->nodes[p->len - 1];
	if (!um_json_hash_name(name))
		return false;
	skip_blank(p);
	return take(p, ':');
}

/* An object or array begins; true also when it ends at once. */
static bool
parse_open(struct parser *p, bool *is_empty)
{
	bool is_object = *p->at == '{';

	if (p->depth == UM_JSON_DEPTH_MAX
		|| add_node(p, is_object ? UM_JSON_OBJECT : UM_JSON_ARRAY)
			== NULL)
		return false;
	p->open[p->depth++] = p->len - 1;
	p->at++;
	skip_blank(p);
	*is_empty = p->at < p->end && *p->at == (is_object ? '}' : ']');
	return *is_empty || !is_object || parse_name(p);
}

/* After a value: what ends here, up to where another value is wanted. */
static bool
parse_after(struct parser *p)
{
	while (p->depth != 0) {
		struct um_json_node *around = &p->nodes[p->open[p->depth - 1]];
		bool is_object = around->kind == UM_JSON_OBJECT;

		skip_blank(p);
		if (take(p, ','))
			return !is_object || parse_name(p);
		if (!take(p, is_object ? '}' : ']'))
			return false;
		around->size = p->len - p->open[p->depth - 1];
		if (is_object && um_json_has_name_twice(around))
			return false;
		p->depth--;
	}
	return true;
}

static bool
parse_all(struct parser *p)
{
	skip_blank(p);
	if (p->at == p->end || (*p->at != '{' && *p->at != '['))
		return false;
	do {
		bool is_empty = true;

		skip_blank(p);
		if (p->at < p->end && (*p->at == '{' || *p->at == '[')) {
			if (!parse_open(p, &is_empty))
				return false;
			/* Its first value is next. */
			if (!is_empty)
				continue;
		} else if (!parse_scalar(p)) {
			return false;
		}
		if (!parse_after(p))
			return false;
	} while (p->depth != 0);
	skip_blank(p);
	return p->at == p->end;
}

struct um_json_node *
um_json_parse(struct um_str text)
{
	struct parser p = { .at = text.ptr, .end = text.ptr + text.len };

	/* Lengths are kept in 32 bits. */
	if (text.len == 0 || text.len > INT32_MAX || !parse_all(&p)) {
		free(p.nodes);
		return NULL;
	}
	return p.nodes;
}
