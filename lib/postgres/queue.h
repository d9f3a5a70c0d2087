/* SPDX-License-Identifier: MIT */
/*
 * The operations that wait for the database, in the order in which they came,
 * and the batches that are under way.
 *
 * The queue does not own operations. It points to each of them from
 * um_queue_append() until um_queue_finish() or um_queue_take_expired() hands it
 * back, exactly once. No function allocates memory or fails. The caller limits
 * how many operations may wait.
 */
#ifndef UM_QUEUE_H
#define UM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postgres/aside.h"
#include "postgres/op.h"

#define UM_BATCH_MAX 256 /* operations in one transaction, and what they read */
#define UM_BATCHES_MAX 2 /* sent: one at work, and the next one */

/* The operations of one transaction. */
struct um_batch {
	struct um_op *ops[UM_BATCH_MAX]; /* NULL: already handed back */
	enum um_op_kind kinds[UM_BATCH_MAX];
	const struct um_call *calls[UM_BATCH_MAX]; /* NULL: of another kind */
	size_t len;
};

/* Begins zeroed. Only these functions change it; anyone may read it. */
struct um_queue {
	struct um_op_list waiting;
	struct um_aside aside;

	/* Those under way: batch[first], then the other. None is empty. */
	struct um_batch batch[UM_BATCHES_MAX];
	size_t first;
	size_t under_way;
};

/*
 * Appends an operation. Its deadline (monotonic, in milliseconds) must not be
 * earlier than the deadline of any operation in the queue.
 */
void um_queue_append(struct um_queue *queue, struct um_op *op);

/*
 * Makes the next batch of the operations that have waited longest, and returns
 * it. The second batch starts only when at least as many operations wait as the
 * first one has, and takes half of all pending operations. An `isolated`
 * operation becomes a batch of its own, and so does one that reads more than there
 * is room for: what the database returns is held until its batch is committed. An
 * operation on a row of another batch
 * waits until that batch has finished, and so do those after it, so that the
 * operations of a row keep their order even if the batch is tried again. An
 * operation on a row that is set aside, or that was held when it was last looked
 * at, is set aside. NULL: no batch can start now.
 */
const struct um_batch *um_queue_start(struct um_queue *queue);

/* The batch that has been under way longest, or NULL. */
const struct um_batch *um_queue_oldest(const struct um_queue *queue);

/*
 * Moves the oldest batch under way, which must exist, to *finished. The caller
 * hands its operations back, and may start the next batch before that.
 */
void um_queue_finish(struct um_queue *queue, struct um_batch *finished);

/*
 * Puts the oldest batch under way, which must exist, back into the queue, before
 * what came later, to be tried again. With `isolate`, each of its operations
 * gets a transaction of its own.
 */
void um_queue_put_back(struct um_queue *queue, bool isolate);

/*
 * Sets the oldest batch under way, which must exist, aside: a row of it is held
 * by another session. um_queue_look() finds out which.
 */
void um_queue_set_aside(struct um_queue *queue, int64_t now);

/*
 * When it is time: makes a batch, whose kind is UM_OP_HELD, of operations that
 * are set aside, and returns it, or NULL. Those that are not held any more, as
 * um_batch_read() has told, wait again after um_queue_take_free(), and so do
 * those that were set aside behind them; the others are set aside for UM_ASIDE_LOOK_MS.
 * The operations of a row keep their order, and the rows are taken in turn.
 */
const struct um_batch *um_queue_look(struct um_queue *queue, int64_t now);

/* Ends the oldest batch under way, which must be of um_queue_look(). */
void um_queue_take_free(struct um_queue *queue, int64_t now);

/* Puts all batches under way back, in their order. */
void um_queue_put_all_back(struct um_queue *queue);

/*
 * Removes one operation whose deadline has come, or returns NULL. In a batch
 * under way its place becomes NULL, so that the rows of the result still match
 * the places.
 */
struct um_op *um_queue_take_expired(struct um_queue *queue, int64_t now);

/* The earliest deadline, or -1 when the queue is empty. */
int64_t um_queue_deadline(const struct um_queue *queue);

/* When um_queue_look() may return a batch, or -1. */
int64_t um_queue_next_look(const struct um_queue *queue);

#endif
