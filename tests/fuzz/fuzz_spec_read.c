/* SPDX-License-Identifier: MIT */
/* From a body to events, by a description that uses all there is. */
#include "fuzz.h"

#include <string.h>

#include "webhook/spec.h"

static const char *
header(const char *name, void *arg)
{
	const struct um_str *line = arg;

	return strcmp(name, "x-line") == 0 ? line->ptr : NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str type = fuzz_line(&rest);
	struct um_str query = fuzz_line(&rest);
	struct um_str line = fuzz_line(&rest);
	struct um_str body = fuzz_rest(&rest);
	struct um_fault fault = { "" };
	const struct um_delivery delivery = { .query = query,
		.content_type = type,
		.body = body,
		.header = header,
		.arg = &line,
		.fault = &fault };
	struct um_event events[UM_EVENTS_MAX];
	size_t len;
	enum um_verdict verdict =
		um_spec_read(&fuzz_spec("tests/fuzz/spec_read.json")->webhook,
			&delivery, events, &len);

	HOLDS(verdict == UM_DELIVERY_GOOD || len == 0);
	HOLDS(len <= UM_EVENTS_MAX);
	/* The operator is told where it cannot be read. */
	HOLDS(verdict != UM_DELIVERY_MALFORMED || fault.text[0] == '/'
		|| strncmp(fault.text, "event ", 6) == 0);
	for (size_t i = 0; i < len; i++) {
		/* Nothing was signed. */
		HOLDS(events[i].effect == UM_EFFECT_RECHECK
			|| events[i].effect == UM_EFFECT_IGNORE);
		HOLDS(events[i].identity[0] != '\0');
		HOLDS(um_str_is_text(um_str(events[i].type)));
		HOLDS(um_str_is_text(um_str(events[i].reference)));
	}
	fuzz_free(type);
	fuzz_free(query);
	fuzz_free(line);
	fuzz_free(body);
	return 0;
}
