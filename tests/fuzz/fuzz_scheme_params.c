/* SPDX-License-Identifier: MIT */
/* The header parsers: what stands between, what equals, and the header. */
#include "fuzz.h"

#include <string.h>

#include "webhook/scheme.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str between = fuzz_line(&rest);
	struct um_str equals = fuzz_line(&rest);
	struct um_str header = fuzz_rest(&rest);
	char t[] = "t", v1[] = "v1", *names[] = { t, v1 };
	const struct um_strlist order = { .item = names, .len = 2 };
	struct um_params params;

	/* A description's are never empty. */
	if (between.ptr[0] != '\0' && equals.ptr[0] != '\0'
		&& um_scheme_split_params(&params, header, between.ptr,
			equals.ptr)) {
		HOLDS(params.len > 0 && params.len <= UM_PARAMS_MAX);
		for (size_t i = 0; i < params.len; i++) {
			const struct um_field *pair = &params.param[i];

			HOLDS(pair->name.len != 0);
			HOLDS(pair->name.ptr >= header.ptr);
			HOLDS(pair->value.ptr + pair->value.len
				<= header.ptr + header.len);
			HOLDS(memmem(pair->name.ptr, pair->name.len, equals.ptr,
				      strlen(equals.ptr))
				== NULL);
		}
	}
	if (between.ptr[0] != '\0'
		&& um_scheme_name_params(&params, header, between.ptr,
			&order)) {
		HOLDS(params.len == order.len);
		for (size_t i = 0; i < params.len; i++) {
			HOLDS(params.param[i].value.len != 0);
			HOLDS(memmem(params.param[i].value.ptr,
				      params.param[i].value.len, between.ptr,
				      strlen(between.ptr))
				== NULL);
		}
	}
	fuzz_free(between);
	fuzz_free(equals);
	fuzz_free(header);
	return 0;
}
