/* SPDX-License-Identifier: MIT */
/* Amounts of money, in the minor unit of their currency (ISO 4217). */
#ifndef UM_AMOUNT_H
#define UM_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

enum um_amount_form {
	UM_AMOUNT_MINOR,   /* "1050": only digits */
	UM_AMOUNT_DECIMAL, /* "10.50": digits, optionally a point and digits */
};

/* Reads three letters, as upper case. False for anything else. */
bool um_amount_parse_currency(char out[static 4], struct um_str text);

/*
 * Reads an amount in minor units, from 0 to INT64_MAX. False for anything else,
 * and for a decimal that is finer than the currency's minor unit.
 */
bool um_amount_parse(int64_t *out, struct um_str text, enum um_amount_form form,
	const char *currency);

#define UM_AMOUNT_LEN 24 /* characters of the longest */

/*
 * Writes an amount of minor units, not negative, as a decimal: "10.50" for 1050
 * of EUR, "1050" of JPY.
 */
void um_amount_format(char out[static UM_AMOUNT_LEN + 1], int64_t amount,
	const char *currency);

#endif
