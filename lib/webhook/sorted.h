/* SPDX-License-Identifier: MIT */
/* The fields of a query, sorted by name, as some providers sign them. */
#ifndef UM_SORTED_H
#define UM_SORTED_H

#include <stdbool.h>

#include "core/str.h"
#include "core/strlist.h"

/*
 * Appends the fields as they were sent, with their percent-encoding, as
 * `name=value&name=value`, but for those that `without` names. The query has
 * been parsed, and so has at most UM_FORM_FIELDS_MAX. False if none is left.
 */
bool um_sorted_put(struct um_buf *out, struct um_str query,
	const struct um_strlist *without);

#endif
