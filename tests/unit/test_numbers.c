/* SPDX-License-Identifier: MIT */
/* What is written as text: times, amounts, digits, named parts. */
#include <stdio.h>
#include <string.h>

#include "core/hex.h"
#include "core/timestamp.h"
#include "support.h"
#include "webhook/amount.h"
#include "webhook/scheme.h"

TEST(times)
{
	static const struct {
		enum um_timestamp_form form;
		const char *text;
		int64_t ms; /* -1: refused */
	} cases[] = {
		{ UM_TIMESTAMP_UNIX, "0", 0 },
		{ UM_TIMESTAMP_UNIX, "1700000000", 1700000000000 },
		{ UM_TIMESTAMP_UNIX, "01700000000", 1700000000000 },
		{ UM_TIMESTAMP_UNIX, "999999999999999", 999999999999999000 },
		{ UM_TIMESTAMP_UNIX, "1000000000000000", -1 },
		{ UM_TIMESTAMP_UNIX, "", -1 },
		{ UM_TIMESTAMP_UNIX, "-1", -1 },
		{ UM_TIMESTAMP_UNIX, "+1", -1 },
		{ UM_TIMESTAMP_UNIX, " 1", -1 },
		{ UM_TIMESTAMP_UNIX, "1 ", -1 },
		{ UM_TIMESTAMP_UNIX, "1.0", -1 },
		{ UM_TIMESTAMP_UNIX, "1e9", -1 },
		{ UM_TIMESTAMP_UNIX, "0x10", -1 },
		{ UM_TIMESTAMP_UNIX, "1700000000, 1700000000", -1 },
		{ UM_TIMESTAMP_UNIX_MS, "1700000000123", 1700000000123 },
		{ UM_TIMESTAMP_UNIX_MS, "1700000000123x", -1 },
		{ UM_TIMESTAMP_RFC3339, "1970-01-01T00:00:00Z", 0 },
		{ UM_TIMESTAMP_RFC3339, "2016-02-18T20:01:35Z", 1455825695000 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T22:13:20Z", 1700000000000 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T23:13:20+01:00",
			1700000000000 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T16:43:20-05:30",
			1700000000000 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T22:13:20.1Z",
			1700000000100 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T22:13:20.123456789Z",
			1700000000123 },
		{ UM_TIMESTAMP_RFC3339, "2000-02-29T00:00:00Z", 951782400000 },
		{ UM_TIMESTAMP_RFC3339, "2000-03-01T00:00:00Z", 951868800000 },
		{ UM_TIMESTAMP_RFC3339, "2100-02-28T23:59:59Z", 4107542399000 },
		{ UM_TIMESTAMP_RFC3339, "2100-02-29T00:00:00Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-02-29T00:00:00Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-13-01T00:00:00Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-00-01T00:00:00Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-01-00T00:00:00Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-04-31T00:00:00Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T24:00:00Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T00:60:00Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2016-12-31T23:59:60Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T22:13:20", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14t22:13:20z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14 22:13:20Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T22:13:20.Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T22:13:20+0100", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T22:13:20+24:00", -1 },
		{ UM_TIMESTAMP_RFC3339, "2023-11-14T22:13:20ZZ", -1 },
		{ UM_TIMESTAMP_RFC3339, "23-11-14T22:13:20Z", -1 },
		{ UM_TIMESTAMP_RFC3339, "", -1 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		int64_t ms;
		bool ok = um_timestamp_parse(&ms, um_str(cases[i].text),
			cases[i].form);

		assert_row(cases[i].text, ok == (cases[i].ms >= 0));
		if (ok)
			assert_row(cases[i].text, ms == cases[i].ms);
	}
}

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

TEST(hex)
{
	static const struct {
		const char *text;
		const char *back; /* NULL: refused */
	} cases[] = {
		{ "", "" },
		{ "00ff7f", "00ff7f" },
		{ "00FF7F", "00ff7f" },
		{ "0123456789abcdef", "0123456789abcdef" },
		{ "00Ff", NULL },
		{ "aB", NULL },
		{ "0", NULL },
		{ "0g", NULL },
		{ "0x", NULL },
		{ " 0", NULL },
		{ "0123456789abcdef01", NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		uint8_t bytes[8];
		char back[17];
		size_t len;
		bool ok = um_hex_decode(bytes, sizeof(bytes), &len,
			um_str(cases[i].text));

		row_begin("%s", cases[i].text);
		assert_row(cases[i].text, ok == (cases[i].back != NULL));
		if (!ok)
			continue;
		um_hex_encode(back, bytes, len);
		assert_string_equal(back, cases[i].back);
	}
}

/* The params as `name=value;`, put together again. */
static void
assert_pairs(const char *text, const char *between, const char *equals,
	const char *expected)
{
	struct um_buf out = { 0 };
	struct um_params params;
	bool ok = um_scheme_split_params(&params, um_str(text), between,
		equals);

	assert_row(text, ok == (expected != NULL));
	for (size_t i = 0; ok && i < params.len; i++)
		um_buf_printf(&out, "%.*s=%.*s;", (int)params.param[i].name.len,
			params.param[i].name.ptr,
			(int)params.param[i].value.len,
			params.param[i].value.ptr);
	if (ok)
		assert_str(um_buf_str(&out), expected);
	um_buf_free(&out);
}

TEST(named_parts)
{
	assert_pairs("t=1,v1=a,v1=b,v0=c", ",", "=", "t=1;v1=a;v1=b;v0=c;");
	assert_pairs("t=1, v1=a", ",", "=", "t=1;v1=a;");
	assert_pairs(" t=1 ,\tv1=a\t", ",", "=", "t=1;v1=a;");
	assert_pairs("ts=1;h1=a", ";", "=", "ts=1;h1=a;");
	assert_pairs("v1,a= v1a,b==", " ", ",", "v1=a=;v1a=b==;");
	assert_pairs("v1=a=b", ",", "=", "v1=a=b;");
	assert_pairs("v1=", ",", "=", "v1=;");
	assert_pairs("a::1||b::2", "||", "::", "a=1;b=2;");
	assert_pairs("", ",", "=", NULL);
	assert_pairs("t", ",", "=", NULL);
	assert_pairs("t=1,", ",", "=", NULL);
	assert_pairs("t=1,,v1=a", ",", "=", NULL);
	assert_pairs(",t=1", ",", "=", NULL);
	assert_pairs("=1", ",", "=", NULL);
	assert_pairs("v1,a  v1,b", " ", ",", NULL);
}

TEST(as_many_named_parts_as_the_limit)
{
	for (size_t more = 0; more < 2; more++) {
		struct um_buf text = { 0 };
		struct um_params params;

		for (size_t i = 0; i < UM_PARAMS_MAX + more; i++)
			um_buf_printf(&text, "%sa=%zu", i != 0 ? "," : "", i);
		assert_int_equal(um_scheme_split_params(&params,
					 um_buf_str(&text), ",", "="),
			more == 0);
		um_buf_free(&text);
	}
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
		cmocka_unit_test(times),
		cmocka_unit_test(amounts),
		cmocka_unit_test(amounts_as_decimals),
		cmocka_unit_test(currencies),
		cmocka_unit_test(hex),
		cmocka_unit_test(named_parts),
		cmocka_unit_test(as_many_named_parts_as_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
