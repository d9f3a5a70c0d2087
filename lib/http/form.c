/* SPDX-License-Identifier: MIT */
#include "http/form.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/hex.h"

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

enum um_refusal
um_form_parse(struct um_form *form, struct um_str text)
{
	return um_form_parse_max(form, text, UM_FORM_VALUE_MAX);
}

enum um_refusal
um_form_parse_max(struct um_form *form, struct um_str text, size_t value_max)
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
		struct um_field field;

		if (name.len == 0 && value.len == 0)
			continue;
		if (!decode(&field.name, &at, name)
			|| !decode(&field.value, &at, value))
			return UM_REFUSAL_MALFORMED_PARAMETERS;
		if (field.name.len > UM_FORM_NAME_MAX
			|| field.value.len > value_max
			|| form->len == UM_FORM_FIELDS_MAX)
			return UM_REFUSAL_PARAMETERS_TOO_LARGE;
		for (size_t i = 0; i < form->len; i++)
			if (um_str_eq(form->field[i].name, field.name))
				return UM_REFUSAL_DUPLICATE_PARAMETER;
		form->field[form->len++] = field;
	}
	return UM_REFUSAL_NONE;
}

struct um_str
um_form_get(const struct um_form *form, const char *name)
{
	for (size_t i = 0; i < form->len; i++)
		if (um_str_is(form->field[i].name, name))
			return form->field[i].value;
	return um_str(NULL);
}

void
um_form_free(struct um_form *form)
{
	um_wipe_free(form->bytes, form->bytes_len);
	*form = (struct um_form){ 0 };
}
