/* SPDX-License-Identifier: MIT */
/* What a payment must match: `expected` of `create`. */
#ifndef UM_EXPECTED_H
#define UM_EXPECTED_H

#include <stdbool.h>

#include "api/reader.h"

/* JSON, empty if there is none; the caller frees both. */
struct um_expected {
	struct um_buf json;  /* as the row has it */
	struct um_buf price; /* the amount as the provider writes it */
};

/*
 * Reads `expected`, which a payment requires. `description`: the provider's. `subscription`: it must be the first
 * payment of one.
 */
void um_expected_read(struct um_expected *expected, struct um_reader *root,
	const char *description, bool subscription);

#endif
