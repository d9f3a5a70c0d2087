/* SPDX-License-Identifier: MIT */
#include "form/place.h"

#include <stdio.h>

#include "form/words.h"

#define NAME_MAX_SHOWN 32 /* bytes */

const struct um_json_node *
um_place_get(const struct um_place *at, const char *name)
{
	return um_json_member(at->node, um_str(name));
}

/* Always false. `name` is a member, or NULL for the object itself. */
bool
um_place_refuse(const struct um_place *at, const char *name, const char *reason)
{
	snprintf(at->fault->pointer, sizeof(at->fault->pointer), "%s%s%s",
		at->pointer, name != NULL ? "/" : "", name != NULL ? name : "");
	at->fault->reason = reason;
	return false;
}

struct um_place
um_place_element(const struct um_place *at, const char *list, size_t index,
	const struct um_json_node *node)
{
	struct um_place here = { .node = node, .fault = at->fault };

	snprintf(here.pointer, sizeof(here.pointer), "%.24s/%s/%zu",
		at->pointer, list, index);
	return here;
}

/* Only the first bytes of an unknown name are reported. */
static bool
refuse_name(const struct um_place *at, const struct um_json_node *name)
{
	char text[NAME_MAX_SHOWN + 1];
	size_t len = name->len < NAME_MAX_SHOWN ? name->len : NAME_MAX_SHOWN;

	memcpy(text, name->text, len);
	text[len] = '\0';
	return um_place_refuse(at, text, "is unknown");
}

bool
um_place_has(const struct um_place *at, const char *const *names)
{
	const struct um_json_node *name;

	if (!um_json_is(at->node, UM_JSON_OBJECT))
		return um_place_refuse(at, NULL, "is not an object");
	for (name = at->node + 1; name < at->node + at->node->size;
		name += 1 + name[1].size) {
		size_t i = 0;

		while (names[i] != NULL
			&& !um_str_is(um_json_str(name), names[i]))
			i++;
		if (names[i] == NULL)
			return refuse_name(at, name);
	}
	return true;
}

bool
um_place_words(const struct um_json_node **out, const struct um_place *at,
	const char *name, size_t max, bool lines, bool required)
{
	*out = um_place_get(at, name);
	if (*out == NULL)
		return !required || um_place_refuse(at, name, "is missing");
	return um_words_are(*out, max, lines)
		|| um_place_refuse(at, name,
			"is not a text of this length in known languages");
}

bool
um_place_bool(bool *out, const struct um_place *at, const char *name)
{
	const struct um_json_node *node = um_place_get(at, name);

	*out = um_json_is(node, UM_JSON_TRUE);
	return node == NULL || *out || um_json_is(node, UM_JSON_FALSE)
		|| um_place_refuse(at, name, "is neither true nor false");
}
