/* SPDX-License-Identifier: MIT */
#include "http/multipart.h"

#include <string.h>
#include <strings.h>

#include "http/header.h"

#define TYPE "multipart/form-data"
#define BOUNDARY_MAX 70 /* RFC 2046 section 5.1.1 */

static struct um_str
skip(struct um_str s, size_t len)
{
	return (struct um_str){ s.ptr + len, s.len - len };
}

static bool
starts_with(struct um_str s, const char *text)
{
	size_t len = strlen(text);

	return s.len >= len && strncasecmp(s.ptr, text, len) == 0;
}

/* The place of `part` in `s`, or s.len if it is not there. */
static size_t
find(struct um_str s, struct um_str part)
{
	const char *at = s.len != 0 ? memmem(s.ptr, s.len, part.ptr, part.len)
				    : NULL;

	return at != NULL ? (size_t)(at - s.ptr) : s.len;
}

/*
 * The next `; name=value` of a header, without its quotes (RFC 2045 section
 * 5.1). A backslash in quotes is refused: no sender needs one, and parsers
 * disagree about what it means.
 */
static bool
next_parameter(struct um_str *rest, struct um_str *name, struct um_str *value)
{
	size_t end;

	*rest = um_str_trim(*rest);
	if (rest->len == 0 || *rest->ptr != ';')
		return false;
	*rest = um_str_trim(skip(*rest, 1));
	*name = um_str_cut(rest, "=");
	if (name->len == 0 || rest->ptr == NULL)
		return false;
	if (rest->len != 0 && *rest->ptr == '"') {
		*rest = skip(*rest, 1);
		*value = um_str_cut(rest, "\"");
		return rest->ptr != NULL
			&& memchr(value->ptr, '\\', value->len) == NULL;
	}
	end = find(*rest, um_str(";"));
	*value = um_str_trim((struct um_str){ rest->ptr, end });
	*rest = skip(*rest, end);
	return value->len != 0;
}

/*
 * A parameter of a header after its first word. False when the header is
 * malformed or has it twice; .ptr is NULL without it.
 */
static bool
parameter(struct um_str *out, struct um_str rest, const char *wanted)
{
	struct um_str name, value;

	*out = um_str(NULL);
	while (um_str_trim(rest).len != 0) {
		if (!next_parameter(&rest, &name, &value))
			return false;
		if (name.len != strlen(wanted)
			|| strncasecmp(name.ptr, wanted, name.len) != 0)
			continue;
		if (out->ptr != NULL)
			return false;
		*out = value;
	}
	return true;
}

/* One header line of a part; sets the name of *field from it. */
static bool
read_header(struct um_str line, struct um_field *field, bool *is_file)
{
	struct um_str file;
	size_t colon = find(line, um_str(":"));

	if (colon == 0 || colon == line.len)
		return false;
	if (starts_with(line, "content-transfer-encoding:"))
		return false;
	if (!starts_with(line, "content-disposition:"))
		return true;
	line = um_str_trim(skip(line, colon + 1));
	if (field->name.ptr != NULL || !starts_with(line, "form-data"))
		return false;
	line = skip(line, strlen("form-data"));
	if (!parameter(&field->name, line, "name")
		|| !parameter(&file, line, "filename"))
		return false;
	*is_file = file.ptr != NULL;
	return field->name.len != 0;
}

/* One part, without the boundaries around it. */
static bool
read_part(struct um_multipart *multipart, struct um_str part)
{
	struct um_field field = { 0 };
	bool is_file = false;

	while (!starts_with(part, "\r\n")) {
		size_t end = find(part, um_str("\r\n"));

		if (end == part.len
			|| !read_header((struct um_str){ part.ptr, end },
				&field, &is_file))
			return false;
		part = skip(part, end + 2);
	}
	if (field.name.ptr == NULL)
		return false;
	if (is_file)
		return true;
	field.value = skip(part, 2);
	for (size_t i = 0; i < multipart->len; i++) {
		if (!um_str_eq(multipart->field[i].name, field.name))
			continue;
		multipart->field[i].unreadable = UM_REFUSAL_DUPLICATE_PARAMETER;
		return true;
	}
	if (multipart->len == UM_MULTIPART_FIELDS_MAX)
		return false;
	multipart->field[multipart->len++] = field;
	return true;
}

bool
um_multipart_parse(struct um_multipart *multipart, struct um_str content_type,
	struct um_str body)
{
	char delimiter[4 + BOUNDARY_MAX] = "\r\n--";
	struct um_str boundary, line = { delimiter, 4 };

	*multipart = (struct um_multipart){ 0 };
	if (!um_media_type_is(content_type, TYPE)
		|| !parameter(&boundary, skip(content_type, strlen(TYPE)),
			"boundary")
		|| boundary.len == 0 || boundary.len > BOUNDARY_MAX)
		return false;
	memcpy(delimiter + line.len, boundary.ptr, boundary.len);
	line.len += boundary.len;

	/* The first delimiter is at the very beginning, without CRLF. */
	if (body.len < line.len - 2
		|| memcmp(body.ptr, delimiter + 2, line.len - 2) != 0)
		return false;
	body = skip(body, line.len - 2);
	while (starts_with(body, "\r\n")) {
		struct um_str part = skip(body, 2);
		size_t end = find(part, line);

		if (end == part.len
			|| !read_part(multipart,
				(struct um_str){ part.ptr, end }))
			return false;
		body = skip(part, end + line.len);
	}
	return um_str_is(body, "--") || um_str_is(body, "--\r\n");
}

const struct um_field *
um_multipart_field(const struct um_multipart *multipart, const char *name)
{
	for (size_t i = 0; i < multipart->len; i++)
		if (um_str_is(multipart->field[i].name, name))
			return &multipart->field[i];
	return NULL;
}

struct um_str
um_multipart_get(const struct um_multipart *multipart, const char *name)
{
	const struct um_field *field = um_multipart_field(multipart, name);

	return field != NULL && !field->unreadable ? field->value
						   : um_str(NULL);
}
