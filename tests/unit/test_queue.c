/* SPDX-License-Identifier: MIT */
/* What waits and what is under way, without a database. */
#include <string.h>

#include "queue_fixture.h"
#include "support.h"

TEST(an_empty_queue)
{
	assert_empty();
	um_queue_put_all_back(&queue);
	assert_empty();
}

TEST(in_the_order_in_which_they_came)
{
	append(0, 3);
	assert_int_equal(queue.waiting.len, 3);
	assert_starts(0, 3);
	assert_int_equal(queue.waiting.len, 0);
	append(3, 5);
	assert_int_equal(queue.waiting.len, 2);
	assert_int_equal(pending(), 5);
	assert_finishes(0, 3);
	assert_int_equal(pending(), 2);
	assert_starts(3, 5);
	assert_finishes(3, 5);
	assert_empty();
}

TEST(a_batch_has_its_limit)
{
	append(0, UM_BATCH_MAX + 2);
	assert_starts(0, UM_BATCH_MAX);
	assert_int_equal(queue.waiting.len, 2);
	assert_int_equal(pending(), UM_BATCH_MAX + 2);
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

/* What the database returns is held until the batch is over. */
TEST(a_batch_reads_no_more_than_there_is_room_for)
{
	append(0, 8);
	ops[1].reads = 64;
	ops[2].reads = UM_BATCH_MAX - 65;
	ops[4].reads = UM_BATCH_MAX;
	ops[6].reads = UM_BATCH_MAX;
	assert_starts(0, 3);
	assert_finishes(0, 3);
	assert_starts(3, 4);
	assert_finishes(3, 4);
	assert_starts(4, 5);
	assert_finishes(4, 5);
	assert_starts(5, 6);
	assert_finishes(5, 6);
	assert_starts(6, 7);
	assert_finishes(6, 7);
	assert_starts(7, 8);
	assert_finishes(7, 8);
	assert_empty();
}

TEST(put_back_to_the_head_in_its_order)
{
	append(0, 3);
	um_queue_start(&queue);
	append(3, 5);
	um_queue_put_back(&queue, false);
	assert_int_equal(queue.waiting.len, 5);
	assert_int_equal(pending(), 5);
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
	assert_int_equal(pending(), 6);
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
	assert_int_equal(pending(), 0);
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
	assert_int_equal(pending(), 2);
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
	assert_int_equal(pending(), 3);
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
	assert_int_equal(pending(), 0);
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

#define QUEUE_TEST(name) cmocka_unit_test_setup(name, queue_set_up)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		QUEUE_TEST(an_empty_queue),
		QUEUE_TEST(in_the_order_in_which_they_came),
		QUEUE_TEST(a_batch_has_its_limit),
		QUEUE_TEST(a_finished_batch_stays_while_the_next_runs),
		QUEUE_TEST(an_isolated_operation_is_a_batch_of_its_own),
		QUEUE_TEST(a_batch_reads_no_more_than_there_is_room_for),
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
		QUEUE_TEST(put_back_to_be_isolated),
		QUEUE_TEST(expired_while_it_is_under_way),
		QUEUE_TEST(expired_is_not_put_back),
		QUEUE_TEST(expired_while_it_waits),
		QUEUE_TEST(expired_operations_come_out_oldest_first),
		QUEUE_TEST(the_next_deadline),
		QUEUE_TEST(put_back_behind_those_that_came_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
