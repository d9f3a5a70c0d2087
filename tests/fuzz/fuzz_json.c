/* SPDX-License-Identifier: MIT */
/* A pointer, and the document that it points into. */
#include "fuzz.h"

#include "json.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str text = fuzz_line(&rest);
	struct um_str body = fuzz_rest(&rest);
	json_t *document = um_json_parse(body);
	struct um_pointer pointer;
	struct um_buf out = { 0 };

	HOLDS(document == NULL || json_is_object(document)
		|| json_is_array(document));
	if (um_pointer_compile(&pointer, text.ptr)) {
		const json_t *node = um_pointer_find(&pointer, document);

		HOLDS(pointer.len <= UM_POINTER_TOKENS_MAX);
		HOLDS(pointer.len != 0 || node == document);
		if (um_json_text(node, &out))
			HOLDS(um_str_is_text(um_buf_str(&out)));
		else
			HOLDS(out.len == 0);
	}
	um_pointer_free(&pointer);
	um_buf_free(&out);
	json_decref(document);
	fuzz_free(text);
	fuzz_free(body);
	return 0;
}
