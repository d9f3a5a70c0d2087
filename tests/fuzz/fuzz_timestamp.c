/* SPDX-License-Identifier: MIT */
#include "core/timestamp.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str text = fuzz_rest(&rest);
	int64_t ms;

	for (int form = UM_TIMESTAMP_UNIX; form <= UM_TIMESTAMP_RFC3339; form++)
		if (um_timestamp_parse(&ms, text, (enum um_timestamp_form)form))
			HOLDS(ms > -INT64_C(100000000000000));
	fuzz_free(text);
	return 0;
}
