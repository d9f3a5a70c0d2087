/* SPDX-License-Identifier: MIT */
/* What is written in one line: times, amounts, base64, hex, UUIDs. */
#include "fuzz.h"

#include <string.h>

#include "core/base64.h"
#include "core/hex.h"
#include "core/timestamp.h"
#include "core/uuid.h"
#include "webhook/amount.h"

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
	static const char *const currencies[] = { "EUR", "JPY", "KWD", "CLF" };
	struct um_str rest = { (const char *)data, size };
	struct um_str text = fuzz_rest(&rest);
	int64_t number;
	char currency[4];

	for (int form = UM_TIMESTAMP_UNIX; form <= UM_TIMESTAMP_RFC3339; form++)
		if (um_timestamp_parse(&number, text,
			    (enum um_timestamp_form)form))
			HOLDS(number > -INT64_C(100000000000000));
	for (size_t i = 0; i < 4; i++) {
		if (um_amount_parse(&number, text, UM_AMOUNT_DECIMAL,
			    currencies[i]))
			HOLDS(number >= 0);
		if (um_amount_parse(&number, text, UM_AMOUNT_MINOR,
			    currencies[i]))
			HOLDS(number >= 0);
	}
	if (um_amount_parse_currency(currency, text))
		HOLDS(strlen(currency) == 3);
	try_codes(text);
	try_uuid(text);
	fuzz_free(text);
	return 0;
}
