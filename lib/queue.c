/* SPDX-License-Identifier: MIT */
#include "queue.h"

static struct um_op *
shift(struct um_queue *queue)
{
	struct um_op *op = queue->head;

	queue->head = op->next;
	if (queue->head == NULL)
		queue->tail = &queue->head;
	queue->len--;
	return op;
}

static void
put_first(struct um_queue *queue, struct um_op *op)
{
	op->next = queue->head;
	if (queue->head == NULL)
		queue->tail = &op->next;
	queue->head = op;
	queue->len++;
}

static struct um_batch *
batch_at(struct um_queue *queue, size_t i)
{
	return &queue->batches[(queue->first + i) % UM_QUEUE_BATCHES_MAX];
}

void
um_queue_init(struct um_queue *queue)
{
	*queue = (struct um_queue){ 0 };
	queue->tail = &queue->head;
}

void
um_queue_append(struct um_queue *queue, struct um_op *op)
{
	op->next = NULL;
	*queue->tail = op;
	queue->tail = &op->next;
	queue->len++;
}

bool
um_queue_may_start(const struct um_queue *queue)
{
	if (queue->head == NULL)
		return false;
	return queue->batches_len == 0
		|| (queue->batches_len < UM_QUEUE_BATCHES_MAX
			&& queue->len >= queue->batches[queue->first].len
			&& !queue->head->alone);
}

struct um_batch *
um_queue_start(struct um_queue *queue)
{
	struct um_batch *batch = batch_at(queue, queue->batches_len++);

	batch->len = 0;
	while (queue->head != NULL && batch->len < UM_BATCH_MAX
		&& (batch->len == 0 || !queue->head->alone)) {
		struct um_op *op = shift(queue);

		batch->kinds[batch->len] = op->kind;
		batch->ops[batch->len++] = op;
		if (op->alone)
			break;
	}
	return batch;
}

struct um_batch *
um_queue_finish(struct um_queue *queue)
{
	struct um_batch *batch = batch_at(queue, 0);

	queue->first = (queue->first + 1) % UM_QUEUE_BATCHES_MAX;
	queue->batches_len--;
	return batch;
}

void
um_queue_again(struct um_queue *queue, struct um_batch *batch, bool alone)
{
	for (size_t i = batch->len; i-- > 0;) {
		struct um_op *op = batch->ops[i];

		if (op == NULL)
			continue;
		op->alone |= alone;
		put_first(queue, op);
	}
}

void
um_queue_again_all(struct um_queue *queue)
{
	while (queue->batches_len != 0)
		um_queue_again(queue, batch_at(queue, --queue->batches_len),
			false);
}

struct um_op *
um_queue_expired(struct um_queue *queue, int64_t now)
{
	for (size_t b = 0; b < queue->batches_len; b++) {
		struct um_batch *batch = batch_at(queue, b);
		size_t i = 0;

		/* In order of time. */
		while (i < batch->len && batch->ops[i] == NULL)
			i++;
		if (i < batch->len && batch->ops[i]->deadline <= now) {
			struct um_op *op = batch->ops[i];

			batch->ops[i] = NULL;
			return op;
		}
	}
	return queue->head != NULL && queue->head->deadline <= now
		? shift(queue)
		: NULL;
}

static int64_t
earlier(int64_t at, const struct um_op *op)
{
	return op != NULL && (at < 0 || op->deadline < at) ? op->deadline : at;
}

int64_t
um_queue_deadline(const struct um_queue *queue)
{
	int64_t at = earlier(-1, queue->head);

	for (size_t b = 0; b < queue->batches_len; b++) {
		const struct um_batch *batch =
			&queue->batches[(queue->first + b)
				% UM_QUEUE_BATCHES_MAX];
		size_t i = 0;

		while (i < batch->len && batch->ops[i] == NULL)
			i++;
		if (i < batch->len)
			at = earlier(at, batch->ops[i]);
	}
	return at;
}

size_t
um_queue_pending(const struct um_queue *queue)
{
	size_t pending = queue->len;

	for (size_t b = 0; b < queue->batches_len; b++) {
		const struct um_batch *batch =
			&queue->batches[(queue->first + b)
				% UM_QUEUE_BATCHES_MAX];

		for (size_t i = 0; i < batch->len; i++)
			pending += batch->ops[i] != NULL;
	}
	return pending;
}
