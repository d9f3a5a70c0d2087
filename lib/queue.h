/* SPDX-License-Identifier: MIT */
/*
 * Operations on their way through the database: a queue of those that wait,
 * and the batches under way, each of which becomes one transaction.
 *
 * Who submitted an operation owns it; here it is only ever pointed to.
 * Times are milliseconds.
 */
#ifndef UM_QUEUE_H
#define UM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "op.h"

#define UM_QUEUE_BATCHES_MAX 2 /* under way */

struct um_batch {
	struct um_op *ops[UM_BATCH_MAX]; /* NULL: was handed back before */
	enum um_op_kind kinds[UM_BATCH_MAX];
	size_t len;
};

struct um_queue {
	struct um_op *head;
	struct um_op **tail;
	size_t len; /* operations that wait */
	struct um_batch batches[UM_QUEUE_BATCHES_MAX]; /* a ring */
	size_t first; /* of them: under way for longest */
	size_t batches_len;
};

void um_queue_init(struct um_queue *queue);

void um_queue_append(struct um_queue *queue, struct um_op *op);

/*
 * Whether a batch can start: the only one, or behind another as soon as as
 * much waits as that one has, so that the database has it at hand when it has
 * committed. An operation that is to be alone waits until nothing is under way.
 */
bool um_queue_may_start(const struct um_queue *queue);

/* The next batch, of what has waited for longest; only where one may start. */
struct um_batch *um_queue_start(struct um_queue *queue);

/* Takes the first batch out; it stays as it is until another starts. */
struct um_batch *um_queue_finish(struct um_queue *queue);

/* A batch that is finished goes back to the head, in its order. */
void um_queue_again(struct um_queue *queue, struct um_batch *batch, bool alone);

/* The same with all that are under way. */
void um_queue_again_all(struct um_queue *queue);

/* Takes out one that has waited until its deadline, or NULL. */
struct um_op *um_queue_expired(struct um_queue *queue, int64_t now);

/* The next deadline, or -1. */
int64_t um_queue_deadline(const struct um_queue *queue);

/* Operations that wait or are under way. */
size_t um_queue_pending(const struct um_queue *queue);

#endif
