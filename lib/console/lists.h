/* SPDX-License-Identifier: MIT */
/* The lists of what waits for somebody, and their columns. */
#ifndef UM_CONSOLE_LISTS_H
#define UM_CONSOLE_LISTS_H

#include "console/table.h"

#define UM_CONSOLE_COLUMNS_MAX 8

struct um_console_list {
	const char *word; /* as urlmode.list_waiting() has it */
	enum um_text title;
	enum um_text help; /* what it is, and what one can do */
	struct um_column columns[UM_CONSOLE_COLUMNS_MAX + 1];
};

/* In the order of urlmode.waiting(). */
#define UM_CONSOLE_LISTS_LEN 7
extern const struct um_console_list um_console_lists[UM_CONSOLE_LISTS_LEN];

/* The list of this word, or NULL. */
const struct um_console_list *um_console_list_of(struct um_str word);

#endif
