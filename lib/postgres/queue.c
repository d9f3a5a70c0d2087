/* SPDX-License-Identifier: MIT */
#include "postgres/queue.h"

#include "core/clock.h"

void
um_queue_append(struct um_queue *queue, struct um_op *op)
{
	um_op_list_add(&queue->waiting, op);
}

/*
 * Puts an operation that has been in the queue before where its deadline
 * belongs: before all of the same one, which came later if they are on its row.
 */
static void
insert(struct um_queue *queue, struct um_op *op)
{
	struct um_op **place = &queue->waiting.first;

	while (*place != NULL && (*place)->deadline < op->deadline)
		place = &(*place)->next;
	if (*place == NULL)
		queue->waiting.last = op;
	op->next = *place;
	*place = op;
	queue->waiting.len++;
}

/* Inserts what um_aside_sort() has returned. */
static void
insert_all(struct um_queue *queue, struct um_op *newest)
{
	struct um_op *next;

	for (struct um_op *op = newest; op != NULL; op = next) {
		next = op->next;
		insert(queue, op);
	}
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

		if (um_op_find_row(batch->ops, batch->len, op) != NULL)
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
			&& queue->waiting.len >= under_way(queue, 0)->len);
}

/*
 * The second batch takes half of all pending operations, so that both have the
 * same size: after a large one, a small one would end before the next may
 * start.
 */
static size_t
size_of_next(const struct um_queue *queue)
{
	size_t size = queue->waiting.len;

	if (queue->under_way != 0)
		size = (under_way(queue, 0)->len + size + 1) / 2;
	return size < UM_BATCH_MAX ? size : UM_BATCH_MAX;
}

/* How much of a batch the operation takes by what it reads. */
static size_t
reads_of(const struct um_op *op)
{
	return op->reads != 0 ? op->reads : 1;
}

const struct um_batch *
um_queue_start(struct um_queue *queue)
{
	struct um_batch *batch = under_way(queue, queue->under_way);
	size_t size = size_of_next(queue), reads = 0;
	struct um_op *op;

	if (!may_start(queue))
		return NULL;
	batch->len = 0;
	while ((op = queue->waiting.first) != NULL && batch->len < size
		&& (batch->len == 0
			|| (!op->isolated
				&& reads + reads_of(op) <= UM_BATCH_MAX))
		&& !is_row_under_way(queue, op)) {
		um_op_list_take(&queue->waiting);
		if (um_aside_add(&queue->aside, op))
			continue;
		batch->kinds[batch->len] = op->kind;
		batch->calls[batch->len] = op->call;
		batch->ops[batch->len++] = op;
		reads += reads_of(op);
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
		finished->calls[i] = batch->calls[i];
	}
	finished->len = batch->len;
	remove_oldest(queue);
}

static void
put_back(struct um_queue *queue, const struct um_batch *batch, bool isolate)
{
	for (size_t i = 0; i < batch->len; i++) {
		if (batch->ops[i] == NULL)
			continue;
		batch->ops[i]->isolated |= isolate;
		batch->ops[i]->is_held = false;
	}
	insert_all(queue, um_aside_sort(&queue->aside, batch->ops, batch->len));
}

void
um_queue_put_back(struct um_queue *queue, bool isolate)
{
	put_back(queue, under_way(queue, 0), isolate);
	remove_oldest(queue);
}

void
um_queue_put_all_back(struct um_queue *queue)
{
	while (queue->under_way != 0)
		put_back(queue, under_way(queue, --queue->under_way), false);
}

void
um_queue_set_aside(struct um_queue *queue, int64_t now)
{
	const struct um_batch *batch = under_way(queue, 0);

	um_aside_take(&queue->aside, batch->ops, batch->len, now);
	remove_oldest(queue);
}

const struct um_batch *
um_queue_look(struct um_queue *queue, int64_t now)
{
	struct um_batch *batch = under_way(queue, queue->under_way);

	if (queue->under_way == UM_BATCHES_MAX)
		return NULL;
	batch->len = um_aside_look(&queue->aside, batch->ops, UM_BATCH_MAX,
		now);
	if (batch->len == 0)
		return NULL;
	for (size_t i = 0; i < batch->len; i++) {
		batch->kinds[i] = UM_OP_HELD;
		batch->calls[i] = NULL;
	}
	queue->under_way++;
	return batch;
}

void
um_queue_take_free(struct um_queue *queue, int64_t now)
{
	const struct um_batch *batch = under_way(queue, 0);

	insert_all(queue,
		um_aside_answer(&queue->aside, batch->ops, batch->len, now));
	remove_oldest(queue);
}

/* The place of the operation that has waited longest, or `len`. */
static size_t
oldest(const struct um_batch *batch)
{
	size_t first = batch->len;

	for (size_t i = 0; i < batch->len; i++) {
		if (batch->ops[i] == NULL)
			continue;
		if (first == batch->len
			|| batch->ops[i]->deadline
				< batch->ops[first]->deadline)
			first = i;
		/* Only a batch of questions is in another order. */
		if (batch->kinds[i] != UM_OP_HELD)
			break;
	}
	return first;
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
	if (queue->waiting.first != NULL
		&& queue->waiting.first->deadline <= now)
		return um_op_list_take(&queue->waiting);
	return um_aside_take_expired(&queue->aside, now);
}

int64_t
um_queue_deadline(const struct um_queue *queue)
{
	const struct um_op *first = queue->waiting.first;
	int64_t deadline = um_aside_deadline(&queue->aside);

	if (first != NULL)
		deadline = um_deadline_earlier(deadline, first->deadline);
	for (size_t b = 0; b < queue->under_way; b++) {
		const struct um_batch *batch = under_way(queue, b);
		size_t i = oldest(batch);

		if (i < batch->len)
			deadline = um_deadline_earlier(deadline,
				batch->ops[i]->deadline);
	}
	return deadline;
}

int64_t
um_queue_next_look(const struct um_queue *queue)
{
	return queue->aside.ops.len != 0 && queue->under_way < UM_BATCHES_MAX
		? queue->aside.look_at
		: -1;
}
