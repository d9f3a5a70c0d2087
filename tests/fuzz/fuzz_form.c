/* SPDX-License-Identifier: MIT */
/* A query or form in the first line, a Cookie header in the second. */
#include "fuzz.h"
#include "http/header.h"

#include "http/form.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str text = fuzz_line(&rest);
	struct um_str header = fuzz_rest(&rest);
	struct um_form form;
	struct um_str value = um_cookie_get(header, "c");

	if (um_form_parse(&form, text) == UM_REFUSAL_NONE) {
		for (size_t i = 0; i < form.len; i++) {
			HOLDS(um_str_is_text(form.field[i].name));
			HOLDS(um_str_is_text(form.field[i].value));
			for (size_t j = 0; j < i; j++)
				HOLDS(!um_str_eq(form.field[i].name,
					form.field[j].name));
		}
	}
	um_form_free(&form);
	HOLDS(value.ptr == NULL
		|| (value.ptr >= header.ptr
			&& value.ptr + value.len <= header.ptr + header.len));
	fuzz_free(text);
	fuzz_free(header);
	return 0;
}
