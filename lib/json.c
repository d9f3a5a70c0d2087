/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * jansson takes 2048 levels and any number of values; this looks at the
 * brackets and commas before it is asked to build anything.
 */
static bool
is_within_limits(struct um_str text)
{
	size_t depth = 0, values = 0;
	bool in_string = false;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (in_string) {
			i += c == '\\';
			in_string = c != '"';
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			if (++depth > UM_JSON_DEPTH_MAX)
				return false;
			values++;
		} else if (c == '}' || c == ']') {
			if (depth-- == 0)
				return false;
		} else if (c == ',') {
			values++;
		}
		if (values > UM_JSON_VALUES_MAX)
			return false;
	}
	return true;
}

json_t *
um_json_parse(struct um_str text)
{
	json_error_t err;

	if (text.len == 0 || !is_within_limits(text))
		return NULL;
	return json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, &err);
}

bool
um_json_text(const json_t *node, struct um_buf *out)
{
	if (json_is_string(node))
		um_buf_put(out, json_string_value(node),
			json_string_length(node));
	else if (json_is_integer(node))
		um_buf_printf(out, "%" JSON_INTEGER_FORMAT,
			json_integer_value(node));
	else if (json_is_boolean(node))
		um_buf_puts(out, json_is_true(node) ? "true" : "false");
	else
		return false;
	return true;
}

/* RFC 6901 section 4: no leading zero, so 01 is a name only. */
static size_t
array_index(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	if (digits == 0 || digits > 9 || name[digits] != '\0'
		|| (name[0] == '0' && digits > 1))
		return SIZE_MAX;
	return strtoul(name, NULL, 10);
}

/* One token in place, up to the next slash or the end; NULL: no token. */
static char *
unescape(const char **at)
{
	const char *p = *at;
	size_t raw = strcspn(p, "/");
	char *name = malloc(raw + 1);
	size_t len = 0;

	if (name == NULL)
		return NULL;
	for (size_t i = 0; i < raw; i++) {
		char c = p[i];

		if (c == '~') {
			i++;
			if (i == raw || (p[i] != '0' && p[i] != '1')) {
				free(name);
				return NULL;
			}
			c = (char)(p[i] == '0' ? '~' : '/');
		}
		name[len++] = c;
	}
	name[len] = '\0';
	*at = p + raw;
	return name;
}

bool
um_pointer_compile(struct um_pointer *pointer, const char *text)
{
	*pointer = (struct um_pointer){ 0 };
	if (strlen(text) > UM_POINTER_MAX)
		return false;
	pointer->token = calloc(UM_POINTER_TOKENS_MAX,
		sizeof(pointer->token[0]));
	if (pointer->token == NULL)
		return false;
	while (*text == '/' && pointer->len < UM_POINTER_TOKENS_MAX) {
		struct um_pointer_token *token = &pointer->token[pointer->len];

		text++;
		token->name = unescape(&text);
		if (token->name == NULL)
			goto fail;
		token->index = array_index(token->name);
		pointer->len++;
	}
	if (*text == '\0')
		return true;
fail:
	um_pointer_free(pointer);
	return false;
}

void
um_pointer_free(struct um_pointer *pointer)
{
	for (size_t i = 0; i < pointer->len; i++)
		free(pointer->token[i].name);
	free(pointer->token);
	*pointer = (struct um_pointer){ 0 };
}

bool
um_pointer_same(const struct um_pointer *a, const struct um_pointer *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (strcmp(a->token[i].name, b->token[i].name) != 0)
			return false;
	return true;
}

const json_t *
um_pointer_find(const struct um_pointer *pointer, const json_t *document)
{
	const json_t *node = document;

	for (size_t i = 0; i < pointer->len && node != NULL; i++) {
		const struct um_pointer_token *token = &pointer->token[i];

		node = json_is_array(node) ? json_array_get(node, token->index)
					   : json_object_get(node, token->name);
	}
	return node;
}
