/* SPDX-License-Identifier: MIT */
#include "webhook/amount.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Currencies whose minor unit does not have two digits (ISO 4217, list one).
 * lib/currencies.json has them all; a test compares. They are sorted.
 */
static const struct exponent {
	char currency[4];
	unsigned exponent;
} exponents[UM_AMOUNT_EXCEPTIONS] = {
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

static int
compare(const void *currency, const void *row)
{
	const struct exponent *exponent = row;

	return strcmp(currency, exponent->currency);
}

unsigned
um_amount_exponent(const char *currency)
{
	const struct exponent *found = bsearch(currency, exponents,
		UM_AMOUNT_EXCEPTIONS, sizeof(exponents[0]), compare);

	return found != NULL ? found->exponent : 2;
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

/* False: there is a rest, or it does not fit. */
static bool
rescale(int64_t *amount, unsigned from, unsigned to)
{
	for (; from < to; from++)
		if (!append_digit(amount, '0'))
			return false;
	for (; from > to; from--) {
		if (*amount % 10 != 0)
			return false;
		*amount /= 10;
	}
	return true;
}

static bool
parse_digits(int64_t *out, struct um_str text)
{
	*out = 0;
	for (size_t i = 0; i < text.len; i++)
		if (!append_digit(out, text.ptr[i]))
			return false;
	return text.len != 0;
}

static unsigned
own_exponent(const struct um_amount_units *units, const char *currency)
{
	for (size_t i = 0; i < units->own_len; i++)
		if (strcmp(units->own[i].currency, currency) == 0)
			return units->own[i].exponent;
	return um_amount_exponent(currency);
}

/* "10.00" is ten yen, "10.50" is refused. */
static bool
parse_decimal(int64_t *out, struct um_str text, unsigned places)
{
	const char *point = text.len != 0 ? memchr(text.ptr, '.', text.len)
					  : NULL;
	size_t whole = point != NULL ? (size_t)(point - text.ptr) : text.len;

	if (whole + 1 == text.len
		|| !parse_digits(out, (struct um_str){ text.ptr, whole }))
		return false;
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
	return rescale(out, 0, places);
}

bool
um_amount_parse(int64_t *out, struct um_str text,
	const struct um_amount_units *units, const char *currency)
{
	unsigned places = um_amount_exponent(currency);

	if (units->form == UM_AMOUNT_DECIMAL)
		return parse_decimal(out, text, places);
	return parse_digits(out, text)
		&& rescale(out, own_exponent(units, currency), places);
}

void
um_amount_format(char out[static UM_AMOUNT_LEN + 1], int64_t amount,
	const char *currency)
{
	unsigned places = um_amount_exponent(currency);
	int64_t unit = 1;

	for (unsigned i = 0; i < places; i++)
		unit *= 10;
	if (places == 0)
		snprintf(out, UM_AMOUNT_LEN + 1, "%" PRId64, amount);
	else
		snprintf(out, UM_AMOUNT_LEN + 1, "%" PRId64 ".%0*" PRId64,
			amount / unit, (int)places, amount % unit);
}
