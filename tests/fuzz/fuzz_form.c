/* SPDX-License-Identifier: MIT */
/*
 * A query or form in the first line, a Cookie header in the second. What is taken
 * strictly is taken leniently, field by field.
 */
#include "fuzz.h"
#include "http/header.h"

#include "http/form.h"

/* Names are there once, and all that is shown is text. */
static void
check_fields(const struct um_form *form)
{
	for (size_t i = 0; i < form->len; i++) {
		const struct um_field *field = &form->field[i];

		HOLDS(um_str_is_text(field->name));
		HOLDS(um_str_is_text(field->value));
		HOLDS(field->name.len <= UM_FORM_NAME_MAX);
		HOLDS(field->value.len <= UM_FORM_VALUE_MAX);
		for (size_t j = 0; j < i; j++)
			HOLDS(!um_str_eq(field->name, form->field[j].name));
	}
}

static void
try_lenient(struct um_str text, const struct um_form *strict)
{
	struct um_form form;

	if (um_form_parse_lenient(&form, text) == UM_REFUSAL_NONE)
		check_fields(&form);
	else
		HOLDS(strict == NULL);
	HOLDS(strict == NULL || form.len == strict->len);
	for (size_t i = 0; strict != NULL && i < form.len; i++) {
		HOLDS(form.field[i].unreadable == UM_REFUSAL_NONE);
		HOLDS(um_str_eq(form.field[i].name, strict->field[i].name));
		HOLDS(um_str_eq(form.field[i].value, strict->field[i].value));
	}
	um_form_free(&form);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str text = fuzz_line(&rest);
	struct um_str header = fuzz_rest(&rest);
	struct um_form form;
	struct um_str value = um_cookie_get(header, "c");

	if (um_form_parse(&form, text) == UM_REFUSAL_NONE) {
		check_fields(&form);
		try_lenient(text, &form);
	} else {
		try_lenient(text, NULL);
	}
	um_form_free(&form);
	HOLDS(value.ptr == NULL
		|| (value.ptr >= header.ptr
			&& value.ptr + value.len <= header.ptr + header.len));
	fuzz_free(text);
	fuzz_free(header);
	return 0;
}
