/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "fuzz.h"
#include "webhook/amount.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const currencies[] = { "EUR", "JPY", "KWD", "CLF" };
	static const struct um_amount_units decimal = {
		.form = UM_AMOUNT_DECIMAL
	};
	static const struct um_amount_units minor = {
		.form = UM_AMOUNT_MINOR,
		.own = { { "EUR", 0 }, { "JPY", 2 }, { "CLF", 2 } },
		.own_len = 3,
	};
	struct um_str rest = { (const char *)data, size };
	struct um_str text = fuzz_rest(&rest);
	int64_t amount;
	char currency[4];

	for (size_t i = 0; i < 4; i++) {
		if (um_amount_parse(&amount, text, &decimal, currencies[i]))
			HOLDS(amount >= 0);
		if (um_amount_parse(&amount, text, &minor, currencies[i]))
			HOLDS(amount >= 0);
	}
	if (um_amount_parse_currency(currency, text))
		HOLDS(strlen(currency) == 3);
	fuzz_free(text);
	return 0;
}
