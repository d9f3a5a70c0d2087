/* SPDX-License-Identifier: MIT */
/* Amounts as each provider writes them; the packages read the same vectors. */
#include "api/price.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "support.h"

TEST(currencies)
{
	static const struct {
		const char *text, *currency;
	} cases[] = {
		{ "EUR", "EUR" },
		{ "eur", "EUR" },
		{ "jPy", "JPY" },
		{ "KWD", "KWD" },
		{ "XTS", NULL },
		{ "EU", NULL },
		{ "EURO", NULL },
		{ "E1R", NULL },
		{ "R2E", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char currency[4] = "";
		bool good = um_price_currency(currency, um_str(cases[i].text));

		assert_row(cases[i].text, good == (cases[i].currency != NULL));
		if (good)
			assert_string_equal(currency, cases[i].currency);
	}
}

static enum um_price
price_in(const json_t *one)
{
	if (json_object_get(one, "step") != NULL)
		return UM_PRICE_TOO_FINE;
	if (json_object_get(one, "too_large") != NULL)
		return UM_PRICE_TOO_LARGE;
	return json_is_null(json_object_get(one, "written")) ? UM_PRICE_UNKNOWN
							     : UM_PRICE_WRITTEN;
}

TEST(amounts_are_those_of_the_vectors)
{
	json_t *all = json_load_file("tests/vectors/amounts.json", 0, NULL);
	const json_t *cases = json_object_get(all, "cases");

	assert_true(json_array_size(cases) >= 40);
	for (size_t i = 0; i < json_array_size(cases); i++) {
		const json_t *one = json_array_get(cases, i);
		const char *provider = vector_text(one, "provider");
		const char *currency = vector_text(one, "currency");
		int64_t amount = json_integer_value(
			json_object_get(one, "amount"));
		struct um_buf json = { 0 };
		int64_t step = 1;
		enum um_price price = um_price_put(&json, um_str(provider),
			amount, currency, &step);

		row_begin("%s %lld %s", provider, (long long)amount, currency);
		assert_int_equal(price, price_in(one));
		if (price == UM_PRICE_WRITTEN) {
			char *written = json_dumps(json_object_get(one,
							   "written"),
				JSON_ENCODE_ANY);

			assert_str(um_buf_str(&json), written);
			free(written);
		} else if (price == UM_PRICE_TOO_FINE) {
			assert_int_equal(step,
				json_integer_value(
					json_object_get(one, "step")));
		}
		um_buf_free(&json);
	}
	json_decref(all);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(currencies),
		cmocka_unit_test(amounts_are_those_of_the_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
