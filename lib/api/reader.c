/* SPDX-License-Identifier: MIT */
#include "api/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/texts.h"

#define NAME_SHOWN_MAX 64 /* bytes of a name that is not known */

struct um_reader
um_reader_root(const struct um_json_node *root, struct um_reader_fault *fault)
{
	struct um_reader reader = { .object = root, .fault = fault };

	if (!um_json_is(root, UM_JSON_OBJECT))
		um_reader_refuse(&reader, "", "the body must be a JSON object");
	return reader;
}

/* Where the object is, with its point. Few requests have a fault. */
static void
write_place(char *out, size_t size, const struct um_reader *reader)
{
	if (reader->list != NULL)
		snprintf(out, size, "%.40s%.30s[%zu].", reader->place,
			reader->list, reader->index);
	else
		snprintf(out, size, "%.60s", reader->place);
}

bool
um_reader_refuse(struct um_reader *reader, const char *member, const char *fmt,
	...)
{
	struct um_reader_fault *fault = reader->fault;
	char place[sizeof(reader->place)];
	va_list args;

	if (fault->message[0] != '\0')
		return false;
	write_place(place, sizeof(place), reader);
	snprintf(fault->member, sizeof(fault->member), "%s%s", place, member);
	va_start(args, fmt);
	vsnprintf(fault->message, sizeof(fault->message), fmt, args);
	va_end(args);
	return false;
}

const struct um_json_node *
um_reader_get(struct um_reader *reader, const char *name)
{
	const struct um_json_node *object = reader->object, *at, *end;
	const struct um_str wanted = um_str(name);
	size_t place = 0;

	if (!um_json_is(object, UM_JSON_OBJECT))
		return NULL;
	end = object + object->size;
	for (at = object + 1; at < end; at += 1 + at[1].size, place++) {
		if (!um_json_string_eq(at, wanted))
			continue;
		if (place < UM_READER_MEMBERS_MAX)
			reader->known |= UINT64_C(1) << place;
		return at + 1;
	}
	return NULL;
}

/* The member; without it, a fault if it is required. */
static const struct um_json_node *
get(struct um_reader *reader, const char *name, enum um_presence presence)
{
	const struct um_json_node *node = um_reader_get(reader, name);

	if (node == NULL && presence == UM_REQUIRED)
		um_reader_refuse(reader, name, "%s is missing", name);
	return node;
}

bool
um_reader_text(struct um_reader *reader, const char *name,
	enum um_presence presence, size_t min, size_t max, struct um_str *out)
{
	const struct um_json_node *node = get(reader, name, presence);
	struct um_str text = um_json_str(node);

	if (node == NULL)
		return false;
	if (node->kind != UM_JSON_STRING)
		return um_reader_refuse(reader, name, "%s must be a string",
			name);
	if (text.len < min || text.len > max)
		return um_reader_refuse(reader, name,
			"%s " UM_TEXT_MUST_HAVE_BYTES, name, min, max);
	if (text.len != 0 && memchr(text.ptr, '\0', text.len) != NULL)
		return um_reader_refuse(reader, name, "%s must have no NUL",
			name);
	*out = text;
	return true;
}

bool
um_reader_word(struct um_reader *reader, const char *name,
	enum um_presence presence, size_t max, const char *characters,
	struct um_str *out)
{
	struct um_str text = { 0 };

	if (!um_reader_text(reader, name, presence, 0, max, &text))
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (strchr(characters, text.ptr[i]) == NULL)
			return um_reader_refuse(reader, name,
				"%s must have only characters of %s", name,
				characters);
	*out = text;
	return true;
}

bool
um_reader_int(struct um_reader *reader, const char *name,
	enum um_presence presence, int64_t min, int64_t max, int64_t *out)
{
	const struct um_json_node *node = get(reader, name, presence);
	int64_t value = INT64_MIN;

	if (node == NULL)
		return false;
	/* What follows the digits ends strtoll(): no digit. */
	if (node->kind == UM_JSON_INTEGER)
		value = strtoll(node->text, NULL, 10);
	if (node->kind != UM_JSON_INTEGER || value < min || value > max)
		return um_reader_refuse(reader, name,
			"%s must be a whole number from %lld to %lld", name,
			(long long)min, (long long)max);
	*out = value;
	return true;
}

bool
um_reader_bool(struct um_reader *reader, const char *name, bool *out)
{
	const struct um_json_node *node = um_reader_get(reader, name);

	if (node == NULL)
		return false;
	if (node->kind != UM_JSON_TRUE && node->kind != UM_JSON_FALSE)
		return um_reader_refuse(reader, name,
			"%s " UM_TEXT_MUST_BE_BOOL, name);
	*out = node->kind == UM_JSON_TRUE;
	return true;
}

/* The words, with commas between them. */
static void
list_words(char *out, size_t size, const char *const *words)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; words[i] != NULL && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s",
			i != 0 ? ", " : "", words[i]);
}

bool
um_reader_choice(struct um_reader *reader, const char *name,
	enum um_presence presence, const char *const *words, size_t *out)
{
	const struct um_json_node *node = get(reader, name, presence);
	char all[160];

	if (node == NULL)
		return false;
	for (size_t i = 0; words[i] != NULL; i++) {
		if (!um_json_string_eq(node, um_str(words[i])))
			continue;
		*out = i;
		return true;
	}
	list_words(all, sizeof(all), words);
	return um_reader_refuse(reader, name, "%s " UM_TEXT_MUST_BE_ONE_OF,
		name, all);
}

bool
um_reader_uuid(struct um_reader *reader, const char *name,
	enum um_presence presence, uint8_t out[static UM_UUID_LEN])
{
	const struct um_json_node *node = get(reader, name, presence);
	uint8_t id[UM_UUID_LEN];

	if (node == NULL)
		return false;
	if (node->kind != UM_JSON_STRING
		|| !um_uuid_parse(id, um_json_str(node)))
		return um_reader_refuse(reader, name, "%s must be a UUID",
			name);
	memcpy(out, id, UM_UUID_LEN);
	return true;
}

bool
um_reader_object(struct um_reader *reader, const char *name,
	enum um_presence presence, struct um_reader *out)
{
	const struct um_json_node *node = get(reader, name, presence);
	char place[sizeof(reader->place)];

	if (node == NULL)
		return false;
	if (node->kind != UM_JSON_OBJECT)
		return um_reader_refuse(reader, name,
			"%s " UM_TEXT_MUST_BE_OBJECT, name);
	*out = (struct um_reader){ .object = node, .fault = reader->fault };
	write_place(place, sizeof(place), reader);
	snprintf(out->place, sizeof(out->place), "%.60s%.30s.", place, name);
	return true;
}

bool
um_reader_array(struct um_reader *reader, const char *name,
	enum um_presence presence, size_t min, size_t max,
	const struct um_json_node **out)
{
	const struct um_json_node *node = get(reader, name, presence);
	const struct um_json_node *element = NULL;
	size_t len = 0;

	if (node == NULL)
		return false;
	while (len <= max && (element = um_json_next(node, element)) != NULL)
		len++;
	if (node->kind != UM_JSON_ARRAY || len < min || len > max)
		return um_reader_refuse(reader, name,
			"%s must be an array of %zu to %zu elements", name, min,
			max);
	*out = node;
	return true;
}

bool
um_reader_is_for(struct um_reader *reader, const char *name, bool is_for)
{
	return is_for || um_reader_get(reader, name) == NULL
		|| um_reader_refuse(reader, name,
			"%s is not allowed for this kind", name);
}

struct um_reader
um_reader_element(struct um_reader *reader, const char *name,
	const struct um_json_node *element, size_t index)
{
	struct um_reader at = { .object = element,
		.fault = reader->fault,
		.list = name,
		.index = index };

	memcpy(at.place, reader->place, sizeof(at.place));
	if (!um_json_is(element, UM_JSON_OBJECT))
		um_reader_refuse(&at, "", "%s[%zu] " UM_TEXT_MUST_BE_OBJECT,
			name, index);
	return at;
}

void
um_reader_end(struct um_reader *reader)
{
	const struct um_json_node *object = reader->object, *at, *end;
	size_t place = 0;

	if (!um_json_is(object, UM_JSON_OBJECT))
		return;
	end = object + object->size;
	for (at = object + 1; at < end; at += 1 + at[1].size, place++) {
		char name[NAME_SHOWN_MAX + 1];

		if (place < UM_READER_MEMBERS_MAX
			&& (reader->known >> place & 1) != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s",
			(int)(at->len < NAME_SHOWN_MAX ? at->len
						       : NAME_SHOWN_MAX),
			at->text);
		if (!um_str_is_text(um_str(name)))
			name[0] = '\0';
		um_reader_refuse(reader, name,
			"this method has no member with this name");
		return;
	}
}
