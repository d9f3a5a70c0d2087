/* SPDX-License-Identifier: MIT */
#include "api/price.h"

#include <stdio.h>
#include <string.h>

#include "contract/descriptions.h"
#include "contract/limits.h"
#include "webhook/amount.h"

#define CELL 4 /* a currency and a digit */

static const struct um_description descriptions[] = {
#define X(name, payment, signature, checkout, as, exponents, places)           \
	{ name, payment, signature, checkout, as, exponents, places },
	UM_DESCRIPTIONS(X)
#undef X
};

const struct um_description *
um_description_find(struct um_str name)
{
	for (size_t i = 0; i < sizeof(descriptions) / sizeof(descriptions[0]);
		i++)
		if (um_str_is(name, descriptions[i].name))
			return &descriptions[i];
	return NULL;
}

/* The digit of a currency in a text of such cells, or `otherwise`. */
static unsigned
digit_of(const char *cells, const char *currency, unsigned otherwise)
{
	for (; cells[0] != '\0'; cells += CELL)
		if (strncmp(cells, currency, CELL - 1) == 0)
			return (unsigned)(cells[CELL - 1] - '0');
	return otherwise;
}

bool
um_price_currency(char out[static 4], struct um_str text)
{
	return um_amount_parse_currency(out, text)
		&& digit_of(UM_CURRENCIES, out, 10) != 10;
}

static int64_t
power_of_ten(unsigned exponent)
{
	int64_t power = 1;

	while (exponent-- != 0)
		power *= 10;
	return power;
}

static void
put_decimal(struct um_buf *json, int64_t amount, unsigned places)
{
	int64_t unit = power_of_ten(places);

	um_buf_printf(json, "\"%lld", (long long)(amount / unit));
	if (places != 0)
		um_buf_printf(json, ".%0*lld", (int)places,
			(long long)(amount % unit));
	um_buf_puts(json, "\"");
}

enum um_price
um_price_put(struct um_buf *json, struct um_str provider, int64_t amount,
	const char currency[static 4], int64_t *step)
{
	const struct um_description *its = um_description_find(provider);
	unsigned exponent, own, places;

	if (its == NULL || its->as[0] == '\0')
		return UM_PRICE_UNKNOWN;
	exponent = digit_of(UM_CURRENCIES, currency, 2);
	own = digit_of(its->exponents, currency, exponent);
	places = digit_of(its->places, currency, own);
	if (places > exponent)
		places = exponent;
	*step = power_of_ten(exponent - places);
	if (amount % *step != 0)
		return UM_PRICE_TOO_FINE;
	/* As the packages: in the provider's units, then in its places. */
	if (own >= exponent) {
		if (amount > UM_SAFE_INTEGER / power_of_ten(own - exponent))
			return UM_PRICE_TOO_LARGE;
		amount *= power_of_ten(own - exponent);
	} else {
		amount /= power_of_ten(exponent - own);
	}
	if (strcmp(its->as, "decimal") == 0)
		put_decimal(json, amount / *step, places);
	else if (amount > UM_SAFE_INTEGER)
		return UM_PRICE_TOO_LARGE;
	else
		um_buf_printf(json, "%lld", (long long)amount);
	return UM_PRICE_WRITTEN;
}
