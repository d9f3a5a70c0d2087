/* SPDX-License-Identifier: MIT */
#include "core/pointer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* RFC 6901 section 4: an index has no leading zero, so 01 is only a name. */
static size_t
array_index(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	if (digits == 0 || digits > 9 || name[digits] != '\0'
		|| (name[0] == '0' && digits > 1))
		return SIZE_MAX;
	return strtoul(name, NULL, 10);
}

/* The token up to the next slash or the end; NULL where it is malformed. */
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
		token->name_len = strlen(token->name);
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
um_pointer_equal(const struct um_pointer *a, const struct um_pointer *b)
{
	if (a->len != b->len)
		return false;
	for (size_t i = 0; i < a->len; i++)
		if (strcmp(a->token[i].name, b->token[i].name) != 0)
			return false;
	return true;
}

void
um_pointer_put(const struct um_pointer *pointer, struct um_buf *out)
{
	for (size_t i = 0; i < pointer->len; i++) {
		um_buf_puts(out, "/");
		for (const char *c = pointer->token[i].name; *c != '\0'; c++)
			if (*c == '~')
				um_buf_puts(out, "~0");
			else if (*c == '/')
				um_buf_puts(out, "~1");
			else
				um_buf_put(out, c, 1);
	}
}

static const struct um_json_node *
find_element(const struct um_json_node *array, size_t index)
{
	const struct um_json_node *element = um_json_next(array, NULL);

	for (; element != NULL && index != 0; index--)
		element = um_json_next(array, element);
	return element;
}

const struct um_json_node *
um_pointer_find(const struct um_pointer *pointer,
	const struct um_json_node *root)
{
	const struct um_json_node *node = root;

	for (size_t i = 0; i < pointer->len && node != NULL; i++) {
		const struct um_pointer_token *token = &pointer->token[i];

		node = um_json_is(node, UM_JSON_ARRAY)
			? find_element(node, token->index)
			: um_json_member(node,
				(struct um_str){ token->name,
					token->name_len });
	}
	return node;
}
