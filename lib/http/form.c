/* SPDX-License-Identifier: MIT */
#include "http/form.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/encode.h"

/*
 * Decodes to *at, which has room because the result is never longer, and moves
 * *at to its end.
 */
static bool
decode(struct um_str *out, char **at, struct um_str text)
{
	char *p = *at;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (c == '%') {
			int high, low;

			if (text.len - i < 3)
				return false;
			high = um_hex_digit(text.ptr[i + 1]);
			low = um_hex_digit(text.ptr[i + 2]);
			if (high < 0 || low < 0)
				return false;
			c = (char)(high << 4 | low);
			i += 2;
		} else if (c == '+') {
			c = ' ';
		}
		*p++ = c;
	}
	*out = (struct um_str){ *at, (size_t)(p - *at) };
	*at = p;
	return um_str_is_text(*out);
}

/* Adds a field to a form that has room for it. */
typedef enum um_refusal add_field(struct um_form *form, struct um_field field,
	size_t value_max);

static enum um_refusal
add_strictly(struct um_form *form, struct um_field field, size_t value_max)
{
	if (field.name.ptr == NULL || field.value.ptr == NULL)
		return UM_REFUSAL_MALFORMED_PARAMETERS;
	if (field.name.len > UM_FORM_NAME_MAX || field.value.len > value_max)
		return UM_REFUSAL_PARAMETERS_TOO_LARGE;
	for (size_t i = 0; i < form->len; i++)
		if (um_str_eq(form->field[i].name, field.name))
			return UM_REFUSAL_DUPLICATE_PARAMETER;
	form->field[form->len++] = field;
	return UM_REFUSAL_NONE;
}

static enum um_refusal
add_leniently(struct um_form *form, struct um_field field, size_t value_max)
{
	if (field.name.ptr == NULL || field.name.len > UM_FORM_NAME_MAX)
		return UM_REFUSAL_NONE;
	field.unreadable = field.value.ptr == NULL
		|| field.value.len > value_max;
	for (size_t i = 0; i < form->len; i++) {
		if (!um_str_eq(form->field[i].name, field.name))
			continue;
		form->field[i].unreadable = true;
		return UM_REFUSAL_NONE;
	}
	form->field[form->len++] = field;
	return UM_REFUSAL_NONE;
}

static enum um_refusal
parse(struct um_form *form, struct um_str text, size_t value_max,
	add_field *add)
{
	char *at;

	*form = (struct um_form){ 0 };
	if (text.len == 0)
		return UM_REFUSAL_NONE;
	form->bytes = at = malloc(text.len);
	form->bytes_len = text.len;
	if (at == NULL)
		return UM_REFUSAL_MALFORMED_PARAMETERS;

	while (text.len != 0) {
		struct um_str value = um_str_cut(&text, "&");
		struct um_str name = um_str_cut(&value, "=");
		struct um_field field = { 0 };
		enum um_refusal refusal;

		if (name.len == 0 && value.len == 0)
			continue;
		if (form->len == UM_FORM_FIELDS_MAX)
			return UM_REFUSAL_PARAMETERS_TOO_LARGE;
		if (!decode(&field.name, &at, name))
			field.name.ptr = NULL;
		if (!decode(&field.value, &at, value))
			field.value.ptr = NULL;
		if ((refusal = add(form, field, value_max)))
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

struct um_str
um_form_get(const struct um_form *form, const char *name)
{
	const struct um_field *field = um_form_field(form, name);

	return field != NULL && !field->unreadable ? field->value
						   : um_str(NULL);
}

void
um_form_free(struct um_form *form)
{
	um_wipe_free(form->bytes, form->bytes_len);
	*form = (struct um_form){ 0 };
}
