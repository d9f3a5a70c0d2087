/* SPDX-License-Identifier: MIT */
/*
 * A pointer, and the document that it points into: taken and refused exactly
 * as jansson does, but for our limits, and with the same content. A lenient
 * reading takes at least as much.
 */
#include "fuzz.h"

#include <string.h>

#include <jansson.h>

#include "core/pointer.h"

static bool is_same(const struct um_json_node *node, json_t *other, int depth);

static bool
is_same_text(const struct um_json_node *node, const json_t *other)
{
	struct um_buf text = { 0 };
	bool same;

	if (!um_json_text(node, &text))
		return false;
	if (json_is_string(other)) {
		same = um_str_eq(um_buf_str(&text),
			(struct um_str){ json_string_value(other),
				json_string_length(other) });
	} else {
		char number[32];

		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
			json_integer_value(other));
		same = um_str_is(um_buf_str(&text), number);
	}
	um_buf_free(&text);
	return same;
}

/* A text that is given is worth the same, to its last bit. */
static bool
is_same_real(const struct um_json_node *node, double other)
{
	struct um_buf text = { 0 };
	bool same = true;

	if (um_json_text(node, &text)) {
		um_buf_put(&text, "", 1);
		same = strtod(text.ptr, NULL) == other;
	}
	um_buf_free(&text);
	return same;
}

static const struct um_json_node *
member_of(const struct um_json_node *object, const char *name)
{
	const struct um_json_node *at = object + 1;

	while (at < object + object->size
		&& !um_json_string_eq(at, um_str(name)))
		at += 1 + at[1].size;
	return at < object + object->size ? at + 1 : NULL;
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): the depth is limited */
is_same_object(const struct um_json_node *node, json_t *other, int depth)
{
	const struct um_json_node *end = node + node->size;
	const char *name;
	json_t *value;
	size_t members = 0;

	for (const struct um_json_node *at = node + 1; at < end;
		at += 1 + at[1].size)
		members++;
	if (members != json_object_size(other))
		return false;
	json_object_foreach (other, name, value) {
		if (!is_same(member_of(node, name), value, depth + 1))
			return false;
	}
	return true;
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): the depth is limited */
is_same_array(const struct um_json_node *node, json_t *other, int depth)
{
	const struct um_json_node *element = NULL;
	size_t i = 0;

	while ((element = um_json_next(node, element)) != NULL) {
		if (!is_same(element, json_array_get(other, i++), depth + 1))
			return false;
	}
	return i == json_array_size(other);
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): the depth is limited */
is_same(const struct um_json_node *node, json_t *other, int depth)
{
	HOLDS(depth <= UM_JSON_DEPTH_MAX + 1);
	switch (json_typeof(other)) {
	case JSON_OBJECT:
		return um_json_is(node, UM_JSON_OBJECT)
			&& is_same_object(node, other, depth);
	case JSON_ARRAY:
		return um_json_is(node, UM_JSON_ARRAY)
			&& is_same_array(node, other, depth);
	case JSON_STRING:
		return um_json_is(node, UM_JSON_STRING)
			&& is_same_text(node, other);
	case JSON_INTEGER:
		return um_json_is(node, UM_JSON_INTEGER)
			&& is_same_text(node, other);
	case JSON_REAL:
		return um_json_is(node, UM_JSON_REAL)
			&& is_same_real(node, json_real_value(other));
	case JSON_TRUE:
		return um_json_is(node, UM_JSON_TRUE);
	case JSON_FALSE:
		return um_json_is(node, UM_JSON_FALSE);
	case JSON_NULL:
		return um_json_is(node, UM_JSON_NULL);
	}
	return false;
}

/*
 * Whether we may refuse what jansson takes: too deep, a long number, or a NUL,
 * which it does not always see.
 */
static bool
is_over_a_limit(struct um_str text)
{
	size_t depth = 0, run = 0, most = 0;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		/* Brackets in strings count as well: this only excuses. */
		depth += c == '[' || c == '{';
		if (c == '\0')
			return true;
		run = strchr("0123456789+-.eE", c) != NULL ? run + 1 : 0;
		most = run > most ? run : most;
	}
	return depth > UM_JSON_DEPTH_MAX || most > UM_JSON_REAL_MAX;
}

static void
try_pointer(const char *text, const struct um_json_node *root)
{
	struct um_pointer pointer;
	struct um_buf out = { 0 };

	if (um_pointer_compile(&pointer, text)) {
		const struct um_json_node *node = um_pointer_find(&pointer,
			root);

		HOLDS(pointer.len <= UM_POINTER_TOKENS_MAX);
		HOLDS(pointer.len != 0 || node == root);
		if (um_json_text(node, &out))
			HOLDS(um_str_is_text(um_buf_str(&out)));
		else
			HOLDS(out.len == 0);
	}
	um_pointer_free(&pointer);
	um_buf_free(&out);
}

/* What is taken strictly is taken leniently, node by node. */
static void
try_lenient(struct um_str body, const char *pointer,
	const struct um_json_node *strict)
{
	struct um_json_node *root = um_json_parse_lenient(body,
		UM_JSON_VALUES_MAX, NULL);

	if (root == NULL) {
		HOLDS(strict == NULL);
		return;
	}
	for (uint32_t i = 0; strict != NULL && i < strict->size; i++)
		HOLDS(root[i].kind == strict[i].kind
			&& root[i].size == strict[i].size
			&& um_str_eq(um_json_str(&root[i]),
				um_json_str(&strict[i])));
	try_pointer(pointer, root);
	free(root);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str text = fuzz_line(&rest);
	struct um_str body = fuzz_rest(&rest);
	struct um_json_node *root = um_json_parse(body, UM_JSON_VALUES_MAX,
		NULL);
	json_t *other = body.len != 0
		? json_loadb(body.ptr, body.len, JSON_REJECT_DUPLICATES, NULL)
		: NULL;

	if (root != NULL)
		HOLDS(other != NULL && is_same(root, other, 1));
	else
		HOLDS(other == NULL || is_over_a_limit(body));
	try_pointer(text.ptr, root);
	try_lenient(body, text.ptr, root);
	free(root);
	json_decref(other);
	fuzz_free(text);
	fuzz_free(body);
	return 0;
}
