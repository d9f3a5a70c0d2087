/* SPDX-License-Identifier: MIT */
/* A Content-Type, and the body after it. */
#include "fuzz.h"

#include "http/header.h"
#include "http/multipart.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str type = fuzz_line(&rest);
	struct um_str body = fuzz_rest(&rest);
	struct um_multipart multipart;

	if (um_multipart_parse(&multipart, type, body)) {
		HOLDS(um_media_type_is(type, "multipart/form-data"));
		for (size_t i = 0; i < multipart.len; i++) {
			const struct um_field *field = &multipart.field[i];

			HOLDS(field->name.len != 0);
			HOLDS(field->value.ptr >= body.ptr);
			HOLDS(field->value.ptr + field->value.len
				<= body.ptr + body.len);
			for (size_t j = 0; j < i; j++)
				HOLDS(!um_str_eq(field->name,
					multipart.field[j].name));
		}
	}
	fuzz_free(type);
	fuzz_free(body);
	return 0;
}
