/* SPDX-License-Identifier: MIT */
#include "core/conf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/timestamp.h"

#define WORD_MAX 32 /* characters of a word that a message quotes */

/* The name that ends at `end`, with its quotes; never what follows it. */
static struct um_str
name_before(struct um_str bytes, size_t end)
{
	size_t start = end - (end != 0);

	while (start != 0
		&& (bytes.ptr[start - 1] != '"'
			|| (start > 1 && bytes.ptr[start - 2] == '\\')))
		start--;
	return (struct um_str){ bytes.ptr + start - (start != 0),
		end - start + (start != 0) };
}

static void
not_json(const char *path, struct um_str bytes, const json_error_t *where,
	struct um_error *err)
{
	const char *near = strstr(where->text, " near ");
	size_t end = (size_t)where->position;

	if (json_error_code(where) == json_error_duplicate_key
		&& end <= bytes.len) {
		struct um_str name = name_before(bytes, end);

		um_error(err, "%s:%d: duplicate key %.*s", path, where->line,
			(int)(name.len < 80 ? name.len : 80), name.ptr);
		return;
	}
	/* The text after "near" may be a password. */
	um_error(err, "%s:%d: %.*s", path, where->line,
		(int)(near != NULL ? (size_t)(near - where->text)
				   : strlen(where->text)),
		where->text);
}

json_t *
um_conf_read_file(const char *path, struct um_error *err)
{
	struct um_buf bytes = { 0 };
	json_t *root = NULL;
	json_error_t where;

	if (!um_file_read(&bytes, path, UM_CONF_FILE_MAX, err))
		goto out;
	root = json_loadb(bytes.len != 0 ? bytes.ptr : "", bytes.len,
		JSON_REJECT_DUPLICATES, &where);
	if (root == NULL)
		not_json(path, um_buf_str(&bytes), &where, err);
out:
	um_buf_free(&bytes);
	return root;
}

struct um_conf_loc
um_conf_root(const char *path, struct um_error *err)
{
	err->text[0] = '\0';
	return (struct um_conf_loc){ .path = path, .err = err };
}

struct um_conf_loc
um_conf_member(const struct um_conf_loc *at, const char *key)
{
	struct um_conf_loc deeper = *at;
	size_t len = strlen(deeper.pointer);
	size_t left = sizeof(deeper.pointer) - 1;

	/* RFC 6901 section 3: ~ is ~0, / is ~1. */
	if (len < left)
		deeper.pointer[len++] = '/';
	for (; *key != '\0' && len + 1 < left; key++) {
		bool escape = *key == '~' || *key == '/';

		deeper.pointer[len++] = (char)(escape ? '~' : *key);
		if (escape)
			deeper.pointer[len++] = *key == '~' ? '0' : '1';
	}
	deeper.pointer[len] = '\0';
	return deeper;
}

struct um_conf_loc
um_conf_element(const struct um_conf_loc *at, size_t index)
{
	char key[24];

	snprintf(key, sizeof(key), "%zu", index);
	return um_conf_member(at, key);
}

bool
um_conf_error(const struct um_conf_loc *at, const char *fmt, ...)
{
	size_t said = strlen(at->err->text);
	size_t left = sizeof(at->err->text) - said;
	char reason[1024];
	va_list ap;
	int len;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	len = snprintf(at->err->text + said, left, "%s%s:%s%s: %s",
		said != 0 ? "\n" : "", at->path,
		at->pointer[0] != '\0' ? " " : "", at->pointer, reason);
	/* An error that does not fit is left out. */
	if (len < 0 || (size_t)len >= left)
		at->err->text[said] = '\0';
	return false;
}

bool
um_conf_member_error(const struct um_conf_loc *at, const char *key,
	const char *reason)
{
	struct um_conf_loc deeper = um_conf_member(at, key);

	return um_conf_error(&deeper, "%s", reason);
}

bool
um_conf_refuse_word(const struct um_conf_loc *at, const char *reason,
	const char *const *words)
{
	struct um_buf text = { 0 };

	um_buf_cat(&text, reason, "; it can be ");
	for (size_t i = 0; words[i] != NULL; i++)
		um_buf_cat(&text, i != 0 ? ", " : "", words[i]);
	um_buf_put(&text, "", 1);
	um_conf_error(at, "%s", text.failed ? reason : text.ptr);
	um_buf_free(&text);
	return false;
}

bool
um_conf_check_keys(const struct um_conf_loc *at, json_t *node,
	const char *const *keys)
{
	bool ok = true;
	const char *key;
	json_t *value;

	if (!json_is_object(node))
		return um_conf_error(at, "is not an object");
	json_object_foreach (node, key, value) {
		struct um_conf_loc here = um_conf_member(at, key);
		size_t i = 0;

		while (keys[i] != NULL && strcmp(keys[i], key) != 0)
			i++;
		if (keys[i] == NULL)
			ok = um_conf_refuse_word(&here, "is not known", keys);
	}
	return ok;
}

bool
um_conf_get_text(const struct um_conf_loc *at, const json_t *object,
	const char *key, bool required, const char **out)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);

	*out = NULL;
	if (value == NULL)
		return !required || um_conf_member_error(at, key, "is missing");
	if (text == NULL)
		return um_conf_member_error(at, key, "is not a string");
	if (text[0] == '\0' || strlen(text) != json_string_length(value))
		return um_conf_member_error(at, key, "is empty or holds a NUL");
	*out = text;
	return true;
}

bool
um_conf_take_text(const struct um_conf_loc *at, const json_t *object,
	const char *key, bool required, char **out)
{
	const char *text;

	return um_conf_get_text(at, object, key, required, &text)
		&& (text == NULL || um_conf_copy_text(at, text, out));
}

bool
um_conf_take_path(const struct um_conf_loc *at, const json_t *object,
	const char *key, bool required, char **out)
{
	return um_conf_take_text(at, object, key, required, out)
		&& (*out == NULL || um_conf_resolve_path(at, out));
}

bool
um_conf_get_bool(const struct um_conf_loc *at, const json_t *object,
	const char *key, bool *out)
{
	const json_t *value = json_object_get(object, key);

	if (value == NULL)
		return true;
	*out = json_is_true(value);
	return json_is_boolean(value)
		|| um_conf_member_error(at, key, "is not true or false");
}

bool
um_conf_get_day(const struct um_conf_loc *at, const json_t *object,
	const char *key, int64_t *out)
{
	const char *text;
	char time[32];

	if (!um_conf_get_text(at, object, key, false, &text) || text == NULL)
		return json_object_get(object, key) == NULL;
	snprintf(time, sizeof(time), "%.11sT00:00:00Z", text);
	return (strlen(text) == 10
		       && um_timestamp_parse(out, um_str(time),
			       UM_TIMESTAMP_RFC3339))
		|| um_conf_member_error(at, key,
			"is not a day, such as 2026-11-28");
}

/* A short text of letters, digits, hyphens and underscores: not a secret. */
static bool
is_word(const char *text)
{
	size_t len = strspn(text, UM_CONF_WORD "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return len != 0 && len < WORD_MAX && text[len] == '\0';
}

static bool
refuse_choice(const struct um_conf_loc *at, const char *key,
	const json_t *value, const char *const *names)
{
	struct um_conf_loc here = um_conf_member(at, key);
	const char *text = json_string_value(value);
	char reason[WORD_MAX + 32];

	if (value == NULL)
		return um_conf_refuse_word(&here, "is missing", names);
	if (text == NULL || !is_word(text))
		return um_conf_refuse_word(&here, "is not one of its choices",
			names);
	snprintf(reason, sizeof(reason), "`%s` is not one of its choices",
		text);
	return um_conf_refuse_word(&here, reason, names);
}

bool
um_conf_get_choice(const struct um_conf_loc *at, const json_t *object,
	const char *key, const char *const *names, unsigned *out)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);

	for (unsigned i = 0; text != NULL && names[i] != NULL; i++) {
		if (strcmp(names[i], text) == 0) {
			*out = i;
			return true;
		}
	}
	return refuse_choice(at, key, value, names);
}

bool
um_conf_get_integer(const struct um_conf_loc *at, const json_t *object,
	const char *key, long long min, long long max, long long *out)
{
	const json_t *value = json_object_get(object, key);
	struct um_conf_loc deeper = um_conf_member(at, key);

	if (value == NULL)
		return um_conf_error(&deeper, "is missing");
	*out = json_integer_value(value);
	if (!json_is_integer(value) || *out < min || *out > max)
		return um_conf_error(&deeper,
			"is not a whole number from %lld to %lld", min, max);
	return true;
}

bool
um_conf_get_texts(const struct um_conf_loc *at, const json_t *object,
	const char *key, const char **out, size_t max, size_t *len)
{
	struct um_conf_loc list = um_conf_member(at, key);
	const json_t *texts = json_object_get(object, key);

	*len = json_array_size(texts);
	if (texts == NULL)
		return true;
	if (*len == 0 || *len > max)
		return um_conf_error(&list, "is not a list of 1 to %zu strings",
			max);
	for (size_t i = 0; i < *len; i++) {
		struct um_conf_loc here = um_conf_element(&list, i);
		const json_t *text = json_array_get(texts, i);

		out[i] = json_string_value(text);
		if (out[i] == NULL || out[i][0] == '\0'
			|| strlen(out[i]) != json_string_length(text))
			return um_conf_error(&here,
				"is not a string, is empty, or contains a NUL");
	}
	return true;
}

bool
um_conf_get_strlist(struct um_strlist *list, const struct um_conf_loc *at,
	const json_t *node, bool may_be_one)
{
	bool one = may_be_one && json_is_string(node);
	size_t len = one ? 1 : json_array_size(node);

	*list = (struct um_strlist){ 0 };
	if (len == 0 || len > UM_STRLIST_MAX)
		return um_conf_error(at, "is not %sa list of 1 to %d strings",
			may_be_one ? "a string or " : "", UM_STRLIST_MAX);
	list->item = calloc(len, sizeof(list->item[0]));
	if (list->item == NULL)
		return um_conf_error(at, "out of memory");
	for (size_t i = 0; i < len; i++) {
		const json_t *element = one ? node : json_array_get(node, i);
		const char *text = json_string_value(element);

		if (text == NULL || text[0] == '\0'
			|| strlen(text) != json_string_length(element))
			return um_conf_error(at,
				"holds something that is not a string, is "
				"empty, "
				"or holds a NUL");
		if (!um_conf_copy_text(at, text, &list->item[i]))
			return false;
		list->len++;
	}
	return true;
}

bool
um_conf_copy_text(const struct um_conf_loc *at, const char *text, char **out)
{
	*out = strdup(text);
	return *out != NULL || um_conf_error(at, "out of memory");
}

bool
um_conf_resolve_path(const struct um_conf_loc *at, char **path)
{
	const char *slash = strrchr(at->path, '/');
	char *joined;

	if ((*path)[0] == '/' || slash == NULL)
		return true;
	if (asprintf(&joined, "%.*s/%s", (int)(slash - at->path), at->path,
		    *path)
		< 0)
		return um_conf_error(at, "out of memory");
	free(*path);
	*path = joined;
	return true;
}
