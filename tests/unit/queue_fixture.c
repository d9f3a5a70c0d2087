/* SPDX-License-Identifier: MIT */
#include "queue_fixture.h"

#include "support.h"

struct um_queue queue;
struct um_op ops[2 * UM_BATCH_MAX];

int
queue_set_up(void **state)
{
	(void)state;
	queue = (struct um_queue){ 0 };
	for (size_t i = 0; i < LENGTH(ops); i++)
		ops[i] = (struct um_op){
			.kind = i % 2 ? UM_OP_OPEN : UM_OP_COMPLETE,
			.id = { (uint8_t)i, (uint8_t)(i >> 8), 1 },
			.next = &ops[0],
			.deadline = FIRST_DEADLINE + (int64_t)i,
		};
	return 0;
}

void
append(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		um_queue_append(&queue, &ops[i]);
}

void
assert_batch(const struct um_batch *batch, size_t from, size_t to)
{
	assert_int_equal(batch->len, to - from);
	for (size_t i = 0; i < batch->len; i++) {
		assert_ptr_equal(batch->ops[i], &ops[from + i]);
		assert_int_equal(batch->kinds[i], ops[from + i].kind);
	}
}

void
assert_starts(size_t from, size_t to)
{
	const struct um_batch *batch = um_queue_start(&queue);

	assert_non_null(batch);
	assert_batch(batch, from, to);
}

void
assert_finishes(size_t from, size_t to)
{
	struct um_batch batch;

	um_queue_finish(&queue, &batch);
	assert_batch(&batch, from, to);
}

size_t
pending(void)
{
	size_t count = queue.waiting.len + queue.aside.ops.len;

	for (size_t b = 0; b < queue.under_way; b++) {
		const struct um_batch *batch =
			&queue.batch[(queue.first + b) % UM_BATCHES_MAX];

		for (size_t i = 0; i < batch->len; i++)
			count += batch->ops[i] != NULL;
	}
	return count;
}

void
assert_empty(void)
{
	assert_int_equal(pending(), 0);
	assert_int_equal(um_queue_deadline(&queue), -1);
	assert_null(um_queue_take_expired(&queue, INT64_MAX));
	assert_null(um_queue_oldest(&queue));
	assert_null(um_queue_start(&queue));
}

void
assert_looks(int64_t now, size_t from, size_t to)
{
	const struct um_batch *batch = um_queue_look(&queue, now);

	assert_non_null(batch);
	assert_int_equal(batch->len, to - from);
	for (size_t i = 0; i < batch->len; i++) {
		assert_ptr_equal(batch->ops[i], &ops[from + i]);
		assert_int_equal(batch->kinds[i], UM_OP_HELD);
	}
}
