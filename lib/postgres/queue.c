/* SPDX-License-Identifier: MIT */
#include "postgres/queue.h"

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

const struct um_batch *
um_queue_start(struct um_queue *queue)
{
	struct um_batch *batch = &queue->batch;

	while (queue->head != NULL && batch->len < UM_BATCH_MAX
		&& (batch->len == 0 || !queue->head->isolated)) {
		struct um_op *op = take_first(queue);

		batch->kinds[batch->len] = op->kind;
		batch->ops[batch->len++] = op;
		if (op->isolated)
			break;
	}
	return batch;
}

void
um_queue_finish(struct um_queue *queue, struct um_batch *finished)
{
	struct um_batch *batch = &queue->batch;

	/* Not a copy of the whole: a batch is mostly far from full. */
	for (size_t i = 0; i < batch->len; i++) {
		finished->ops[i] = batch->ops[i];
		finished->kinds[i] = batch->kinds[i];
	}
	finished->len = batch->len;
	batch->len = 0;
}

void
um_queue_put_back(struct um_queue *queue, bool isolate)
{
	for (size_t i = queue->batch.len; i-- > 0;) {
		struct um_op *op = queue->batch.ops[i];

		if (op == NULL)
			continue;
		op->isolated |= isolate;
		put_first(queue, op);
	}
	queue->batch.len = 0;
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
	struct um_batch *batch = &queue->batch;
	size_t i = oldest(batch);

	if (i < batch->len && batch->ops[i]->deadline <= now) {
		struct um_op *op = batch->ops[i];

		batch->ops[i] = NULL;
		return op;
	}
	return queue->head != NULL && queue->head->deadline <= now
		? take_first(queue)
		: NULL;
}

int64_t
um_queue_deadline(const struct um_queue *queue)
{
	const struct um_batch *batch = &queue->batch;
	size_t i = oldest(batch);
	const struct um_op *op = i < batch->len ? batch->ops[i] : queue->head;

	return op != NULL ? op->deadline : -1;
}

size_t
um_queue_pending(const struct um_queue *queue)
{
	size_t pending = queue->waiting;

	for (size_t i = 0; i < queue->batch.len; i++)
		pending += queue->batch.ops[i] != NULL;
	return pending;
}
