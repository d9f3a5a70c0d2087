/* SPDX-License-Identifier: MIT */
/* Bytes as text: base64, hexadecimal digits, UUIDs. */
#include "fuzz.h"

#include <string.h>

#include "core/encode.h"
#include "core/uuid.h"

static void
try_codes(struct um_str text)
{
	uint8_t bytes[64];
	char back[2 * sizeof(bytes) + 1];
	size_t len;

	if (um_base64_decode(bytes, sizeof(bytes), &len, text))
		HOLDS(len <= sizeof(bytes));
	if (!um_hex_decode(bytes, sizeof(bytes), &len, text))
		return;
	HOLDS(2 * len == text.len);
	um_hex_encode(back, bytes, len);
	HOLDS(strncasecmp(back, text.ptr, text.len) == 0);
}

static void
try_uuid(struct um_str text)
{
	uint8_t id[UM_UUID_LEN];
	char back[UM_UUID_TEXT_LEN + 1];

	if (!um_uuid_parse(id, text))
		return;
	um_uuid_format(back, id);
	HOLDS(text.len == UM_UUID_TEXT_LEN);
	HOLDS(strncasecmp(back, text.ptr, text.len) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str text = fuzz_rest(&rest);

	try_codes(text);
	try_uuid(text);
	fuzz_free(text);
	return 0;
}
