/* SPDX-License-Identifier: MIT */
/* CSV (RFC 4180), a row at a time. */
#ifndef UM_CSV_H
#define UM_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

#define UM_CSV_COLUMNS_MAX 512

struct um_csv {
	struct um_str rest;
	size_t line;                /* of the row that was read last, from 1 */
	struct um_buf names, cells; /* bytes of the fields, one after another */
	size_t ends[UM_CSV_COLUMNS_MAX], name_ends[UM_CSV_COLUMNS_MAX];
	size_t columns;
};

/*
 * Reads the first row, which names the columns. `text` must outlive it. False,
 * with the reason. Free it in every case.
 */
bool um_csv_begin(struct um_csv *csv, struct um_str text, struct um_error *err);

/*
 * Appends the next row as a JSON object of its columns. False at the end, and,
 * with the line and the reason in *err, for a row that is none: another number
 * of fields, text that is not UTF-8, a quote that is not closed.
 */
bool um_csv_next(struct um_csv *csv, struct um_buf *out, struct um_error *err);

void um_csv_free(struct um_csv *csv);

#endif
