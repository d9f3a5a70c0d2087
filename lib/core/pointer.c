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

/*
 * Writes the name that ends at the next slash or the end, which *at becomes, and
 * returns its end; NULL where it is malformed.
 */
static char *
unescape(char *out, const char **at)
{
	const char *p = *at;

	for (; *p != '\0' && *p != '/'; p++) {
		char c = *p;

		if (c == '~') {
			p++;
			if (*p != '0' && *p != '1')
				return NULL;
			c = (char)(*p == '0' ? '~' : '/');
		}
		*out++ = c;
	}
	*at = p;
	return out;
}

bool
um_pointer_compile(struct um_pointer *pointer, const char *text)
{
	size_t len = strlen(text);
	char *end;

	*pointer = (struct um_pointer){ 0 };
	if (len > UM_POINTER_MAX)
		return false;
	pointer->token = calloc(UM_POINTER_TOKENS_MAX,
		sizeof(pointer->token[0]));
	pointer->text = malloc(2 * (len + 1));
	if (pointer->token == NULL || pointer->text == NULL)
		goto fail;
	memcpy(pointer->text, text, len + 1);
	end = pointer->text + len + 1;
	while (*text == '/' && pointer->len < UM_POINTER_TOKENS_MAX) {
		struct um_pointer_token *token =
			&pointer->token[pointer->len++];

		text++;
		token->name = end;
		end = unescape(end, &text);
		if (end == NULL)
			goto fail;
		token->name_len = (size_t)(end - token->name);
		*end++ = '\0';
		token->index = array_index(token->name);
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
	free(pointer->text);
	free(pointer->token);
	*pointer = (struct um_pointer){ 0 };
}

/* Each text has one form: all of its escapes are needed. */
bool
um_pointer_equal(const struct um_pointer *a, const struct um_pointer *b)
{
	return um_str_eq(um_str(a->text), um_str(b->text));
}

void
um_pointer_put(const struct um_pointer *pointer, struct um_buf *out)
{
	struct um_str text = um_str(pointer->text);

	um_buf_put(out, text.ptr, text.len);
}

static const struct um_json_node *
find_element(const struct um_json_node *array, size_t index)
{
	const struct um_json_node *element = um_json_next(array, NULL);

	for (; element != NULL && index != 0; index--)
		element = um_json_next(array, element);
	return element;
}

/* The only member with this name. */
static const struct um_json_node *
find_member(const struct um_json_node *object, struct um_str name)
{
	static const struct um_json_node twice = { "is there twice", 14, 1,
		UM_JSON_UNREADABLE };
	const struct um_json_node *found = NULL, *at, *end;

	if (!um_json_is(object, UM_JSON_OBJECT))
		return um_json_is(object, UM_JSON_UNREADABLE) ? object : NULL;
	end = object + object->size;
	for (at = object + 1; at < end; at += 1 + at[1].size) {
		if (!um_json_string_eq(at, name))
			continue;
		if (found != NULL)
			return &twice;
		found = at + 1;
	}
	return found;
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
			: find_member(node,
				(struct um_str){ token->name,
					token->name_len });
	}
	return node;
}
