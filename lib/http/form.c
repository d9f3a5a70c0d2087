/* SPDX-License-Identifier: MIT */
#include "http/form.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/encode.h"

/* The byte that begins `text`, and how much of the text stands for it. */
static bool
decode_byte(char *out, size_t *len, struct um_str text)
{
	int high, low;

	*len = 1;
	*out = (char)(text.ptr[0] == '+' ? ' ' : text.ptr[0]);
	if (text.ptr[0] != '%')
		return true;
	high = text.len < 3 ? -1 : um_hex_digit(text.ptr[1]);
	low = text.len < 3 ? -1 : um_hex_digit(text.ptr[2]);
	if (high < 0 || low < 0)
		return false;
	*out = (char)(high << 4 | low);
	*len = 3;
	return true;
}

/*
 * Decodes to *at, which has room because the result is never longer, and moves
 * *at to its end. False: there is a bad %-sequence, which is kept as it is, or
 * the result is no text.
 */
static bool
decode(struct um_str *out, char **at, struct um_str text)
{
	bool good = true;
	char *p = *at;

	for (size_t i = 0, len; i < text.len; i += len)
		good = decode_byte(p++, &len,
			       (struct um_str){ text.ptr + i, text.len - i })
			&& good;
	*out = (struct um_str){ *at, (size_t)(p - *at) };
	*at = p;
	return good && um_str_is_text(*out);
}

/* The bytes of the character that begins `text`; 0: it is none. */
static size_t
character_len(struct um_str text)
{
	for (size_t len = 1; len <= 4 && len <= text.len; len++)
		if (um_str_is_text((struct um_str){ text.ptr, len }))
			return len;
	return 0;
}

/* Writes `?` for each byte of decoded text that belongs to no character. */
static void
replace_unreadable(char *text, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = character_len((struct um_str){ text + i, len - i });
		if (n == 0) {
			text[i] = '?';
			n = 1;
		}
	}
}

/* Adds a field to a form that has room for it. Its name is text. */
typedef enum um_refusal add_field(struct um_form *form, struct um_field field,
	size_t value_max);

static enum um_refusal
add_strictly(struct um_form *form, struct um_field field, size_t value_max)
{
	if (field.unreadable != UM_REFUSAL_NONE)
		return field.unreadable;
	if (field.name.len > UM_FORM_NAME_MAX || field.value.len > value_max)
		return UM_REFUSAL_PARAMETERS_TOO_LARGE;
	for (size_t i = 0; i < form->len; i++)
		if (um_str_eq(form->field[i].name, field.name))
			return UM_REFUSAL_DUPLICATE_PARAMETER;
	form->field[form->len++] = field;
	return UM_REFUSAL_NONE;
}

static void
drop_value(struct um_field *field, enum um_refusal reason)
{
	field->unreadable = reason;
	field->value = um_str(NULL);
}

static enum um_refusal
add_leniently(struct um_form *form, struct um_field field, size_t value_max)
{
	if (field.name.ptr == NULL || field.name.len > UM_FORM_NAME_MAX)
		return UM_REFUSAL_NONE;
	if (field.value.len > value_max)
		drop_value(&field, UM_REFUSAL_PARAMETERS_TOO_LARGE);
	for (size_t i = 0; i < form->len; i++) {
		if (!um_str_eq(form->field[i].name, field.name))
			continue;
		drop_value(&form->field[i], UM_REFUSAL_DUPLICATE_PARAMETER);
		return UM_REFUSAL_NONE;
	}
	form->field[form->len++] = field;
	return UM_REFUSAL_NONE;
}

/* Decodes to *at; a name that is no text has no bytes. */
static struct um_field
read_field(char **at, struct um_str name, struct um_str value)
{
	struct um_field field = { 0 };
	char *value_at;

	if (!decode(&field.name, at, name)) {
		field.name.ptr = NULL;
		field.unreadable = UM_REFUSAL_MALFORMED_PARAMETERS;
	}
	value_at = *at;
	if (!decode(&field.value, at, value)) {
		field.unreadable = UM_REFUSAL_MALFORMED_PARAMETERS;
		replace_unreadable(value_at, field.value.len);
	}
	return field;
}

/* How many fields the text has at most. */
static size_t
count_fields(struct um_str text)
{
	size_t count = 0;

	while (text.ptr != NULL && count < UM_FORM_FIELDS_MAX) {
		um_str_cut(&text, "&");
		count++;
	}
	return count;
}

static enum um_refusal
parse(struct um_form *form, struct um_str text, size_t value_max,
	add_field *add)
{
	size_t fields_size = count_fields(text) * sizeof(*form->field);
	char *at;

	*form = (struct um_form){ 0 };
	if (text.len == 0)
		return UM_REFUSAL_NONE;
	form->size = fields_size + text.len;
	form->field = malloc(form->size);
	if (form->field == NULL)
		return UM_REFUSAL_MALFORMED_PARAMETERS;
	at = (char *)form->field + fields_size;

	while (text.len != 0) {
		struct um_str value = um_str_cut(&text, "&");
		struct um_str name = um_str_cut(&value, "=");
		enum um_refusal refusal;

		if (name.len == 0 && value.len == 0)
			continue;
		if (form->len == UM_FORM_FIELDS_MAX)
			return UM_REFUSAL_PARAMETERS_TOO_LARGE;
		refusal = add(form, read_field(&at, name, value), value_max);
		if (refusal != UM_REFUSAL_NONE)
			return refusal;
	}
	return UM_REFUSAL_NONE;
}

enum um_refusal
um_form_parse(struct um_form *form, struct um_str text)
{
	return parse(form, text, UM_FORM_VALUE_MAX, add_strictly);
}

enum um_refusal
um_form_parse_max(struct um_form *form, struct um_str text, size_t value_max)
{
	return parse(form, text, value_max, add_strictly);
}

enum um_refusal
um_form_parse_lenient(struct um_form *form, struct um_str text)
{
	return parse(form, text, UM_FORM_VALUE_MAX, add_leniently);
}

const struct um_field *
um_form_field(const struct um_form *form, const char *name)
{
	for (size_t i = 0; i < form->len; i++)
		if (um_str_is(form->field[i].name, name))
			return &form->field[i];
	return NULL;
}

enum um_refusal
um_form_read(const struct um_form *form, const char *name, struct um_str *value)
{
	const struct um_field *field = um_form_field(form, name);
	enum um_refusal unreadable = field != NULL ? field->unreadable
						   : UM_REFUSAL_NONE;

	*value = field != NULL && unreadable == UM_REFUSAL_NONE ? field->value
								: um_str(NULL);
	return unreadable;
}

struct um_str
um_form_get(const struct um_form *form, const char *name)
{
	struct um_str value;

	um_form_read(form, name, &value);
	return value;
}

bool
um_form_is(const struct um_form *form, const char *name, const char *text)
{
	struct um_str value = um_form_get(form, name);

	return um_str_is(value, text);
}

void
um_form_free(struct um_form *form)
{
	um_wipe_free(form->field, form->size);
	*form = (struct um_form){ 0 };
}
