/* SPDX-License-Identifier: MIT */
/* What waits and what is under way, without a database. */
#include <stdlib.h>
#include <string.h>

#include "postgres/queue.h"
#include "support.h"

#define FIRST_DEADLINE 1000 /* of ops[0]; each has one ms more */

static struct um_queue queue;
static struct um_op ops[2 * UM_BATCH_MAX];

/* An empty queue, and operations that have been in another one before. */
static int
set_up(void **state)
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

/* ops[from] to ops[to - 1] */
static void
append(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		um_queue_append(&queue, &ops[i]);
}

/* The batch is ops[from] to ops[to - 1]. */
static void
assert_batch(const struct um_batch *batch, size_t from, size_t to)
{
	assert_int_equal(batch->len, to - from);
	for (size_t i = 0; i < batch->len; i++) {
		assert_ptr_equal(batch->ops[i], &ops[from + i]);
		assert_int_equal(batch->kinds[i], ops[from + i].kind);
	}
}

static void
assert_starts(size_t from, size_t to)
{
	const struct um_batch *batch = um_queue_start(&queue);

	assert_non_null(batch);
	assert_batch(batch, from, to);
}

static void
assert_finishes(size_t from, size_t to)
{
	struct um_batch batch;

	um_queue_finish(&queue, &batch);
	assert_batch(&batch, from, to);
}

/* Nothing waits, and nothing is under way. */
static void
assert_empty(void)
{
	assert_int_equal(um_queue_pending(&queue), 0);
	assert_int_equal(um_queue_deadline(&queue), -1);
	assert_null(um_queue_take_expired(&queue, INT64_MAX));
	assert_null(um_queue_oldest(&queue));
	assert_null(um_queue_start(&queue));
}

TEST(an_empty_queue)
{
	assert_empty();
	um_queue_put_all_back(&queue);
	assert_empty();
}

TEST(in_the_order_in_which_they_came)
{
	append(0, 3);
	assert_int_equal(queue.waiting, 3);
	assert_starts(0, 3);
	assert_int_equal(queue.waiting, 0);
	append(3, 5);
	assert_int_equal(queue.waiting, 2);
	assert_int_equal(um_queue_pending(&queue), 5);
	assert_finishes(0, 3);
	assert_int_equal(um_queue_pending(&queue), 2);
	assert_starts(3, 5);
	assert_finishes(3, 5);
	assert_empty();
}

TEST(a_batch_has_its_limit)
{
	append(0, UM_BATCH_MAX + 2);
	assert_starts(0, UM_BATCH_MAX);
	assert_int_equal(queue.waiting, 2);
	assert_int_equal(um_queue_pending(&queue), UM_BATCH_MAX + 2);
	assert_finishes(0, UM_BATCH_MAX);
	assert_starts(UM_BATCH_MAX, UM_BATCH_MAX + 2);
	assert_finishes(UM_BATCH_MAX, UM_BATCH_MAX + 2);
	assert_empty();
}

/* While a batch is handed back, the next is under way, and more comes. */
TEST(a_finished_batch_stays_while_the_next_runs)
{
	struct um_batch finished;

	append(0, 5);
	ops[2].isolated = true;
	assert_starts(0, 2);
	um_queue_finish(&queue, &finished);
	assert_starts(2, 3);
	append(5, 6);
	assert_batch(&finished, 0, 2);
	assert_finishes(2, 3);
	assert_starts(3, 6);
}

TEST(an_isolated_operation_is_a_batch_of_its_own)
{
	append(0, 6);
	ops[0].isolated = true;
	ops[3].isolated = true;
	ops[4].isolated = true;
	assert_starts(0, 1);
	assert_finishes(0, 1);
	assert_starts(1, 3);
	assert_finishes(1, 3);
	assert_starts(3, 4);
	assert_finishes(3, 4);
	assert_starts(4, 5);
	assert_finishes(4, 5);
	assert_starts(5, 6);
	assert_finishes(5, 6);
	assert_empty();
}

TEST(put_back_to_the_head_in_its_order)
{
	append(0, 3);
	um_queue_start(&queue);
	append(3, 5);
	um_queue_put_back(&queue, false);
	assert_int_equal(queue.waiting, 5);
	assert_int_equal(um_queue_pending(&queue), 5);
	assert_null(um_queue_oldest(&queue));
	append(5, 6);
	assert_starts(0, 6);
}

TEST(two_batches_are_under_way_and_no_third)
{
	append(0, 2);
	assert_starts(0, 2);
	append(2, 4);
	assert_starts(2, 4);
	append(4, 6);
	assert_null(um_queue_start(&queue));
	assert_int_equal(um_queue_pending(&queue), 6);
	assert_batch(um_queue_oldest(&queue), 0, 2);
	assert_finishes(0, 2);
	assert_batch(um_queue_oldest(&queue), 2, 4);
	assert_starts(4, 6);
	assert_finishes(2, 4);
	assert_finishes(4, 6);
	assert_empty();
}

TEST(the_batch_behind_is_as_large_as_the_one_before_it)
{
	append(0, 3);
	assert_starts(0, 3);
	append(3, 5);
	assert_null(um_queue_start(&queue));
	append(5, 7);
	assert_starts(3, 7);
	append(7, 10);
	assert_finishes(0, 3);
	assert_null(um_queue_start(&queue));
	assert_finishes(3, 7);
	assert_starts(7, 10);
}

TEST(the_batch_behind_a_small_one_has_half_of_what_is_pending)
{
	append(0, 2);
	assert_starts(0, 2);
	append(2, 8);
	assert_starts(2, 6);
	append(8, 10);
	assert_finishes(0, 2);
	assert_starts(6, 10);
}

/* If the first batch is tried again, the second one has nothing of its rows. */
TEST(a_row_has_operations_in_one_batch_under_way)
{
	memcpy(ops[4].id, ops[1].id, sizeof(ops[4].id));
	append(0, 2);
	assert_starts(0, 2);
	append(2, 6);
	assert_starts(2, 4);
	assert_finishes(0, 2);
	assert_starts(4, 6);
	append(6, 8);
	memcpy(ops[6].id, ops[4].id, sizeof(ops[6].id));
	assert_finishes(2, 4);
	assert_null(um_queue_start(&queue));
	assert_finishes(4, 6);
	assert_starts(6, 8);
}

TEST(the_first_is_put_back_while_the_second_goes_on)
{
	append(0, 2);
	um_queue_start(&queue);
	append(2, 4);
	um_queue_start(&queue);
	append(4, 5);
	um_queue_put_back(&queue, true);
	assert_starts(0, 1);
	assert_finishes(2, 4);
	assert_starts(1, 2);
	assert_finishes(0, 1);
	assert_starts(4, 5);
}

TEST(all_are_put_back_in_their_order)
{
	append(0, 2);
	um_queue_start(&queue);
	append(2, 4);
	um_queue_start(&queue);
	append(4, 5);
	um_queue_put_all_back(&queue);
	assert_starts(0, 5);
}

TEST(expired_in_either_batch)
{
	append(0, 2);
	um_queue_start(&queue);
	append(2, 4);
	um_queue_start(&queue);
	append(4, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(um_queue_deadline(&queue),
			FIRST_DEADLINE + (int64_t)i);
		assert_ptr_equal(um_queue_take_expired(&queue,
					 FIRST_DEADLINE + (int64_t)i),
			&ops[i]);
	}
	assert_int_equal(um_queue_pending(&queue), 0);
	um_queue_put_all_back(&queue);
	assert_empty();
}

TEST(put_back_where_nothing_else_waits)
{
	append(0, 2);
	um_queue_start(&queue);
	um_queue_put_back(&queue, false);
	append(2, 3);
	assert_starts(0, 3);
}

TEST(put_back_to_be_isolated)
{
	append(0, 3);
	um_queue_start(&queue);
	append(3, 5);
	um_queue_put_back(&queue, true);
	for (size_t i = 0; i < 3; i++) {
		assert_starts(i, i + 1);
		/* It is tried again for another reason: it stays alone. */
		um_queue_put_back(&queue, false);
		assert_starts(i, i + 1);
		assert_finishes(i, i + 1);
	}
	assert_starts(3, 5);
}

/* Its place stays: what the server answers is counted by it. */
TEST(expired_while_it_is_under_way)
{
	struct um_batch batch;

	append(0, 3);
	um_queue_start(&queue);
	append(3, 4);
	assert_null(um_queue_take_expired(&queue, FIRST_DEADLINE - 1));
	assert_ptr_equal(um_queue_take_expired(&queue, FIRST_DEADLINE + 1),
		&ops[0]);
	assert_ptr_equal(um_queue_take_expired(&queue, FIRST_DEADLINE + 1),
		&ops[1]);
	assert_null(um_queue_take_expired(&queue, FIRST_DEADLINE + 1));
	assert_int_equal(um_queue_pending(&queue), 2);
	memset(&ops[0], 0xff, 2 * sizeof(ops[0])); /* their owner's again */
	um_queue_finish(&queue, &batch);
	assert_int_equal(batch.len, 3);
	assert_null(batch.ops[0]);
	assert_null(batch.ops[1]);
	assert_ptr_equal(batch.ops[2], &ops[2]);
	assert_int_equal(batch.kinds[0], UM_OP_COMPLETE);
	assert_int_equal(batch.kinds[1], UM_OP_OPEN);
	assert_starts(3, 4);
}

TEST(expired_is_not_put_back)
{
	append(0, 3);
	um_queue_start(&queue);
	append(3, 4);
	assert_ptr_equal(um_queue_take_expired(&queue, FIRST_DEADLINE),
		&ops[0]);
	um_queue_put_back(&queue, false);
	assert_int_equal(um_queue_pending(&queue), 3);
	assert_starts(1, 4);
}

TEST(expired_while_it_waits)
{
	append(0, 3);
	assert_null(um_queue_take_expired(&queue, FIRST_DEADLINE - 1));
	for (size_t i = 0; i < 3; i++)
		assert_ptr_equal(um_queue_take_expired(&queue,
					 FIRST_DEADLINE + 2),
			&ops[i]);
	assert_empty();
	append(3, 5);
	assert_starts(3, 5);
}

/* What is under way has waited longest, then what waits. */
TEST(expired_operations_come_out_oldest_first)
{
	append(0, 2);
	um_queue_start(&queue);
	append(2, 4);
	for (size_t i = 0; i < 4; i++)
		assert_ptr_equal(um_queue_take_expired(&queue, INT64_MAX),
			&ops[i]);
	assert_null(um_queue_take_expired(&queue, INT64_MAX));
	assert_int_equal(um_queue_pending(&queue), 0);
	assert_int_equal(um_queue_deadline(&queue), -1);
	um_queue_put_back(&queue, true);
	assert_empty();
}

TEST(the_next_deadline)
{
	append(0, 2);
	assert_int_equal(um_queue_deadline(&queue), FIRST_DEADLINE);
	um_queue_start(&queue);
	append(2, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(um_queue_deadline(&queue), FIRST_DEADLINE + i);
		assert_non_null(
			um_queue_take_expired(&queue, FIRST_DEADLINE + i));
	}
	assert_int_equal(um_queue_deadline(&queue), -1);
}

/* ops[from] to ops[to - 1] are asked about. */
static void
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

TEST(a_row_that_is_held_waits_and_the_others_do_not)
{
	append(0, 3);
	assert_starts(0, 3);
	um_queue_set_aside(&queue, 500);
	assert_null(um_queue_start(&queue));
	assert_int_equal(um_queue_pending(&queue), 3);
	assert_int_equal(um_queue_next_look(&queue), 500);

	assert_looks(500, 0, 3);
	ops[2].is_held = true;
	um_queue_take_free(&queue, 501);
	assert_starts(0, 2);
	assert_int_equal(um_queue_next_look(&queue), 501 + UM_QUEUE_LOOK_MS);
	assert_null(um_queue_look(&queue, 500 + UM_QUEUE_LOOK_MS));

	/* One more on that row stays behind it. */
	memcpy(ops[3].id, ops[2].id, sizeof(ops[3].id));
	append(3, 4);
	assert_finishes(0, 2);
	assert_null(um_queue_start(&queue));
	assert_looks(501 + UM_QUEUE_LOOK_MS, 2, 4);
	ops[2].is_held = false;
	um_queue_take_free(&queue, 700);
	assert_starts(2, 4);
	assert_finishes(2, 4);
	assert_empty();
}

/*
 * One transaction finds out that rows are held, however many and however long:
 * after it, each look is a statement that does not wait, and the others need as
 * many transactions as without them.
 */
TEST(rows_that_are_held_cost_the_others_one_transaction)
{
	struct um_op others[30];
	struct um_batch batch;

	append(0, 17);
	for (size_t i = 1; i < 17; i++)
		ops[i].is_held = true;
	assert_starts(0, 17);
	um_queue_set_aside(&queue, 0);
	assert_looks(0, 0, 17);
	um_queue_take_free(&queue, 0);
	assert_starts(0, 1);
	assert_finishes(0, 1);
	for (size_t i = 0; i < LENGTH(others); i++) {
		int64_t now = um_queue_next_look(&queue);

		assert_int_equal(now, (int64_t)(i + 1) * UM_QUEUE_LOOK_MS);
		others[i] = (struct um_op){ .id = { (uint8_t)i, 0, 2 },
			.deadline = 2000 + now };
		um_queue_append(&queue, &others[i]);
		assert_non_null(um_queue_start(&queue));
		assert_null(um_queue_start(&queue));
		um_queue_finish(&queue, &batch);
		assert_int_equal(batch.len, 1);
		assert_ptr_equal(batch.ops[0], &others[i]);
		assert_null(um_queue_look(&queue, now - 1));
		assert_looks(now, 1, 17);
		um_queue_take_free(&queue, now);
	}
	assert_int_equal(um_queue_pending(&queue), 16);
}

/* More than one look asks about, on one row: all of them, in their order. */
TEST(what_waits_behind_a_row_that_is_freed_is_taken_with_it)
{
	for (size_t i = 0; i < UM_BATCH_MAX + 44; i++)
		memcpy(ops[i].id, ops[0].id, sizeof(ops[i].id));
	append(0, UM_BATCH_MAX);
	assert_starts(0, UM_BATCH_MAX);
	um_queue_set_aside(&queue, 500);
	append(UM_BATCH_MAX, UM_BATCH_MAX + 44);
	assert_null(um_queue_start(&queue));
	assert_looks(500, 0, UM_BATCH_MAX);
	um_queue_take_free(&queue, 501);
	assert_int_equal(queue.held_len, 0);
	assert_starts(0, UM_BATCH_MAX);
	assert_finishes(0, UM_BATCH_MAX);
	assert_starts(UM_BATCH_MAX, UM_BATCH_MAX + 44);
}

/* As many on one row, which stays held: asked about in the order of the row. */
static void
set_aside_of_one_row(size_t len)
{
	for (size_t i = 0; i < len; i++)
		memcpy(ops[i].id, ops[0].id, sizeof(ops[i].id));
	append(0, UM_BATCH_MAX);
	assert_starts(0, UM_BATCH_MAX);
	um_queue_set_aside(&queue, 0);
	append(UM_BATCH_MAX, len);
	assert_null(um_queue_start(&queue));
	assert_looks(0, 0, UM_BATCH_MAX);
}

TEST(more_than_a_look_asks_about_stay_in_the_order_of_their_row)
{
	const size_t len = UM_BATCH_MAX + 44;

	set_aside_of_one_row(len);
	for (size_t i = 0; i < len; i++)
		ops[i].is_held = true;
	um_queue_take_free(&queue, 0);
	assert_int_equal(queue.held_len, len);
	assert_looks(UM_QUEUE_LOOK_MS, 0, UM_BATCH_MAX);
	for (size_t i = 0; i < len; i++)
		ops[i].is_held = false;
	um_queue_take_free(&queue, 200);
	assert_starts(0, UM_BATCH_MAX);
	assert_finishes(0, UM_BATCH_MAX);
	assert_starts(UM_BATCH_MAX, len);
}

TEST(a_look_that_fails_leaves_the_order_of_a_row)
{
	const size_t len = UM_BATCH_MAX + 44;

	for (int how = 0; how < 3; how++) {
		row_begin("%d", how);
		set_up(NULL);
		set_aside_of_one_row(len);
		if (how == 0)
			um_queue_put_all_back(&queue);
		else if (how == 1)
			um_queue_put_back(&queue, false);
		else
			um_queue_set_aside(&queue, 0);
		if (how == 2) {
			assert_looks(UM_QUEUE_LOOK_MS, 0, UM_BATCH_MAX);
			for (size_t i = 0; i < len; i++)
				ops[i].is_held = false;
			um_queue_take_free(&queue, 200);
		}
		assert_starts(0, UM_BATCH_MAX);
		assert_finishes(0, UM_BATCH_MAX);
		assert_starts(UM_BATCH_MAX, len);
	}
}

/* However many are held: none of the others has to wait for their deadlines. */
TEST(each_that_is_set_aside_has_its_turn_to_be_asked_about)
{
	append(0, LENGTH(ops));
	assert_starts(0, UM_BATCH_MAX);
	assert_starts(UM_BATCH_MAX, LENGTH(ops));
	um_queue_set_aside(&queue, 0);
	um_queue_set_aside(&queue, 0);
	assert_looks(0, 0, UM_BATCH_MAX);
	for (size_t i = 0; i < UM_BATCH_MAX; i++)
		ops[i].is_held = true;
	um_queue_take_free(&queue, 0);
	assert_looks(UM_QUEUE_LOOK_MS, UM_BATCH_MAX, LENGTH(ops));
	um_queue_take_free(&queue, 200);
	assert_starts(UM_BATCH_MAX, LENGTH(ops));
}

/* Asked about in another order than that in which they came. */
TEST(expired_while_its_row_is_asked_about)
{
	append(0, 1);
	assert_starts(0, 1);
	um_queue_set_aside(&queue, 0);
	append(1, 2);
	assert_starts(1, 2);
	assert_looks(0, 0, 1);
	um_queue_set_aside(&queue, 0);
	ops[0].is_held = true;
	um_queue_take_free(&queue, 0);
	assert_non_null(um_queue_look(&queue, UM_QUEUE_LOOK_MS));
	assert_int_equal(um_queue_deadline(&queue), ops[0].deadline);
	assert_ptr_equal(um_queue_take_expired(&queue, ops[0].deadline),
		&ops[0]);
	assert_int_equal(um_queue_deadline(&queue), ops[1].deadline);
	um_queue_take_free(&queue, 200);
	assert_starts(1, 2);
}

TEST(put_back_behind_those_that_came_before)
{
	append(0, 2);
	um_queue_start(&queue);
	append(2, 4);
	um_queue_start(&queue);
	append(4, 5);
	um_queue_put_back(&queue, true);
	um_queue_put_back(&queue, false);
	for (size_t i = 0; i < 4; i++)
		assert_ptr_equal(um_queue_take_expired(&queue, ops[i].deadline),
			&ops[i]);
	assert_starts(4, 5);
}

TEST(operations_that_name_no_row_do_not_wait_for_each_other)
{
	for (size_t i = 0; i < 3; i++)
		memset(ops[i].id, 0, sizeof(ops[i].id));
	append(0, 1);
	assert_starts(0, 1);
	um_queue_set_aside(&queue, 500);
	append(1, 3);
	assert_starts(1, 3);
}

/* Who comes again for a row that is held makes nobody wait for its lock. */
TEST(a_row_that_was_held_is_looked_at_first)
{
	append(0, 2);
	assert_starts(0, 2);
	um_queue_set_aside(&queue, 0);
	assert_looks(0, 0, 2);
	ops[0].is_held = true;
	um_queue_take_free(&queue, 0);
	assert_starts(1, 2);
	assert_finishes(1, 2);
	assert_ptr_equal(um_queue_take_expired(&queue, ops[0].deadline),
		&ops[0]);
	assert_empty();

	ops[0].is_held = false;
	ops[0].was_aside = false;
	append(0, 1);
	append(2, 3);
	assert_starts(2, 3);
	assert_finishes(2, 3);
	assert_looks(5000, 0, 1);
	um_queue_take_free(&queue, 5000);
	assert_starts(0, 1);
	assert_finishes(0, 1);

	append(0, 1);
	assert_starts(0, 1);
	assert_finishes(0, 1);
}

/* The oldest of them is forgotten: the next to come for it waits for its lock. */
TEST(as_many_rows_are_remembered_as_there_are_places)
{
	const size_t len = UM_HELD_ROWS_MAX + 1;

	append(0, len);
	assert_starts(0, len);
	um_queue_set_aside(&queue, 0);
	for (size_t i = 0; i < len; i++)
		ops[i].is_held = true;
	assert_looks(0, 0, len);
	um_queue_take_free(&queue, 0);
	while (um_queue_take_expired(&queue, INT64_MAX) != NULL)
		;
	append(0, 2);
	assert_starts(0, 1);
	assert_finishes(0, 1);
	assert_int_equal(queue.held_len, 1);
}

/* It waits for another lock than its row's: alone, and not all the time. */
TEST(what_is_not_held_and_waits_for_a_lock_again_is_isolated)
{
	append(0, 2);
	assert_starts(0, 2);
	um_queue_set_aside(&queue, 500);
	assert_looks(500, 0, 2);
	um_queue_take_free(&queue, 500);
	assert_starts(0, 2);
	um_queue_set_aside(&queue, 520);
	assert_null(um_queue_look(&queue, 520));
	assert_looks(520 + UM_QUEUE_LOOK_MS, 0, 2);
	um_queue_take_free(&queue, 620);
	assert_starts(0, 1);
	assert_starts(1, 2);
}

TEST(expired_while_it_is_set_aside)
{
	append(0, 3);
	assert_starts(0, 3);
	um_queue_set_aside(&queue, 500);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(um_queue_deadline(&queue), ops[i].deadline);
		assert_ptr_equal(um_queue_take_expired(&queue, ops[i].deadline),
			&ops[i]);
	}
	assert_int_equal(um_queue_next_look(&queue), -1);
	assert_empty();
	append(3, 4);
	assert_starts(3, 4);
}

#define ROWS 40

/* What became of the operations, of which each ROWS-th is on the same row. */
static struct {
	int times[LENGTH(ops)];         /* how often each was handed back */
	const struct um_op *last[ROWS]; /* carried out of each row */
	size_t appended;
	size_t handed_back;
} history;

static void
hand_back(const struct um_op *op)
{
	if (op == NULL)
		return;
	history.times[op - ops]++;
	history.handed_back++;
}

static void
carry_out(const struct um_op *op)
{
	const struct um_op **last;

	if (op == NULL)
		return;
	last = &history.last[(size_t)(op - ops) % ROWS];
	assert_true(*last < op);
	*last = op;
	hand_back(op);
}

/* The oldest batch ends, in one of its ways. */
static void
end_oldest(uint32_t random, int now)
{
	const struct um_batch *oldest = um_queue_oldest(&queue);
	struct um_batch batch;

	if (oldest == NULL)
		return;
	if (oldest->kinds[0] == UM_OP_HELD) {
		for (size_t i = 0; i < LENGTH(ops); i++)
			ops[i].is_held = (random >> (i % ROWS % 16) & 1) != 0;
		um_queue_take_free(&queue, now);
	} else if ((random >> 26 & 3) == 0) {
		um_queue_set_aside(&queue, now);
	} else {
		um_queue_finish(&queue, &batch);
		for (size_t i = 0; i < batch.len; i++)
			carry_out(batch.ops[i]);
	}
}

static void
put_back(uint32_t random)
{
	if ((random >> 27 & 1) != 0)
		um_queue_put_all_back(&queue);
	else if (um_queue_oldest(&queue) != NULL)
		um_queue_put_back(&queue, (random >> 28 & 1) != 0);
}

/* Whatever happens to them, in whatever order. */
TEST(each_is_handed_back_once)
{
	uint32_t random = 1;

	for (size_t i = 0; i < LENGTH(ops); i++) {
		ops[i].id[0] = ops[i].id[1] = (uint8_t)(i % ROWS);
		/* Several come in each millisecond. */
		ops[i].deadline = FIRST_DEADLINE + (int64_t)i / 8;
	}
	for (int i = 0; i < 100000 && history.handed_back < LENGTH(ops); i++) {
		random = random * 1664525 + 1013904223;
		switch (random >> 29) {
		case 0:
		case 1:
			if (history.appended < LENGTH(ops))
				um_queue_append(&queue,
					&ops[history.appended++]);
			break;
		case 2:
		case 3:
			um_queue_start(&queue);
			break;
		case 4:
			put_back(random);
			um_queue_look(&queue, i);
			break;
		case 5:
		case 6:
			end_oldest(random, i);
			break;
		default:
			hand_back(um_queue_take_expired(&queue,
				um_queue_deadline(&queue)));
		}
		assert_int_equal(um_queue_pending(&queue),
			history.appended - history.handed_back);
	}
	for (size_t i = 0; i < LENGTH(ops); i++)
		assert_int_equal(history.times[i], 1);
	assert_empty();
}

#define QUEUE_TEST(name) cmocka_unit_test_setup(name, set_up)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		QUEUE_TEST(an_empty_queue),
		QUEUE_TEST(in_the_order_in_which_they_came),
		QUEUE_TEST(a_row_that_is_held_waits_and_the_others_do_not),
		QUEUE_TEST(rows_that_are_held_cost_the_others_one_transaction),
		QUEUE_TEST(a_row_that_was_held_is_looked_at_first),
		QUEUE_TEST(as_many_rows_are_remembered_as_there_are_places),
		QUEUE_TEST(
			what_is_not_held_and_waits_for_a_lock_again_is_isolated),
		QUEUE_TEST(expired_while_it_is_set_aside),
		QUEUE_TEST(
			what_waits_behind_a_row_that_is_freed_is_taken_with_it),
		QUEUE_TEST(
			more_than_a_look_asks_about_stay_in_the_order_of_their_row),
		QUEUE_TEST(a_look_that_fails_leaves_the_order_of_a_row),
		QUEUE_TEST(
			each_that_is_set_aside_has_its_turn_to_be_asked_about),
		QUEUE_TEST(expired_while_its_row_is_asked_about),
		QUEUE_TEST(
			operations_that_name_no_row_do_not_wait_for_each_other),
		QUEUE_TEST(a_batch_has_its_limit),
		QUEUE_TEST(a_finished_batch_stays_while_the_next_runs),
		QUEUE_TEST(an_isolated_operation_is_a_batch_of_its_own),
		QUEUE_TEST(put_back_to_the_head_in_its_order),
		QUEUE_TEST(two_batches_are_under_way_and_no_third),
		QUEUE_TEST(the_batch_behind_is_as_large_as_the_one_before_it),
		QUEUE_TEST(
			the_batch_behind_a_small_one_has_half_of_what_is_pending),
		QUEUE_TEST(a_row_has_operations_in_one_batch_under_way),
		QUEUE_TEST(the_first_is_put_back_while_the_second_goes_on),
		QUEUE_TEST(all_are_put_back_in_their_order),
		QUEUE_TEST(expired_in_either_batch),
		QUEUE_TEST(put_back_where_nothing_else_waits),
		QUEUE_TEST(put_back_behind_those_that_came_before),
		QUEUE_TEST(put_back_to_be_isolated),
		QUEUE_TEST(expired_while_it_is_under_way),
		QUEUE_TEST(expired_is_not_put_back),
		QUEUE_TEST(expired_while_it_waits),
		QUEUE_TEST(expired_operations_come_out_oldest_first),
		QUEUE_TEST(the_next_deadline),
		QUEUE_TEST(each_is_handed_back_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
