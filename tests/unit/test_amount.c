/* SPDX-License-Identifier: MIT */
/* Amounts of money and their currencies. */
#include "support.h"
#include "webhook/amount.h"

TEST(amounts)
{
	static const struct {
		const char *text;
		const char *currency;
		int64_t decimal, minor; /* -1: refused */
	} cases[] = {
		{ "10.50", "EUR", 1050, -1 },
		{ "10.5", "EUR", 1050, -1 },
		{ "10", "EUR", 1000, 10 },
		{ "0", "EUR", 0, 0 },
		{ "0.01", "EUR", 1, -1 },
		{ "007", "EUR", 700, 7 },
		{ "10.500", "EUR", 1050, -1 },
		{ "10.505", "EUR", -1, -1 },
		{ "1050", "JPY", 1050, 1050 },
		{ "1050.00", "JPY", 1050, -1 },
		{ "1050.50", "JPY", -1, -1 },
		{ "1.234", "KWD", 1234, -1 },
		{ "1.2", "BHD", 1200, -1 },
		{ "1.2345", "CLF", 12345, -1 },
		{ "1.23", "XTS", 123, -1 },
		{ "92233720368547758.07", "USD", INT64_MAX, -1 },
		{ "92233720368547758.08", "USD", -1, -1 },
		{ "9223372036854775807", "USD", -1, INT64_MAX },
		{ "9223372036854775808", "USD", -1, -1 },
		{ "99999999999999999999999", "JPY", -1, -1 },
		{ "", "EUR", -1, -1 },
		{ ".", "EUR", -1, -1 },
		{ "10.", "EUR", -1, -1 },
		{ ".50", "EUR", -1, -1 },
		{ "-1", "EUR", -1, -1 },
		{ "+1", "EUR", -1, -1 },
		{ "1,5", "EUR", -1, -1 },
		{ "1.5.0", "EUR", -1, -1 },
		{ "1e3", "EUR", -1, -1 },
		{ " 1", "EUR", -1, -1 },
		{ "1 ", "EUR", -1, -1 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		int64_t amount;
		bool ok = um_amount_parse(&amount, um_str(cases[i].text),
			UM_AMOUNT_DECIMAL, cases[i].currency);

		assert_row(cases[i].text, ok == (cases[i].decimal >= 0));
		if (ok)
			assert_row(cases[i].text, amount == cases[i].decimal);
		ok = um_amount_parse(&amount, um_str(cases[i].text),
			UM_AMOUNT_MINOR, cases[i].currency);
		assert_row(cases[i].text, ok == (cases[i].minor >= 0));
		if (ok)
			assert_row(cases[i].text, amount == cases[i].minor);
	}
}

TEST(currencies)
{
	static const char *const bad[] = { "", "EU", "EURO", "E1R", "\xc3\xa9r",
		"E R", "eur " };
	char currency[4];

	assert_true(um_amount_parse_currency(currency, STR("eUr")));
	assert_string_equal(currency, "EUR");
	for (size_t i = 0; i < LENGTH(bad); i++)
		assert_row(bad[i],
			!um_amount_parse_currency(currency, um_str(bad[i])));
}

TEST(amounts_as_decimals)
{
	static const struct {
		int64_t amount;
		const char *currency, *expected;
	} cases[] = {
		{ 1050, "EUR", "10.50" },
		{ 5, "EUR", "0.05" },
		{ 0, "USD", "0.00" },
		{ 1050, "JPY", "1050" },
		{ 1050, "KWD", "1.050" },
		{ 1, "CLF", "0.0001" },
		{ INT64_MAX, "EUR", "92233720368547758.07" },
		{ INT64_MAX, "JPY", "9223372036854775807" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char text[UM_AMOUNT_LEN + 1];

		row_begin("%s", cases[i].expected);
		um_amount_format(text, cases[i].amount, cases[i].currency);
		assert_string_equal(text, cases[i].expected);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(amounts),
		cmocka_unit_test(currencies),
		cmocka_unit_test(amounts_as_decimals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
