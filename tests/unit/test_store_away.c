/* SPDX-License-Identifier: MIT */
/* The store when PostgreSQL is slow, locked, gone, and back. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "postgres/queue.h"
#include "store_fixture.h"

static struct store_fixture fixture;

/* Opens the fixture; the connection is there, and idle. */
static void
connect_first(void)
{
	struct um_op op;

	store_fixture_open(&fixture, NULL);
	row_make(&op, UM_OP_LOOK_UP);
	store_fixture_submit(&fixture, &op);
	store_fixture_run(&fixture, 1);
	um_op_free(&op);
	fixture.done_len = 0;
	fixture.batches_len = 0;
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

/* Until the fixture's session waits for a lock. */
static void
wait_for_lock(void)
{
	for (int i = 0; i < 500; i++) {
		char *waits = sql(admin_db,
			"SELECT 1 FROM pg_stat_activity"
			" WHERE application_name = '" FIXTURE_NAME "'"
			" AND wait_event_type = 'Lock'");

		if (waits != NULL) {
			free(waits);
			return;
		}
		store_fixture_run(&fixture, 0);
		usleep(10000);
	}
	fail_msg("nobody waits for the lock");
}

/* How long completing waits for a lock; 20 ms in the product. */
static void
set_lock_timeout(const char *time)
{
	sql_do(admin_db,
		"ALTER FUNCTION urlmode.complete SET lock_timeout = '%s'",
		time);
}

static void
terminate(void)
{
	char *done = sql(admin_db,
		"SELECT bool_and(pg_terminate_backend(pid, 5000))"
		" FROM pg_stat_activity"
		" WHERE application_name = '" FIXTURE_NAME "'");

	assert_non_null(done);
	assert_string_equal(done, "t");
	free(done);
}

TEST(a_locked_row_does_not_delay_others)
{
	struct um_op ops[9];
	struct um_op again;
	PGconn *locker;

	connect_first();
	for (size_t i = 0; i < LENGTH(ops); i++)
		row_make_complete(&ops[i], "accept", "");
	locker = lock_row(&ops[4]);
	for (size_t i = 0; i < LENGTH(ops); i++)
		store_fixture_submit(&fixture, &ops[i]);
	store_fixture_run(&fixture, LENGTH(ops));
	for (size_t i = 0; i < LENGTH(ops); i++)
		assert_outcome(&ops[i], i == 4 ? "unavailable" : "completed");
	assert_row_text(&ops[4], "status", "pending");

	/* Nothing was consumed: the same request completes later. */
	PQfinish(locker);
	row_again(&again, &ops[4]);
	store_fixture_submit(&fixture, &again);
	store_fixture_run(&fixture, LENGTH(ops) + 1);
	assert_outcome(&again, "completed");
	ops_free(ops, LENGTH(ops));
	um_op_free(&again);
}

/* Until so many are handed back, while half a second passes for the store. */
static void
run_slowly(size_t done_len)
{
	for (int i = 0; fixture.done_len < done_len && i < 500; i++) {
		store_fixture_run_ms(&fixture, 20);
		fixture.now++;
	}
	assert_int_equal(fixture.done_len, done_len);
}

/* What is held until its time is over is unavailable, and what is not, is done
 * when it is free. */
TEST(rows_that_are_held_wait_beside_the_others)
{
	struct um_op held[16], others[16];
	PGconn *lockers[16];

	fixture.now = 0;
	connect_first();
	fixture.now = 1000000;
	for (size_t i = 0; i < LENGTH(held); i++) {
		row_make_complete(&held[i], "accept", "");
		row_make_complete(&others[i], "accept", "");
		lockers[i] = lock_row(&held[i]);
	}
	for (size_t i = 0; i < LENGTH(held); i++) {
		store_fixture_submit(&fixture, &held[i]);
		store_fixture_submit(&fixture, &others[i]);
	}
	run_slowly(LENGTH(others));
	for (size_t i = 0; i < LENGTH(others); i++)
		assert_outcome(&others[i], "completed");
	assert_int_equal(um_store_queued(fixture.store), LENGTH(held));

	PQfinish(lockers[0]);
	run_slowly(LENGTH(others) + 1);
	assert_outcome(&held[0], "completed");
	fixture.now += UM_STORE_WAIT_MS;
	store_fixture_run(&fixture, 2 * LENGTH(others));
	for (size_t i = 1; i < LENGTH(held); i++) {
		assert_outcome(&held[i], "unavailable");
		PQfinish(lockers[i]);
	}
	ops_free(held, LENGTH(held));
	ops_free(others, LENGTH(others));
}

TEST(a_session_that_ends_in_the_middle)
{
	struct um_op ops[3];
	PGconn *locker;

	connect_first();
	set_lock_timeout("60s");
	for (size_t i = 0; i < LENGTH(ops); i++)
		row_make_complete(&ops[i], "accept", "");
	locker = lock_row(&ops[1]);
	for (size_t i = 0; i < LENGTH(ops); i++)
		store_fixture_submit(&fixture, &ops[i]);
	store_fixture_run(&fixture, 0);
	wait_for_lock();
	terminate();
	PQfinish(locker);
	store_fixture_run(&fixture, LENGTH(ops));
	for (size_t i = 0; i < LENGTH(ops); i++) {
		assert_outcome(&ops[i], "completed");
		assert_row_text(&ops[i], "status", "completed");
	}
	assert_true(fixture.notices.len != 0);
	ops_free(ops, LENGTH(ops));
	set_lock_timeout("20ms");
}

TEST(a_session_that_ends_while_idle)
{
	struct um_op op;

	connect_first();
	row_make_complete(&op, "accept", "");
	terminate();
	store_fixture_submit(&fixture, &op);
	store_fixture_run(&fixture, 1);
	assert_outcome(&op, "completed");
	um_op_free(&op);
}

/* Seen by the socket alone: nobody has to ask for something first. */
TEST(it_reconnects_by_itself)
{
	unsigned before, after;
	bool want_write;

	connect_first();
	um_store_watch(fixture.store, &want_write, &before);
	terminate();
	for (int i = 0; fixture.notices.len == 0 && i < 1000; i++)
		store_fixture_run_ms(&fixture, 10);
	assert_true(fixture.notices.len != 0);
	store_fixture_run_until_idle(&fixture);
	um_store_watch(fixture.store, &want_write, &after);
	assert_int_not_equal(before, after);
}

/* 40001: the same again. 53100: a new session, and then the same again. */
TEST(an_error_that_no_row_caused_is_tried_again)
{
	static const char *const reasons[] = { FIXTURE_FAILS_ONCE_40001,
		FIXTURE_FAILS_ONCE_53100 };

	for (size_t i = 0; i < LENGTH(reasons); i++) {
		struct um_op ops[2];

		row_begin("%s", reasons[i]);
		connect_first();
		row_make_complete(&ops[0], "accept", reasons[i]);
		row_make_complete(&ops[1], "accept", "");
		store_fixture_submit(&fixture, &ops[0]);
		store_fixture_submit(&fixture, &ops[1]);
		store_fixture_run(&fixture, 2);
		assert_outcome(&ops[0], "completed");
		assert_outcome(&ops[1], "completed");
		assert_true(str_has(um_buf_str(&fixture.notices),
			um_str(reasons[i] + strlen("unit_"))));
		ops_free(ops, LENGTH(ops));
		if (i + 1 < LENGTH(reasons))
			store_fixture_close(&fixture);
	}
}

static size_t
count_in(const struct um_buf *text, const char *word)
{
	struct um_str rest = um_buf_str(text);
	size_t len = strlen(word);
	size_t count = 0;

	for (; rest.len >= len; rest.ptr++, rest.len--)
		count += memcmp(rest.ptr, word, len) == 0;
	return count;
}

/*
 * A disk that is full lets everybody connect, and no batch be committed: the
 * attempts come ever further apart, until one was.
 */
TEST(a_server_that_commits_nothing_is_not_asked_all_the_time)
{
	struct um_op ops[2];
	size_t attempts, notices_len;
	int64_t began;

	connect_first();
	row_make_complete(&ops[0], "accept", FIXTURE_FULL);
	store_fixture_submit(&fixture, &ops[0]);
	store_fixture_run(&fixture, 1);
	assert_outcome(&ops[0], "unavailable");
	attempts = count_in(&fixture.notices, "53100");
	assert_in_range(attempts, 3, 8); /* after 0, 50, 150, 350, 750 ms … */

	row_make(&ops[1], UM_OP_LOOK_UP);
	store_fixture_submit(&fixture, &ops[1]);
	store_fixture_run(&fixture, 2);
	assert_outcome(&ops[1], "pending");
	notices_len = fixture.notices.len;
	began = um_monotonic_ms();
	terminate();
	while (fixture.notices.len == notices_len)
		store_fixture_run_ms(&fixture, 10);
	store_fixture_run_until_idle(&fixture);
	assert_true(um_monotonic_ms() - began < UM_STORE_RETRY_MAX_MS);
	ops_free(ops, LENGTH(ops));
}

/* A server that says nothing: after the wait the operation is its owner's
 * again, who may free it; what it came to is read, and goes nowhere. */
TEST(a_silent_server)
{
	struct um_op *op = calloc(1, sizeof(*op));
	struct um_op key, next;
	PGconn *locker;

	assert_non_null(op);
	fixture.now = 0;
	connect_first();
	set_lock_timeout("60s");
	fixture.now = 1000000;
	row_make_complete(op, "accept", "");
	row_again(&key, op);
	locker = lock_row(op);
	store_fixture_submit(&fixture, op);
	store_fixture_run(&fixture, 0);
	wait_for_lock();
	fixture.now += UM_STORE_WAIT_MS - 1;
	um_store_run(fixture.store, false, fixture.now);
	assert_int_equal(fixture.done_len, 0);
	assert_int_equal(um_store_deadline(fixture.store), fixture.now + 1);
	fixture.now++;
	um_store_run(fixture.store, false, fixture.now);
	assert_int_equal(fixture.done_len, 1);
	assert_outcome(op, "unavailable");
	assert_int_equal(um_store_queued(fixture.store), 0);
	um_op_free(op);
	free(op);

	PQfinish(locker);
	store_fixture_run_ms(&fixture, 300);
	assert_int_equal(fixture.done_len, 1);
	assert_row_text(&key, "status", "completed");
	row_make_complete(&next, "accept", "");
	store_fixture_submit(&fixture, &next);
	store_fixture_run(&fixture, 2);
	assert_outcome(&next, "completed");
	um_op_free(&next);
	set_lock_timeout("20ms");
}

/* Given up after UM_COMMIT_UNANSWERED_MS: what waits behind it goes elsewhere. */
TEST(a_server_that_stays_silent_is_given_up)
{
	struct um_op stuck, waiting;
	PGconn *locker;

	fixture.now = 0;
	connect_first();
	set_lock_timeout("60s");
	fixture.now = 1000000;
	row_make_complete(&stuck, "accept", "");
	row_make_complete(&waiting, "accept", "");
	locker = lock_row(&stuck);
	store_fixture_submit(&fixture, &stuck);
	store_fixture_run(&fixture, 0);
	wait_for_lock();
	fixture.now += UM_COMMIT_UNANSWERED_MS - 1;
	store_fixture_submit(&fixture, &waiting);
	um_store_run(fixture.store, false, fixture.now);
	assert_int_equal(fixture.done_len, 1);
	assert_outcome(&stuck, "unavailable");
	fixture.now++;
	um_store_run(fixture.store, false, fixture.now);
	assert_int_equal(fixture.done_len, 1);
	assert_true(str_has(um_buf_str(&fixture.notices),
		STR("no answer in time")));
	fixture.now += UM_STORE_RETRY_MIN_MS;
	store_fixture_run(&fixture, 2);
	assert_outcome(&waiting, "completed");
	PQfinish(locker);
	um_op_free(&stuck);
	um_op_free(&waiting);
	set_lock_timeout("20ms");
}

/* What takes long, and comes or goes byte by byte, is not given up. */
TEST(a_batch_of_which_bytes_come_has_longer)
{
	struct um_op slow;
	PGconn *locker;

	fixture.now = 0;
	connect_first();
	set_lock_timeout("60s");
	fixture.now = 1000000;
	row_make_complete(&slow, "accept", "");
	locker = lock_row(&slow);
	store_fixture_submit(&fixture, &slow);
	store_fixture_run(&fixture, 0);
	wait_for_lock();
	for (int i = 0; i < 3; i++) {
		fixture.now += UM_COMMIT_UNANSWERED_MS - 1;
		um_store_run(fixture.store, true, fixture.now);
	}
	assert_false(str_has(um_buf_str(&fixture.notices),
		STR("no answer in time")));
	fixture.now += UM_COMMIT_UNANSWERED_MS;
	um_store_run(fixture.store, false, fixture.now);
	assert_true(str_has(um_buf_str(&fixture.notices),
		STR("no answer in time")));
	PQfinish(locker);
	um_op_free(&slow);
	set_lock_timeout("20ms");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		STORE_TEST_OPENS(a_locked_row_does_not_delay_others),
		STORE_TEST_OPENS(rows_that_are_held_wait_beside_the_others),
		STORE_TEST_OPENS(a_session_that_ends_in_the_middle),
		STORE_TEST_OPENS(a_session_that_ends_while_idle),
		STORE_TEST_OPENS(it_reconnects_by_itself),
		STORE_TEST_OPENS(an_error_that_no_row_caused_is_tried_again),
		STORE_TEST_OPENS(
			a_server_that_commits_nothing_is_not_asked_all_the_time),
		STORE_TEST_OPENS(a_silent_server),
		STORE_TEST_OPENS(a_server_that_stays_silent_is_given_up),
		STORE_TEST_OPENS(a_batch_of_which_bytes_come_has_longer),
	};

	return cmocka_run_group_tests(tests, store_fixture_group_set_up,
		store_fixture_group_tear_down);
}
