/* SPDX-License-Identifier: MIT */
/* JSON pointers (RFC 6901), which find values in a document. */
#ifndef UM_POINTER_H
#define UM_POINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/json.h"

#define UM_POINTER_MAX 256 /* characters of a pointer */
#define UM_POINTER_TOKENS_MAX 16

/* Zeroed to begin with: the whole document. */
struct um_pointer {
	char *text; /* as it was compiled, and behind its NUL the names */
	size_t len;
	struct um_pointer_token {
		const char *name;
		size_t name_len;
		size_t index; /* in an array, or SIZE_MAX */
	} * token;
};

/* False for a malformed pointer, over a limit, and when out of memory. */
bool um_pointer_compile(struct um_pointer *pointer, const char *text);
void um_pointer_free(struct um_pointer *pointer);
bool um_pointer_equal(const struct um_pointer *a, const struct um_pointer *b);

/* Appends its text; nothing for the whole document. */
void um_pointer_put(const struct um_pointer *pointer, struct um_buf *out);

/*
 * The node at the pointer, or NULL; `root` may be NULL. A node of kind UNREADABLE
 * if an object on the way has the name twice, or has it in a value that cannot
 * be read.
 */
const struct um_json_node *um_pointer_find(const struct um_pointer *pointer,
	const struct um_json_node *root);

#endif
