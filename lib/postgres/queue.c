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

/*
 * Puts an operation that has been in the queue before where its deadline
 * belongs: before all of the same one, which came later if they are on its row.
 */
static void
insert(struct um_queue *queue, struct um_op *op)
{
	struct um_op **place = &queue->head;

	while (*place != NULL && (*place)->deadline < op->deadline)
		place = &(*place)->next;
	if (*place == NULL)
		queue->last = op;
	op->next = *place;
	*place = op;
	queue->waiting++;
}

static void
set_aside(struct um_queue *queue, struct um_op *op)
{
	op->next = NULL;
	if (queue->held == NULL)
		queue->held = op;
	else
		queue->last_held->next = op;
	queue->last_held = op;
	queue->held_len++;
}

/* Of operations that name no row, none is on the row of another. */
static bool
is_same_row(const struct um_op *a, const struct um_op *b)
{
	static const uint8_t none[UM_UUID_LEN];

	return memcmp(a->id, b->id, sizeof(a->id)) == 0
		&& memcmp(a->id, none, sizeof(none)) != 0;
}

static bool
is_row_held(const struct um_queue *queue, const struct um_op *op)
{
	const struct um_op *held = queue->held;

	while (held != NULL && !is_same_row(held, op))
		held = held->next;
	return held != NULL;
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
				&& is_same_row(batch->ops[i], op))
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

		if (is_row_held(queue, op)
			|| um_held_rows_have(&queue->rows, op->id)) {
			set_aside(queue, op);
			continue;
		}
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
push(struct um_op **list, struct um_op *op)
{
	op->next = *list;
	*list = op;
}

static struct um_op *
pop(struct um_op **list)
{
	struct um_op *op = *list;

	if (op != NULL)
		*list = op->next;
	return op;
}

static const struct um_op *
find_same_row(const struct um_batch *batch, const struct um_op *op)
{
	for (size_t i = 0; i < batch->len; i++)
		if (batch->ops[i] != NULL && is_same_row(batch->ops[i], op))
			return batch->ops[i];
	return NULL;
}

/*
 * Sets aside the held operations of the batch, behind all others: each has its
 * turn to be asked about. The other operations of the batch wait again, and so do
 * later ones on the same rows that were already aside, behind them.
 */
static void
take_apart(struct um_queue *queue, const struct um_batch *batch)
{
	struct um_op *aside = queue->held;
	struct um_op *behind = NULL; /* the newest first */
	struct um_op *held = NULL;   /* the oldest first */
	struct um_op *op;

	queue->held = NULL;
	queue->held_len = 0;
	while ((op = pop(&aside)) != NULL) {
		if (find_same_row(batch, op) != NULL)
			push(&behind, op);
		else
			set_aside(queue, op);
	}
	while ((op = pop(&behind)) != NULL) {
		if (find_same_row(batch, op)->is_held)
			push(&held, op);
		else
			insert(queue, op);
	}
	for (size_t i = batch->len; i-- > 0;)
		if (batch->ops[i] != NULL && !batch->ops[i]->is_held)
			insert(queue, batch->ops[i]);
	for (size_t i = 0; i < batch->len; i++)
		if (batch->ops[i] != NULL && batch->ops[i]->is_held)
			set_aside(queue, batch->ops[i]);
	while ((op = pop(&held)) != NULL)
		set_aside(queue, op);
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
	take_apart(queue, batch);
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
	bool is_look = batch->kinds[0] == UM_OP_HELD;
	bool waits = queue->held != NULL;
	bool again = false;

	for (size_t i = 0; i < batch->len; i++) {
		if (batch->ops[i] == NULL)
			continue;
		again |= batch->ops[i]->was_aside;
		if (is_look)
			batch->ops[i]->is_held = true;
		else
			set_aside(queue, batch->ops[i]);
	}
	if (is_look)
		take_apart(queue, batch);
	/* Where no row was held, and yet it has waited for a lock, later. */
	if (!waits || !again)
		queue->look_at = now + (again ? UM_QUEUE_LOOK_MS : 0);
	remove_oldest(queue);
}

const struct um_batch *
um_queue_look(struct um_queue *queue, int64_t now)
{
	struct um_batch *batch = under_way(queue, queue->under_way);

	if (queue->held == NULL || now < queue->look_at
		|| queue->under_way == UM_BATCHES_MAX)
		return NULL;
	batch->len = 0;
	while (queue->held != NULL && batch->len < UM_BATCH_MAX) {
		batch->kinds[batch->len] = UM_OP_HELD;
		batch->ops[batch->len++] = queue->held;
		queue->held = queue->held->next;
		queue->held_len--;
	}
	queue->look_at = now + UM_QUEUE_LOOK_MS;
	queue->under_way++;
	return batch;
}

void
um_queue_take_free(struct um_queue *queue, int64_t now)
{
	const struct um_batch *batch = under_way(queue, 0);
	bool explained = false;

	for (size_t i = 0; i < batch->len; i++) {
		if (batch->ops[i] == NULL || !batch->ops[i]->is_held)
			continue;
		explained = true;
		um_held_rows_add(&queue->rows, batch->ops[i]->id);
	}
	for (size_t i = 0; i < batch->len; i++) {
		struct um_op *op = batch->ops[i];

		if (op == NULL || op->is_held)
			continue;
		um_held_rows_remove(&queue->rows, op->id);
		/* Where no row is held, what waits for a lock waits alone. */
		op->isolated |= op->was_aside && !explained;
		op->was_aside = true;
	}
	take_apart(queue, batch);
	queue->look_at = now + UM_QUEUE_LOOK_MS;
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

/* Their deadlines are in no order. */
static struct um_op *
take_expired_held(struct um_queue *queue, int64_t now)
{
	struct um_op *before = NULL;
	struct um_op *op = queue->held;

	for (; op != NULL && op->deadline > now; op = op->next)
		before = op;
	if (op == NULL)
		return NULL;
	if (before == NULL)
		queue->held = op->next;
	else
		before->next = op->next;
	if (queue->last_held == op)
		queue->last_held = before;
	queue->held_len--;
	return op;
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
	if (queue->head != NULL && queue->head->deadline <= now)
		return take_first(queue);
	return take_expired_held(queue, now);
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
	for (const struct um_op *op = queue->held; op != NULL; op = op->next)
		if (deadline < 0 || op->deadline < deadline)
			deadline = op->deadline;
	return deadline;
}

int64_t
um_queue_next_look(const struct um_queue *queue)
{
	return queue->held != NULL && queue->under_way < UM_BATCHES_MAX
		? queue->look_at
		: -1;
}

size_t
um_queue_pending(const struct um_queue *queue)
{
	size_t pending = queue->waiting + queue->held_len;

	for (size_t b = 0; b < queue->under_way; b++) {
		const struct um_batch *batch = under_way(queue, b);

		for (size_t i = 0; i < batch->len; i++)
			pending += batch->ops[i] != NULL;
	}
	return pending;
}
