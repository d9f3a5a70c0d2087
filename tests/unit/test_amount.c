/* SPDX-License-Identifier: MIT */
/* Amounts of money and their currencies. */
#include <jansson.h>

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
			&(struct um_amount_units){ .form = UM_AMOUNT_DECIMAL },
			cases[i].currency);

		assert_row(cases[i].text, ok == (cases[i].decimal >= 0));
		if (ok)
			assert_row(cases[i].text, amount == cases[i].decimal);
		ok = um_amount_parse(&amount, um_str(cases[i].text),
			&(struct um_amount_units){ .form = UM_AMOUNT_MINOR },
			cases[i].currency);
		assert_row(cases[i].text, ok == (cases[i].minor >= 0));
		if (ok)
			assert_row(cases[i].text, amount == cases[i].minor);
	}
}

/* As Stripe and Adyen write them. */
TEST(amounts_in_units_of_their_own)
{
	static const struct um_amount_units units = {
		.form = UM_AMOUNT_MINOR,
		.own = { { "ISK", 2 }, { "MGA", 0 }, { "KWD", 2 } },
		.own_len = 3,
	};
	static const struct {
		const char *text, *currency;
		int64_t amount; /* -1: refused */
	} cases[] = {
		{ "500", "ISK", 5 },
		{ "0", "ISK", 0 },
		{ "550", "ISK", -1 },
		{ "5", "ISK", -1 },
		{ "50000", "MGA", 5000000 },
		{ "92233720368547758", "MGA", 9223372036854775800 },
		{ "92233720368547759", "MGA", -1 },
		{ "125", "KWD", 1250 },
		{ "1050", "EUR", 1050 },
		{ "", "ISK", -1 },
		{ "5.00", "ISK", -1 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		int64_t amount;
		bool ok = um_amount_parse(&amount, um_str(cases[i].text),
			&units, cases[i].currency);

		row_begin("%s %s", cases[i].text, cases[i].currency);
		assert_int_equal(ok, cases[i].amount >= 0);
		if (ok)
			assert_int_equal(amount, cases[i].amount);
	}
}

/* Both ways: the file has each code of the table, with this exponent. */
TEST(exponents_are_those_of_the_file)
{
	json_t *file = json_load_file("lib/currencies.json", 0, NULL);
	json_t *exponents = json_object_get(file, "exponents");
	const char *exponent;
	json_t *codes, *code;
	size_t i, others = 0;

	assert_non_null(exponents);
	json_object_foreach (exponents, exponent, codes) {
		json_array_foreach (codes, i, code) {
			row_begin("%s", json_string_value(code));
			assert_int_equal(um_amount_exponent(
						 json_string_value(code)),
				exponent[0] - '0');
			others += exponent[0] != '2';
		}
	}
	assert_int_equal(others, UM_AMOUNT_EXCEPTIONS);
	json_decref(file);
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
		{ 5, "ISK", "5" },
		{ 5000000, "MGA", "50000.00" },
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
		cmocka_unit_test(amounts_in_units_of_their_own),
		cmocka_unit_test(exponents_are_those_of_the_file),
		cmocka_unit_test(currencies),
		cmocka_unit_test(amounts_as_decimals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
