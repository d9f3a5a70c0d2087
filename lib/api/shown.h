/* SPDX-License-Identifier: MIT */
/* What `wait` shows of a row. */
#ifndef UM_SHOWN_H
#define UM_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "api/watched.h"
#include "app/program.h"
#include "core/str.h"
#include "postgres/op.h"

/* A row of the call read_waiting. */
struct um_shown {
	uint8_t id[UM_UUID_LEN];
	bool is_completed;
	bool awaits_check, awaits_recheck;
	int64_t recheck_in_ms; /* for how long nobody else may begin one */
	int64_t closes_in_ms;  /* when it may be expired */
	uint8_t digest[UM_SEEN_BYTES];
};

/* Reads the row in this place. False: it is none. */
bool um_shown_read(struct um_shown *shown, const struct um_op *op, int row);

/*
 * Appends the object, but for its end, and sets shown->digest, which is also the
 * member `seen`. False: a sealed value in it cannot be opened, and nothing is
 * appended.
 */
bool um_shown_put(struct um_shown *shown, struct um_buf *json,
	const struct um_context *context, const struct um_op *op, int row,
	const uint8_t binding[static UM_BINDING_LEN]);

/* Appends the member `check`, of the call take_check. */
bool um_shown_put_check(struct um_buf *json, const struct um_context *context,
	const struct um_op *op, const struct um_watched_element *element);

/* Appends the member `recheck`, of the call begin_recheck. */
void um_shown_put_recheck(struct um_buf *json, const struct um_op *op);

#endif
