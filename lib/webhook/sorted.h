/* SPDX-License-Identifier: MIT */
/* The fields of a query or form, sorted by name and joined, as some sign them. */
#ifndef UM_SORTED_H
#define UM_SORTED_H

#include <stdbool.h>

#include "core/str.h"
#include "core/strlist.h"
#include "http/form.h"

struct um_sorted {
	char *equals, *separator;
	bool as_sent; /* not decoded */
};

/*
 * Appends the fields of the form, which was parsed from `raw`, but for those
 * that `without` names. Sets *is_ambiguous if a name or value has a separator in
 * it; otherwise it stays. False if there is no field.
 */
bool um_sorted_join(const struct um_sorted *how,
	const struct um_strlist *without, const struct um_form *form,
	struct um_str raw, struct um_buf *out, bool *is_ambiguous);

#endif
