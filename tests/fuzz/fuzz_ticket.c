/* SPDX-License-Identifier: MIT */
/* A session ticket: none that was not minted is good. */
#include "fuzz.h"

#include <string.h>

#include "crypto/ticket.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct um_keys *keys = fuzz_keys();
	struct um_str rest = { (const char *)data, size };
	struct um_str text = fuzz_rest(&rest);
	char subject[UM_SUBJECT_MAX + 1] = "untouched";

	HOLDS(!um_ticket_open(subject, text, keys, 0));
	HOLDS(strcmp(subject, "untouched") == 0);
	fuzz_free(text);
	return 0;
}
