/* SPDX-License-Identifier: MIT */
/* Rows as CSV (RFC 4180), for a spreadsheet. */
#ifndef UM_CONSOLE_CSV_H
#define UM_CONSOLE_CSV_H

#include <stddef.h>

#include <jansson.h>

#include "console/lists.h"
#include "core/str.h"

/*
 * Appends a field in quotes. One that a spreadsheet could take for a formula gets an
 * apostrophe in front (OWASP, CSV Injection); a control character becomes a space,
 * and one that changes the direction of text U+FFFD.
 */
void um_csv_put_field(struct um_buf *out, struct um_str text);

/* The names of the columns, and at most `most` rows. */
void um_csv_put(struct um_buf *out, const struct um_console_list *list,
	const json_t *rows, size_t most);

#endif
