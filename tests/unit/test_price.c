/* SPDX-License-Identifier: MIT */
/* Amounts as each provider writes them; the packages have the same cases. */
#include "api/price.h"

#include <string.h>

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
		{ "XXX", NULL },
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

TEST(amounts)
{
	static const struct {
		const char *provider;
		int64_t amount;
		const char *currency, *json;
		enum um_price price;
	} cases[] = {
		{ "stripe", 1050, "EUR", "1050", UM_PRICE_WRITTEN },
		{ "stripe", 1050, "JPY", "1050", UM_PRICE_WRITTEN },
		{ "stripe", 5, "UGX", "500", UM_PRICE_WRITTEN },
		{ "stripe", 10, "KWD", "10", UM_PRICE_WRITTEN },
		{ "stripe", 11, "KWD", "", UM_PRICE_TOO_FINE },
		{ "stripe", INT64_C(90071992547410), "ISK", "9007199254741000",
			UM_PRICE_TOO_LARGE },
		{ "paypal", 1050, "EUR", "\"10.50\"", UM_PRICE_WRITTEN },
		{ "paypal", 5, "EUR", "\"0.05\"", UM_PRICE_WRITTEN },
		{ "paypal", 1000, "HUF", "\"10\"", UM_PRICE_WRITTEN },
		{ "paypal", 1050, "HUF", "", UM_PRICE_TOO_FINE },
		{ "paypal", 1050, "JPY", "\"1050\"", UM_PRICE_WRITTEN },
		{ "adyen", 300, "CLP", "30000", UM_PRICE_WRITTEN },
		{ "github", 1, "EUR", "", UM_PRICE_UNKNOWN },
		{ "nobody", 1, "EUR", "", UM_PRICE_UNKNOWN },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf json = { 0 };
		int64_t step = 1;
		enum um_price price = um_price_put(&json,
			um_str(cases[i].provider), cases[i].amount,
			cases[i].currency, &step);

		row_begin("%s %lld %s", cases[i].provider,
			(long long)cases[i].amount, cases[i].currency);
		assert_int_equal(price, cases[i].price);
		if (price == UM_PRICE_WRITTEN)
			assert_str(um_buf_str(&json), cases[i].json);
		um_buf_free(&json);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(currencies),
		cmocka_unit_test(amounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
