/* SPDX-License-Identifier: MIT */
/* What the addresses of the lists say: filters, and where a list goes on. */
#ifndef UM_CONSOLE_FILTERS_H
#define UM_CONSOLE_FILTERS_H

#include "app/exchange.h"

#define UM_CONSOLE_FILTER_MAX 255 /* bytes of a name */

struct um_filters {
	struct um_str what, provider, tenant, since, until;
	int64_t since_us, until_us; /* where the texts are not empty */
	struct um_buf after; /* where the list goes on; empty: at its begin */
};

/*
 * Reads them from ex->form. Refused: a field that is not known, a list or a day that is
 * none, a cursor that was changed or is of other filters. The caller frees `after` in
 * every case.
 */
enum um_refusal um_filters_read(struct um_filters *filters,
	const struct um_context *context, const struct um_exchange *ex);

/*
 * Appends the address of the list with these filters, that goes on after the row with
 * this cursor if there is one. False: OpenSSL failed.
 */
bool um_filters_put(struct um_buf *out, const struct um_context *context,
	const struct um_filters *filters, struct um_str cursor);

/* All fields of the form are of this list, which NULL ends; or `signin`. */
bool um_fields_are(const struct um_form *form, const char *const *names);

#endif
