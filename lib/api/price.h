/* SPDX-License-Identifier: MIT */
/*
 * Prices: the currencies of ISO 4217, and how the providers whose descriptions are
 * shipped write amounts.
 */
#ifndef UM_PRICE_H
#define UM_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

struct um_description {
	const char *name;
	bool payment, signature; /* kinds that its events can end */
	bool checkout;           /* its events name the checkout */
	const char *as;          /* "minor", "decimal"; "": no amounts */
	const char *exponents, *places;
};

/* The shipped description of this name, or NULL. */
const struct um_description *um_description_find(struct um_str name);

/* Copies a currency of ISO 4217 in upper case. False: it is none. */
bool um_price_currency(char out[static 4], struct um_str text);

enum um_price {
	UM_PRICE_WRITTEN,
	UM_PRICE_UNKNOWN,  /* the provider has no description with amounts */
	UM_PRICE_TOO_FINE, /* no charge can have it: not a multiple of *step */
	UM_PRICE_TOO_LARGE,
};

/*
 * Appends an amount of minor units, not negative, as JSON, as this provider writes
 * it: a whole number in its own units, or a string with a decimal.
 */
enum um_price um_price_put(struct um_buf *json, struct um_str provider,
	int64_t amount, const char currency[static 4], int64_t *step);

#endif
