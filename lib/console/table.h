/* SPDX-License-Identifier: MIT */
/* Tables of rows that the database has returned: each is its columns. */
#ifndef UM_CONSOLE_TABLE_H
#define UM_CONSOLE_TABLE_H

#include "console/view.h"

struct um_column {
	enum um_text title;
	enum um_column_type {
		UM_COLUMN_TEXT,
		UM_COLUMN_CODE,
		UM_COLUMN_TIME, /* says if the row is "late" */
		UM_COLUMN_ID,
		UM_COLUMN_PROVIDER,
		UM_COLUMN_NUMBER,
		UM_COLUMN_MONEY,    /* in minor units of the row's currency */
		UM_COLUMN_STATE,    /* the row's status, action and reason */
		UM_COLUMN_FOUND_BY, /* how a search has found it */
	} type;
	const char *key; /* in the row, and in a CSV; NULL ends the columns */
};

struct um_table {
	const char *id; /* of the heading */
	enum um_text title;
	enum um_text none; /* what is said where there is no row */
	const struct um_column *columns;
};

/* The sentence, or a table with at most `most` of the rows. */
void um_table_put(const struct um_view *view, const struct um_table *table,
	const json_t *rows, size_t most);
/* A section with the heading, and all rows. */
void um_table_section(const struct um_view *view, const struct um_table *table,
	const json_t *rows);

#endif
