/* SPDX-License-Identifier: MIT */
#include "postgres/queue.h"

#include <string.h>

void
um_queue_append(struct um_queue *queue, struct um_op *op)
{
	op->next = NULL;
	if (queue->head == NULL)
		queue->head = op;
	else
		queue->last->next = op;
	queue->last = op;
	queue->waiting++;
}

static void
put_first(struct um_queue *queue, struct um_op *op)
{
	op->next = queue->head;
	if (queue->head == NULL)
		queue->last = op;
	queue->head = op;
	queue->waiting++;
}

static struct um_op *
take_first(struct um_queue *queue)
{
	struct um_op *op = queue->head;

	queue->head = op->next;
	queue->waiting--;
	return op;
}

/* The batch under way that started as number `i`, from 0. */
static struct um_batch *
under_way(const struct um_queue *queue, size_t i)
{
	return (struct um_batch *)&queue
		->batch[(queue->first + i) % UM_BATCHES_MAX];
}

static bool
is_row_under_way(const struct um_queue *queue, const struct um_op *op)
{
	for (size_t b = 0; b < queue->under_way; b++) {
		const struct um_batch *batch = under_way(queue, b);

		for (size_t i = 0; i < batch->len; i++)
			if (batch->ops[i] != NULL
				&& memcmp(batch->ops[i]->id, op->id,
					   sizeof(op->id))
					== 0)
				return true;
	}
	return false;
}

/*
 * The second batch starts only when as many operations wait as the first one
 * has: a transaction costs about the same for few operations as for many, and
 * the many would wait for the few.
 */
static bool
may_start(const struct um_queue *queue)
{
	return queue->under_way == 0
		|| (queue->under_way < UM_BATCHES_MAX
			&& queue->waiting >= under_way(queue, 0)->len);
}

/*
 * The second batch takes half of all pending operations, so that both have the
 * same size: after a large one, a small one would end before the next may
 * start.
 */
static size_t
size_of_next(const struct um_queue *queue)
{
	size_t size = queue->waiting;

	if (queue->under_way != 0)
		size = (under_way(queue, 0)->len + size + 1) / 2;
	return size < UM_BATCH_MAX ? size : UM_BATCH_MAX;
}

const struct um_batch *
um_queue_start(struct um_queue *queue)
{
	struct um_batch *batch = under_way(queue, queue->under_way);
	size_t size = size_of_next(queue);

	if (!may_start(queue))
		return NULL;
	batch->len = 0;
	while (queue->head != NULL && batch->len < size
		&& (batch->len == 0 || !queue->head->isolated)
		&& !is_row_under_way(queue, queue->head)) {
		struct um_op *op = take_first(queue);

		batch->kinds[batch->len] = op->kind;
		batch->ops[batch->len++] = op;
		if (op->isolated)
			break;
	}
	if (batch->len == 0)
		return NULL;
	queue->under_way++;
	return batch;
}

const struct um_batch *
um_queue_oldest(const struct um_queue *queue)
{
	return queue->under_way != 0 ? under_way(queue, 0) : NULL;
}

static void
remove_oldest(struct um_queue *queue)
{
	queue->first = (queue->first + 1) % UM_BATCHES_MAX;
	queue->under_way--;
}

void
um_queue_finish(struct um_queue *queue, struct um_batch *finished)
{
	const struct um_batch *batch = under_way(queue, 0);

	/* The whole struct is not copied, since few batches are full. */
	for (size_t i = 0; i < batch->len; i++) {
		finished->ops[i] = batch->ops[i];
		finished->kinds[i] = batch->kinds[i];
	}
	finished->len = batch->len;
	remove_oldest(queue);
}

static void
put_first_all_of(struct um_queue *queue, const struct um_batch *batch,
	bool isolate)
{
	for (size_t i = batch->len; i-- > 0;) {
		struct um_op *op = batch->ops[i];

		if (op == NULL)
			continue;
		op->isolated |= isolate;
		put_first(queue, op);
	}
}

void
um_queue_put_back(struct um_queue *queue, bool isolate)
{
	put_first_all_of(queue, under_way(queue, 0), isolate);
	remove_oldest(queue);
}

void
um_queue_put_all_back(struct um_queue *queue)
{
	while (queue->under_way != 0)
		put_first_all_of(queue, under_way(queue, --queue->under_way),
			false);
}

/* The place of the operation that has waited longest. */
static size_t
oldest(const struct um_batch *batch)
{
	size_t i = 0;

	while (i < batch->len && batch->ops[i] == NULL)
		i++;
	return i;
}

struct um_op *
um_queue_take_expired(struct um_queue *queue, int64_t now)
{
	for (size_t b = 0; b < queue->under_way; b++) {
		struct um_batch *batch = under_way(queue, b);
		size_t i = oldest(batch);

		if (i < batch->len && batch->ops[i]->deadline <= now) {
			struct um_op *op = batch->ops[i];

			batch->ops[i] = NULL;
			return op;
		}
	}
	return queue->head != NULL && queue->head->deadline <= now
		? take_first(queue)
		: NULL;
}

int64_t
um_queue_deadline(const struct um_queue *queue)
{
	int64_t deadline = queue->head != NULL ? queue->head->deadline : -1;

	for (size_t b = 0; b < queue->under_way; b++) {
		const struct um_batch *batch = under_way(queue, b);
		size_t i = oldest(batch);

		if (i < batch->len
			&& (deadline < 0 || batch->ops[i]->deadline < deadline))
			deadline = batch->ops[i]->deadline;
	}
	return deadline;
}

size_t
um_queue_pending(const struct um_queue *queue)
{
	size_t pending = queue->waiting;

	for (size_t b = 0; b < queue->under_way; b++) {
		const struct um_batch *batch = under_way(queue, b);

		for (size_t i = 0; i < batch->len; i++)
			pending += batch->ops[i] != NULL;
	}
	return pending;
}
