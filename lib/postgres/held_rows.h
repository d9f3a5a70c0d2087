/* SPDX-License-Identifier: MIT */
/*
 * The rows that another session held when they were last looked at, also when
 * nothing waits for them any more: who comes again must not make others wait for
 * their locks.
 */
#ifndef UM_HELD_ROWS_H
#define UM_HELD_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/uuid.h"

#define UM_HELD_ROWS_MAX 64 /* beyond that one is forgotten */

/* Begins zeroed. Only these functions change it. */
struct um_held_rows {
	uint8_t ids[UM_HELD_ROWS_MAX][UM_UUID_LEN];
	size_t len;
	size_t next; /* the one to forget when all places are taken */
};

bool um_held_rows_have(const struct um_held_rows *rows,
	const uint8_t id[static UM_UUID_LEN]);

/* Does nothing if it is there. */
void um_held_rows_add(struct um_held_rows *rows,
	const uint8_t id[static UM_UUID_LEN]);

/* Does nothing if it is not there. */
void um_held_rows_remove(struct um_held_rows *rows,
	const uint8_t id[static UM_UUID_LEN]);

#endif
