/* SPDX-License-Identifier: MIT */
/* Amounts of money, in the minor unit of their currency (ISO 4217). */
#ifndef UM_AMOUNT_H
#define UM_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

enum um_amount_form {
	UM_AMOUNT_MINOR,   /* "1050": only digits */
	UM_AMOUNT_DECIMAL, /* "10.50": digits, optionally a point and digits */
};

/* Reads three letters, as upper case. False for anything else. */
bool um_amount_parse_currency(char out[static 4], struct um_str text);

#define UM_AMOUNT_EXCEPTIONS 26 /* currencies without two decimals */
#define UM_EXPONENT_MAX 4       /* of all currencies of ISO 4217 */
#define UM_AMOUNT_OWN_MAX 32    /* currencies with an exponent of their own */

/*
 * How a provider writes amounts. In UM_AMOUNT_MINOR, the integer of a currency
 * of `own` has this exponent in place of the one of ISO 4217.
 */
struct um_amount_units {
	enum um_amount_form form;
	struct {
		char currency[4];
		unsigned exponent;
	} own[UM_AMOUNT_OWN_MAX];
	size_t own_len;
};

/* How many decimals the currency has in ISO 4217. 2 for one that is not known. */
unsigned um_amount_exponent(const char *currency);

/*
 * Reads an amount, from 0 to INT64_MAX, in the minor units of ISO 4217. False
 * for anything else, and for one that is finer than the minor unit.
 */
bool um_amount_parse(int64_t *out, struct um_str text,
	const struct um_amount_units *units, const char *currency);

#define UM_AMOUNT_LEN 24 /* characters of the longest */

/*
 * Writes an amount of minor units, not negative, as a decimal: "10.50" for 1050
 * of EUR, "1050" of JPY.
 */
void um_amount_format(char out[static UM_AMOUNT_LEN + 1], int64_t amount,
	const char *currency);

#endif
