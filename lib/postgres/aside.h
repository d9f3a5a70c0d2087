/* SPDX-License-Identifier: MIT */
/*
 * The operations of a queue (postgres/queue.h) that are set aside because another
 * session holds their rows, and when these rows are looked at. Operations of the
 * same row keep their order.
 *
 * A batch is passed as its operations; one that is NULL was already handed back.
 */
#ifndef UM_ASIDE_H
#define UM_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postgres/op.h"

#define UM_ASIDE_LOOK_MS 100 /* between two looks at rows that are held */
#define UM_HELD_ROWS_MAX 64  /* beyond that one is forgotten */

/* Begins zeroed. Only these functions change it; anyone may read it. */
struct um_aside {
	struct um_op_list ops;
	int64_t look_at; /* monotonic, in milliseconds */
	/*
	 * The rows that another session held when they were last looked at, also
	 * when nothing waits for them any more: who comes again must not make
	 * others wait for their locks.
	 */
	struct um_held_rows {
		uint8_t ids[UM_HELD_ROWS_MAX][UM_UUID_LEN];
		size_t len;
		size_t next; /* the one to forget when all places are taken */
	} rows;
};

/*
 * Sets an operation aside if another one on its row is, or if the row was held
 * when it was last looked at. False: neither.
 */
bool um_aside_add(struct um_aside *aside, struct um_op *op);

/* Sets a batch aside that has waited for a lock too long, also that of a look. */
void um_aside_take(struct um_aside *aside, struct um_op *const *ops, size_t len,
	int64_t now);

/*
 * When it is time: moves up to `max` operations to `ops`, and returns how many.
 * urlmode.held then says of each whether its row is held.
 */
size_t um_aside_look(struct um_aside *aside, struct um_op **ops, size_t max,
	int64_t now);

/*
 * Takes the answer to a look, which is_held of each operation has, and returns
 * what um_aside_sort() returns.
 */
struct um_op *um_aside_answer(struct um_aside *aside, struct um_op *const *ops,
	size_t len, int64_t now);

/*
 * Sets the held operations of a batch aside, behind all others, so that each has
 * its turn to be asked about. Returns the other operations of the batch, and
 * those that were set aside behind them, linked by `next`: of each row, the newest
 * first.
 */
struct um_op *um_aside_sort(struct um_aside *aside, struct um_op *const *ops,
	size_t len);

/* Removes one operation whose deadline has come, or returns NULL. */
struct um_op *um_aside_take_expired(struct um_aside *aside, int64_t now);

/* The earliest deadline, or -1 when no operation is set aside. */
int64_t um_aside_deadline(const struct um_aside *aside);

#endif
