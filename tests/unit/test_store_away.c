/* SPDX-License-Identifier: MIT */
/* The store when PostgreSQL is slow, locked, gone, and back. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

static struct rig rig;

static int
close_rig(void **state)
{
	(void)state;
	rig_close(&rig);
	return 0;
}

static void
free_all(struct um_op *ops, size_t len)
{
	for (size_t i = 0; i < len; i++)
		um_op_free(&ops[i]);
}

/* Opens the rig; the connection is there, and idle. */
static void
connect_first(void)
{
	struct um_op op;

	rig_open(&rig, NULL);
	row_make(&op, UM_OP_LOOK_UP);
	rig_submit(&rig, &op);
	rig_run(&rig, 1);
	um_op_free(&op);
	rig.done_len = 0;
	rig.batches_len = 0;
}

/* Another session that holds the row's lock until it is freed. */
static PGconn *
lock_row(const struct um_op *op)
{
	PGconn *conn = sql_connect();
	char uuid[UM_UUID_TEXT_LEN + 1];

	um_uuid_format(uuid, op->id);
	sql_do(conn, "BEGIN");
	sql_do(conn,
		"SELECT 1 FROM urlmode.elicitation WHERE id = '%s'"
		" FOR UPDATE",
		uuid);
	return conn;
}

/* Until the rig's session waits for a lock. */
static void
wait_for_lock(void)
{
	for (int i = 0; i < 500; i++) {
		char *waits = sql(rig_admin,
			"SELECT 1 FROM pg_stat_activity"
			" WHERE application_name = '" RIG_NAME "'"
			" AND wait_event_type = 'Lock'");

		if (waits != NULL) {
			free(waits);
			return;
		}
		rig_run(&rig, 0);
		usleep(10000);
	}
	fail_msg("nobody waits for the lock");
}

static void
terminate(void)
{
	char *done = sql(rig_admin,
		"SELECT bool_and(pg_terminate_backend(pid, 5000))"
		" FROM pg_stat_activity"
		" WHERE application_name = '" RIG_NAME "'");

	assert_non_null(done);
	assert_string_equal(done, "t");
	free(done);
}

TEST(a_locked_row_waits_alone)
{
	struct um_op ops[9];
	struct um_op again;
	PGconn *locker;

	connect_first();
	for (size_t i = 0; i < LENGTH(ops); i++)
		row_make_complete(&ops[i], "accept", "");
	locker = lock_row(&ops[4]);
	for (size_t i = 0; i < LENGTH(ops); i++)
		rig_submit(&rig, &ops[i]);
	rig_run(&rig, LENGTH(ops));
	for (size_t i = 0; i < LENGTH(ops); i++)
		assert_int_equal(ops[i].outcome,
			i == 4 ? UM_OUTCOME_UNAVAILABLE : UM_OUTCOME_COMPLETED);
	assert_row_text(&ops[4], "status", "pending");

	/* Nothing was consumed: the same request completes later. */
	PQfinish(locker);
	row_again(&again, &ops[4]);
	rig_submit(&rig, &again);
	rig_run(&rig, LENGTH(ops) + 1);
	assert_int_equal(again.outcome, UM_OUTCOME_COMPLETED);
	free_all(ops, LENGTH(ops));
	um_op_free(&again);
}

TEST(a_session_that_ends_in_the_middle)
{
	struct um_op ops[3];
	PGconn *locker;

	connect_first();
	for (size_t i = 0; i < LENGTH(ops); i++)
		row_make_complete(&ops[i], "accept", "");
	locker = lock_row(&ops[1]);
	for (size_t i = 0; i < LENGTH(ops); i++)
		rig_submit(&rig, &ops[i]);
	rig_run(&rig, 0);
	wait_for_lock();
	terminate();
	PQfinish(locker);
	rig_run(&rig, LENGTH(ops));
	for (size_t i = 0; i < LENGTH(ops); i++) {
		assert_int_equal(ops[i].outcome, UM_OUTCOME_COMPLETED);
		assert_row_text(&ops[i], "status", "completed");
	}
	assert_true(rig.troubles.len != 0);
	free_all(ops, LENGTH(ops));
}

TEST(a_session_that_ends_while_idle)
{
	struct um_op op;

	connect_first();
	row_make_complete(&op, "accept", "");
	terminate();
	rig_submit(&rig, &op);
	rig_run(&rig, 1);
	assert_int_equal(op.outcome, UM_OUTCOME_COMPLETED);
	um_op_free(&op);
}

/* Seen by the socket alone: nobody has to ask for something first. */
TEST(comes_back_by_itself)
{
	unsigned before, after;
	bool want_write;

	connect_first();
	um_store_watch(rig.store, &want_write, &before);
	terminate();
	for (int i = 0; rig.troubles.len == 0 && i < 1000; i++)
		rig_run_ms(&rig, 10);
	assert_true(rig.troubles.len != 0);
	rig_run_until_idle(&rig);
	um_store_watch(rig.store, &want_write, &after);
	assert_int_not_equal(before, after);
}

/* 40001: the same again. 53100: a new session, and then the same again. */
TEST(what_is_no_rows_fault_is_tried_again)
{
	static const char *const reasons[] = { RIG_FAILS_ONCE_40001,
		RIG_FAILS_ONCE_53100 };

	for (size_t i = 0; i < LENGTH(reasons); i++) {
		struct um_op ops[2];

		connect_first();
		row_make_complete(&ops[0], "accept", reasons[i]);
		row_make_complete(&ops[1], "accept", "");
		rig_submit(&rig, &ops[0]);
		rig_submit(&rig, &ops[1]);
		rig_run(&rig, 2);
		assert_int_equal(ops[0].outcome, UM_OUTCOME_COMPLETED);
		assert_int_equal(ops[1].outcome, UM_OUTCOME_COMPLETED);
		assert_true(str_has(um_buf_str(&rig.troubles),
			um_str(reasons[i] + strlen("unit_"))));
		free_all(ops, LENGTH(ops));
		if (i + 1 < LENGTH(reasons))
			rig_close(&rig);
	}
}

/* A server that says nothing: after the wait the operation is its owner's
 * again, who may free it; what it came to is read, and goes nowhere. */
TEST(a_silent_server)
{
	struct um_op *op = calloc(1, sizeof(*op));
	struct um_op key, next;
	PGconn *locker;

	assert_non_null(op);
	rig.now = 0;
	connect_first();
	rig.now = 1000000;
	row_make_complete(op, "accept", "");
	row_again(&key, op);
	locker = lock_row(op);
	rig_submit(&rig, op);
	rig_run(&rig, 0);
	wait_for_lock();
	rig.now += UM_STORE_WAIT_MS - 1;
	um_store_run(rig.store, false, rig.now);
	assert_int_equal(rig.done_len, 0);
	assert_int_equal(um_store_deadline(rig.store), rig.now + 1);
	rig.now++;
	um_store_run(rig.store, false, rig.now);
	assert_int_equal(rig.done_len, 1);
	assert_int_equal(op->outcome, UM_OUTCOME_UNAVAILABLE);
	assert_int_equal(um_store_pending(rig.store), 0);
	um_op_free(op);
	free(op);

	PQfinish(locker);
	rig_run_ms(&rig, 300);
	assert_int_equal(rig.done_len, 1);
	assert_row_text(&key, "status", "completed");
	row_make_complete(&next, "accept", "");
	rig_submit(&rig, &next);
	rig_run(&rig, 2);
	assert_int_equal(next.outcome, UM_OUTCOME_COMPLETED);
	um_op_free(&next);
}

/* Given up after UM_STORE_BATCH_MS: what waits behind it goes elsewhere. */
TEST(a_server_that_stays_silent_is_given_up)
{
	struct um_op stuck, waiting;
	PGconn *locker;

	rig.now = 0;
	connect_first();
	rig.now = 1000000;
	row_make_complete(&stuck, "accept", "");
	row_make_complete(&waiting, "accept", "");
	locker = lock_row(&stuck);
	rig_submit(&rig, &stuck);
	rig_run(&rig, 0);
	wait_for_lock();
	rig.now += UM_STORE_BATCH_MS - 1;
	rig_submit(&rig, &waiting);
	um_store_run(rig.store, false, rig.now);
	assert_int_equal(rig.done_len, 1);
	assert_int_equal(stuck.outcome, UM_OUTCOME_UNAVAILABLE);
	rig.now++;
	um_store_run(rig.store, false, rig.now);
	assert_int_equal(rig.done_len, 1);
	assert_true(
		str_has(um_buf_str(&rig.troubles), STR("no answer in time")));
	rig.now += UM_STORE_RETRY_MIN_MS;
	rig_run(&rig, 2);
	assert_int_equal(waiting.outcome, UM_OUTCOME_COMPLETED);
	PQfinish(locker);
	um_op_free(&stuck);
	um_op_free(&waiting);
}

#define STORE_TEST(name) cmocka_unit_test_teardown(name, close_rig)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		STORE_TEST(a_locked_row_waits_alone),
		STORE_TEST(a_session_that_ends_in_the_middle),
		STORE_TEST(a_session_that_ends_while_idle),
		STORE_TEST(comes_back_by_itself),
		STORE_TEST(what_is_no_rows_fault_is_tried_again),
		STORE_TEST(a_silent_server),
		STORE_TEST(a_server_that_stays_silent_is_given_up),
	};

	return cmocka_run_group_tests(tests, rig_begin, rig_end);
}
