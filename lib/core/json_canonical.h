/* SPDX-License-Identifier: MIT */
/*
 * JSON in the canonical form of RFC 8785: names sorted by their UTF-16 code units,
 * no blanks, numbers as ECMAScript writes them.
 */
#ifndef UM_JSON_CANONICAL_H
#define UM_JSON_CANONICAL_H

#include "core/json.h"
#include "core/str.h"

/*
 * Appends the value. Sets out->failed when memory runs out; no node may be
 * UNREADABLE.
 */
void um_json_canonical(struct um_buf *out, const struct um_json_node *node);

/*
 * The same of an object without the members with these names, a list that NULL
 * ends.
 */
void um_json_canonical_without(struct um_buf *out,
	const struct um_json_node *object, const char *const *names);

#endif
