/* SPDX-License-Identifier: MIT */
/*
 * Operations on their way to the database: those that wait, in the order in
 * which they came, and the one batch that is under way.
 *
 * Whoever appends an operation owns it: it is only pointed to, from
 * um_queue_append() until um_queue_finish() or um_queue_take_expired() hands
 * it back, which happens once. Nothing is allocated, and nothing fails; how
 * many may wait is the caller's to limit.
 */
#ifndef UM_QUEUE_H
#define UM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postgres/op.h"

#define UM_BATCH_MAX 256 /* operations in one transaction */

/* What becomes one transaction. */
struct um_batch {
	struct um_op *ops[UM_BATCH_MAX]; /* NULL: was handed back before */
	enum um_op_kind kinds[UM_BATCH_MAX];
	size_t len;
};

/* Zeroed to begin with; to be read, and changed by these functions alone. */
struct um_queue {
	struct um_op *head;
	struct um_op *last;    /* where there is a head */
	size_t waiting;        /* operations from head to last */
	struct um_batch batch; /* under way; empty: none is */
};

/*
 * Behind all others: its deadline (milliseconds of any clock) is not before
 * theirs.
 */
void um_queue_append(struct um_queue *queue, struct um_op *op);

/*
 * Makes the next batch of what has waited longest, and answers it; none may be
 * under way. An operation that is `alone` goes by itself.
 */
const struct um_batch *um_queue_start(struct um_queue *queue);

/*
 * Moves the batch under way to *finished, to be handed back; the next one may
 * start before that is done.
 */
void um_queue_finish(struct um_queue *queue, struct um_batch *finished);

/*
 * Puts the batch under way back to the head, in its order, for another try:
 * each operation by itself from now on, or as it was.
 */
void um_queue_put_back(struct um_queue *queue, bool alone);

/*
 * Takes out one that has waited until its deadline, or answers NULL. In the
 * batch under way its place stays, and stays empty.
 */
struct um_op *um_queue_take_expired(struct um_queue *queue, int64_t now);

/* The next deadline, or -1. */
int64_t um_queue_deadline(const struct um_queue *queue);

/* Operations that wait or are under way. */
size_t um_queue_pending(const struct um_queue *queue);

#endif
