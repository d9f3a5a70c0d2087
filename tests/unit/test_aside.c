/* SPDX-License-Identifier: MIT */
/* Operations that are set aside, as their queue has them, without a database. */
#include <string.h>

#include "queue_fixture.h"
#include "support.h"

/* The answer to a look: ops[from] to ops[to - 1] are held. */
static void
set_held(size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		ops[i].is_held = true;
}

TEST(a_row_that_is_held_waits_and_the_others_do_not)
{
	append(0, 3);
	assert_starts(0, 3);
	um_queue_set_aside(&queue, 500);
	assert_null(um_queue_start(&queue));
	assert_int_equal(pending(), 3);
	assert_int_equal(um_queue_next_look(&queue), 500);

	assert_looks(500, 0, 3);
	ops[2].is_held = true;
	um_queue_take_free(&queue, 501);
	assert_starts(0, 2);
	assert_int_equal(um_queue_next_look(&queue), 501 + UM_ASIDE_LOOK_MS);
	assert_null(um_queue_look(&queue, 500 + UM_ASIDE_LOOK_MS));

	/* One more on that row stays behind it. */
	memcpy(ops[3].id, ops[2].id, sizeof(ops[3].id));
	append(3, 4);
	assert_finishes(0, 2);
	assert_null(um_queue_start(&queue));
	assert_looks(501 + UM_ASIDE_LOOK_MS, 2, 4);
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
	assert_starts(0, 17);
	um_queue_set_aside(&queue, 0);
	assert_looks(0, 0, 17);
	set_held(1, 17);
	um_queue_take_free(&queue, 0);
	assert_starts(0, 1);
	assert_finishes(0, 1);
	for (size_t i = 0; i < LENGTH(others); i++) {
		int64_t now = um_queue_next_look(&queue);

		assert_int_equal(now, (int64_t)(i + 1) * UM_ASIDE_LOOK_MS);
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
		set_held(1, 17);
		um_queue_take_free(&queue, now);
	}
	assert_int_equal(pending(), 16);
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
	assert_looks(0, 0, len);
	set_held(0, len);
	um_queue_take_free(&queue, 0);
	while (um_queue_take_expired(&queue, INT64_MAX) != NULL)
		;
	append(0, 2);
	assert_starts(0, 1);
	assert_finishes(0, 1);
	assert_int_equal(queue.aside.ops.len, 1);
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
	assert_looks(520 + UM_ASIDE_LOOK_MS, 0, 2);
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

#define OF_ONE_ROW (UM_BATCH_MAX + 44) /* more than a look asks about */

static void
look_at_one_row(void)
{
	for (size_t i = 0; i < OF_ONE_ROW; i++)
		memcpy(ops[i].id, ops[0].id, sizeof(ops[i].id));
	append(0, UM_BATCH_MAX);
	assert_starts(0, UM_BATCH_MAX);
	um_queue_set_aside(&queue, 0);
	append(UM_BATCH_MAX, OF_ONE_ROW);
	assert_null(um_queue_start(&queue));
	assert_looks(0, 0, UM_BATCH_MAX);
}

static void
assert_one_row_starts(void)
{
	assert_starts(0, UM_BATCH_MAX);
	assert_finishes(0, UM_BATCH_MAX);
	assert_starts(UM_BATCH_MAX, OF_ONE_ROW);
}

TEST(what_waits_behind_a_row_that_is_freed_is_taken_with_it)
{
	look_at_one_row();
	um_queue_take_free(&queue, 0);
	assert_int_equal(queue.aside.ops.len, 0);
	assert_one_row_starts();
}

TEST(more_than_a_look_asks_about_stay_in_the_order_of_their_row)
{
	look_at_one_row();
	set_held(0, UM_BATCH_MAX);
	um_queue_take_free(&queue, 0);
	assert_int_equal(queue.aside.ops.len, OF_ONE_ROW);
	assert_looks(UM_ASIDE_LOOK_MS, 0, UM_BATCH_MAX);
	um_queue_take_free(&queue, 200);
	assert_one_row_starts();
}

TEST(a_look_that_fails_leaves_the_order_of_a_row)
{
	for (int how = 0; how < 3; how++) {
		row_begin("%d", how);
		queue_set_up(NULL);
		look_at_one_row();
		if (how == 0) {
			um_queue_put_all_back(&queue);
		} else if (how == 1) {
			um_queue_put_back(&queue, false);
		} else {
			um_queue_set_aside(&queue, 0);
			assert_looks(UM_ASIDE_LOOK_MS, 0, UM_BATCH_MAX);
			um_queue_take_free(&queue, 200);
		}
		assert_one_row_starts();
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
	set_held(0, UM_BATCH_MAX);
	um_queue_take_free(&queue, 0);
	assert_looks(UM_ASIDE_LOOK_MS, UM_BATCH_MAX, LENGTH(ops));
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
	assert_non_null(um_queue_look(&queue, UM_ASIDE_LOOK_MS));
	assert_int_equal(um_queue_deadline(&queue), ops[0].deadline);
	assert_ptr_equal(um_queue_take_expired(&queue, ops[0].deadline),
		&ops[0]);
	assert_int_equal(um_queue_deadline(&queue), ops[1].deadline);
	um_queue_take_free(&queue, 200);
	assert_starts(1, 2);
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
		assert_int_equal(pending(),
			history.appended - history.handed_back);
	}
	for (size_t i = 0; i < LENGTH(ops); i++)
		assert_int_equal(history.times[i], 1);
	assert_empty();
}

#define QUEUE_TEST(name) cmocka_unit_test_setup(name, queue_set_up)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
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
		QUEUE_TEST(each_is_handed_back_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
