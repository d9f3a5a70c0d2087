/* SPDX-License-Identifier: MIT */
/*
 * The store when libpq cannot send. What sends is a function below, by
 * ld --wrap (see the Makefile).
 */
#include <string.h>

#include "store_fixture.h"

static struct store_fixture fixture;

/* Which function fails, after how many calls that do not, and how often. */
static struct {
	const char *function;
	int after;
	int times; /* -1: always */
	int failed;
} sending;

static bool
fails(const char *function)
{
	if (sending.function == NULL || strcmp(function, sending.function) != 0
		|| sending.times == 0)
		return false;
	if (sending.after-- > 0)
		return false;
	if (sending.times > 0)
		sending.times--;
	sending.failed++;
	return true;
}

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier) */
int __real_PQsendPrepare(PGconn *conn, const char *name, const char *query,
	int params, const Oid *types);
int __wrap_PQsendPrepare(PGconn *conn, const char *name, const char *query,
	int params, const Oid *types);
int __real_PQsendQueryParams(PGconn *conn, const char *command, int params,
	const Oid *types, const char *const *values, const int *lengths,
	const int *formats, int format);
int __wrap_PQsendQueryParams(PGconn *conn, const char *command, int params,
	const Oid *types, const char *const *values, const int *lengths,
	const int *formats, int format);
int __real_PQsendQueryPrepared(PGconn *conn, const char *name, int params,
	const char *const *values, const int *lengths, const int *formats,
	int format);
int __wrap_PQsendQueryPrepared(PGconn *conn, const char *name, int params,
	const char *const *values, const int *lengths, const int *formats,
	int format);
int __real_PQpipelineSync(PGconn *conn);
int __wrap_PQpipelineSync(PGconn *conn);
int __real_PQflush(PGconn *conn);
int __wrap_PQflush(PGconn *conn);

int
__wrap_PQsendPrepare(PGconn *conn, const char *name, const char *query,
	int params, const Oid *types)
{
	return fails("PQsendPrepare")
		? 0
		: __real_PQsendPrepare(conn, name, query, params, types);
}

int
__wrap_PQsendQueryParams(PGconn *conn, const char *command, int params,
	const Oid *types, const char *const *values, const int *lengths,
	const int *formats, int format)
{
	return fails("PQsendQueryParams")
		? 0
		: __real_PQsendQueryParams(conn, command, params, types, values,
			lengths, formats, format);
}

int
__wrap_PQsendQueryPrepared(PGconn *conn, const char *name, int params,
	const char *const *values, const int *lengths, const int *formats,
	int format)
{
	return fails("PQsendQueryPrepared")
		? 0
		: __real_PQsendQueryPrepared(conn, name, params, values,
			lengths, formats, format);
}

int
__wrap_PQpipelineSync(PGconn *conn)
{
	return fails("PQpipelineSync") ? 0 : __real_PQpipelineSync(conn);
}

/* It fails although everything has been sent: the worst that can be. */
int
__wrap_PQflush(PGconn *conn)
{
	int flushed = __real_PQflush(conn);

	return fails("PQflush") ? -1 : flushed;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

static void
let_fail(const char *function, int after, int times)
{
	sending.function = function;
	sending.after = after;
	sending.times = times;
	sending.failed = 0;
}

static void
open_and_connect(void)
{
	let_fail(NULL, 0, 0);
	store_fixture_open(&fixture, NULL);
	store_fixture_run_until_idle(&fixture);
}

static unsigned
connection(void)
{
	bool want_write;
	unsigned number;

	um_store_watch(fixture.store, &want_write, &number);
	return number;
}

/* The listener has heard of each row once. */
static void
assert_heard_once(PGconn *listener, const struct um_op *ops, size_t len)
{
	char uuid[UM_UUID_TEXT_LEN + 1];
	struct um_buf heard = { 0 };

	sql_do(listener, "SELECT 1");
	for (PGnotify *n; (n = PQnotifies(listener)) != NULL; PQfreemem(n))
		um_buf_puts(&heard, n->extra);
	for (size_t i = 0; i < len; i++) {
		struct um_str rest = um_buf_str(&heard);
		int count = 0;

		um_uuid_format(uuid, ops[i].id);
		for (; rest.len >= UM_UUID_TEXT_LEN; rest.ptr++, rest.len--)
			count += memcmp(rest.ptr, uuid, UM_UUID_TEXT_LEN) == 0;
		assert_int_equal(count, 1);
	}
	um_buf_free(&heard);
}

/* It is asked who it is, and its statements are prepared. */
TEST(a_connection_over_which_nothing_can_be_sent_is_made_again)
{
	static const struct {
		const char *function;
		int after;
	} cases[] = {
		{ "PQsendQueryParams", 0 },
		{ "PQpipelineSync", 0 },
		{ "PQsendPrepare", 0 },
		{ "PQsendPrepare", 5 },
		{ "PQpipelineSync", 1 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_op op;

		row_begin("%s after %d", cases[i].function, cases[i].after);
		let_fail(cases[i].function, cases[i].after, 1);
		store_fixture_open(&fixture, NULL);
		row_make_complete(&op, "accept", "");
		store_fixture_submit(&fixture, &op);
		store_fixture_run(&fixture, 1);
		assert_int_equal(sending.failed, 1);
		assert_true(fixture.notices.len != 0);
		assert_outcome(&op, "completed");
		um_op_free(&op);
		if (i + 1 < LENGTH(cases))
			store_fixture_close(&fixture);
	}
}

/*
 * Over the next connection, each once. `already`: PostgreSQL had it, and tells
 * so when it gets it again.
 */
TEST(what_could_not_be_sent_is_sent_again)
{
	static const struct {
		const char *function;
		bool was_sent; /* before: either session may be the first */
	} cases[] = {
		{ "PQsendQueryPrepared", false },
		{ "PQpipelineSync", false },
		{ "PQflush", true },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		PGconn *listener = sql_connect();
		struct um_op ops[3];
		unsigned before;

		row_begin("%s", cases[i].function);
		sql_do(listener, "LISTEN urlmode");
		open_and_connect();
		before = connection();
		for (size_t n = 0; n < LENGTH(ops); n++)
			row_make_complete(&ops[n], "accept", "");
		let_fail(cases[i].function, 0, 1);
		for (size_t n = 0; n < LENGTH(ops); n++)
			store_fixture_submit(&fixture, &ops[n]);
		store_fixture_run(&fixture, LENGTH(ops));
		assert_int_equal(sending.failed, 1);
		assert_int_not_equal(connection(), before);
		assert_int_equal(fixture.done_len, LENGTH(ops));
		for (size_t n = 0; n < LENGTH(ops); n++) {
			if (!cases[i].was_sent
				|| ops[n].outcome != UM_ROW_ALREADY)
				assert_outcome(&ops[n], "completed");
			assert_row_text(&ops[n], "action", "accept");
		}
		assert_heard_once(listener, ops, LENGTH(ops));
		PQfinish(listener);
		ops_free(ops, LENGTH(ops));
		if (i + 1 < LENGTH(cases))
			store_fixture_close(&fixture);
	}
}

/* The caller may say that nothing was stored, and the same works later. */
TEST(what_can_never_be_sent_is_unavailable)
{
	struct um_op op, again;

	open_and_connect();
	row_make_complete(&op, "accept", "");
	row_again(&again, &op);
	let_fail("PQsendQueryPrepared", 0, -1);
	fixture.now = 1000000;
	store_fixture_submit(&fixture, &op);
	for (int i = 0; fixture.done_len == 0 && i < 500; i++) {
		store_fixture_run_ms(&fixture, 5);
		fixture.now += 25;
	}
	assert_int_equal(fixture.done_len, 1);
	assert_outcome(&op, "unavailable");
	assert_false(op.was_sent);
	assert_true(sending.failed > 0);
	assert_in_range(fixture.now, 1000000 + UM_STORE_WAIT_MS,
		1000000 + UM_STORE_WAIT_MS + 50);
	assert_int_equal(um_store_queued(fixture.store), 0);
	assert_row_text(&op, "status", "pending");

	let_fail(NULL, 0, 0);
	fixture.now += UM_STORE_RETRY_MAX_MS;
	store_fixture_run_until_idle(&fixture);
	store_fixture_submit(&fixture, &again);
	store_fixture_run(&fixture, 2);
	assert_outcome(&again, "completed");
	um_op_free(&op);
	um_op_free(&again);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		STORE_TEST_OPENS(
			a_connection_over_which_nothing_can_be_sent_is_made_again),
		STORE_TEST_OPENS(what_could_not_be_sent_is_sent_again),
		STORE_TEST_OPENS(what_can_never_be_sent_is_unavailable),
	};

	return cmocka_run_group_tests(tests, store_fixture_group_set_up,
		store_fixture_group_tear_down);
}
