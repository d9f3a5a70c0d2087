/* SPDX-License-Identifier: MIT */
/* The header Accept-Language. */
#include "fuzz.h"
#include "http/text.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str header = fuzz_rest(&rest);

	HOLDS(um_language_of(header) < UM_LANGUAGE_COUNT);
	fuzz_free(header);
	return 0;
}
