/* SPDX-License-Identifier: MIT */
#include "webhook/amount.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Currencies whose minor unit does not have two digits (ISO 4217, list one). */
static const struct {
	char currency[4];
	unsigned exponent;
} exponents[] = {
	{ "BHD", 3 },
	{ "BIF", 0 },
	{ "CLF", 4 },
	{ "CLP", 0 },
	{ "DJF", 0 },
	{ "GNF", 0 },
	{ "IQD", 3 },
	{ "ISK", 0 },
	{ "JOD", 3 },
	{ "JPY", 0 },
	{ "KMF", 0 },
	{ "KRW", 0 },
	{ "KWD", 3 },
	{ "LYD", 3 },
	{ "OMR", 3 },
	{ "PYG", 0 },
	{ "RWF", 0 },
	{ "TND", 3 },
	{ "UGX", 0 },
	{ "UYI", 0 },
	{ "UYW", 4 },
	{ "VND", 0 },
	{ "VUV", 0 },
	{ "XAF", 0 },
	{ "XOF", 0 },
	{ "XPF", 0 },
};

static unsigned
exponent_of(const char *currency)
{
	for (size_t i = 0; i < sizeof(exponents) / sizeof(exponents[0]); i++)
		if (strcmp(exponents[i].currency, currency) == 0)
			return exponents[i].exponent;
	return 2;
}

bool
um_amount_parse_currency(char out[static 4], struct um_str text)
{
	if (text.len != 3)
		return false;
	for (size_t i = 0; i < 3; i++) {
		char c = text.ptr[i];

		if (c >= 'a' && c <= 'z')
			c = (char)(c - 'a' + 'A');
		if (c < 'A' || c > 'Z')
			return false;
		out[i] = c;
	}
	out[3] = '\0';
	return true;
}

static bool
append_digit(int64_t *amount, char c)
{
	int64_t digit = c - '0';

	if (digit < 0 || digit > 9 || *amount > (INT64_MAX - digit) / 10)
		return false;
	*amount = *amount * 10 + digit;
	return true;
}

bool
um_amount_parse(int64_t *out, struct um_str text, enum um_amount_form form,
	const char *currency)
{
	const char *point = text.len != 0 && form == UM_AMOUNT_DECIMAL
		? memchr(text.ptr, '.', text.len)
		: NULL;
	size_t whole = point != NULL ? (size_t)(point - text.ptr) : text.len;
	unsigned places = form == UM_AMOUNT_DECIMAL ? exponent_of(currency) : 0;

	*out = 0;
	if (whole == 0 || whole + 1 == text.len)
		return false;
	for (size_t i = 0; i < whole; i++)
		if (!append_digit(out, text.ptr[i]))
			return false;
	/* "10.00" is ten yen, "10.50" is refused. */
	for (size_t i = whole + 1; i < text.len; i++) {
		if (places == 0) {
			if (text.ptr[i] != '0')
				return false;
			continue;
		}
		if (!append_digit(out, text.ptr[i]))
			return false;
		places--;
	}
	for (; places != 0; places--)
		if (!append_digit(out, '0'))
			return false;
	return true;
}

void
um_amount_format(char out[static UM_AMOUNT_LEN + 1], int64_t amount,
	const char *currency)
{
	unsigned places = exponent_of(currency);
	int64_t unit = 1;

	for (unsigned i = 0; i < places; i++)
		unit *= 10;
	if (places == 0)
		snprintf(out, UM_AMOUNT_LEN + 1, "%" PRId64, amount);
	else
		snprintf(out, UM_AMOUNT_LEN + 1, "%" PRId64 ".%0*" PRId64,
			amount / unit, (int)places, amount % unit);
}
