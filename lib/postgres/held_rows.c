/* SPDX-License-Identifier: MIT */
#include "postgres/held_rows.h"

#include <string.h>

/* Its place, or `len`. */
static size_t
find(const struct um_held_rows *rows, const uint8_t id[static UM_UUID_LEN])
{
	size_t i = 0;

	while (i < rows->len && memcmp(rows->ids[i], id, UM_UUID_LEN) != 0)
		i++;
	return i;
}

bool
um_held_rows_have(const struct um_held_rows *rows,
	const uint8_t id[static UM_UUID_LEN])
{
	return find(rows, id) < rows->len;
}

void
um_held_rows_add(struct um_held_rows *rows,
	const uint8_t id[static UM_UUID_LEN])
{
	size_t i = find(rows, id);

	if (i == rows->len) {
		if (rows->len < UM_HELD_ROWS_MAX)
			rows->len++;
		else
			i = rows->next++ % UM_HELD_ROWS_MAX;
	}
	memcpy(rows->ids[i], id, UM_UUID_LEN);
}

void
um_held_rows_remove(struct um_held_rows *rows,
	const uint8_t id[static UM_UUID_LEN])
{
	size_t i = find(rows, id);

	if (i == rows->len)
		return;
	rows->len--;
	memmove(rows->ids[i], rows->ids[rows->len], UM_UUID_LEN);
}
