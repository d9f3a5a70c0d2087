/* SPDX-License-Identifier: MIT */
#include "store_fixture.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/rand.h>

#define RUN_MAX_MS 60000

PGconn *admin_db;

static const char set_up[] =
	"CREATE OR REPLACE FUNCTION urlmode.unit_test() RETURNS trigger"
	" LANGUAGE plpgsql AS $$ BEGIN"
	" IF NEW.reason = '" FIXTURE_FAILS "' THEN"
	"  RAISE EXCEPTION 'this row fails';"
	" ELSIF NEW.reason = '" FIXTURE_FULL "' THEN"
	"  RAISE EXCEPTION 'the disk is full' USING ERRCODE = '53100';"
	" ELSIF NEW.reason = '" FIXTURE_WARNS "' THEN"
	"  RAISE WARNING 'in passing: %', NEW.id;"
	" ELSIF NEW.reason IN ('" FIXTURE_FAILS_ONCE_40001
	"', '" FIXTURE_FAILS_ONCE_53100 "')"
	"  AND nextval('urlmode.unit_test_times') % 2 = 1 THEN"
	"  RAISE EXCEPTION 'the first time'"
	"   USING ERRCODE = substr(NEW.reason, 6);"
	" END IF; RETURN NEW; END $$;"
	"ALTER FUNCTION urlmode.unit_test() SECURITY DEFINER;"
	"DROP SEQUENCE IF EXISTS urlmode.unit_test_times;"
	"CREATE SEQUENCE urlmode.unit_test_times;"
	"DROP TRIGGER IF EXISTS unit_test ON urlmode.elicitation;"
	"CREATE TRIGGER unit_test BEFORE UPDATE ON urlmode.elicitation"
	" FOR EACH ROW EXECUTE FUNCTION urlmode.unit_test()";

/* The application_name of the sessions beside the store. */
#define SQL_NAME "urlmode-unit-test-sql"

/* Sessions of a test that has failed may hold locks. */
static const char tear_down[] =
	"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
	" WHERE application_name = '" SQL_NAME "' AND pid <> pg_backend_pid();"
	"DROP TRIGGER IF EXISTS unit_test ON urlmode.elicitation;"
	"DROP FUNCTION IF EXISTS urlmode.unit_test();"
	"DROP SEQUENCE IF EXISTS urlmode.unit_test_times;"
	"DELETE FROM urlmode.payment WHERE provider = '" FIXTURE_PROVIDER "';"
	"DELETE FROM urlmode.unreadable_delivery WHERE provider = "
	"'" FIXTURE_PROVIDER "';"
	"DELETE FROM urlmode.elicitation WHERE provider = '" FIXTURE_PROVIDER
	"'";

static void
quiet(void *arg, const char *message)
{
	(void)arg;
	(void)message;
}

PGconn *
sql_connect(void)
{
	PGconn *conn = PQconnectdb(getenv("URLMODE_ADMIN_DATABASE_URL"));

	if (PQstatus(conn) != CONNECTION_OK)
		fail_msg("URLMODE_ADMIN_DATABASE_URL: %s",
			PQerrorMessage(conn));
	PQsetNoticeProcessor(conn, quiet, NULL);
	PQclear(PQexec(conn, "SET application_name = '" SQL_NAME "'"));
	return conn;
}

static char *
run_sql(PGconn *conn, const char *fmt, va_list ap)
{
	char text[4096];
	PGresult *res;
	char *value = NULL;
	int len = vsnprintf(text, sizeof(text), fmt, ap);

	assert_true(len > 0 && (size_t)len < sizeof(text));
	res = PQexec(conn, text);
	if (PQresultStatus(res) != PGRES_TUPLES_OK
		&& PQresultStatus(res) != PGRES_COMMAND_OK)
		fail_msg("%s: %s", text, PQresultErrorMessage(res));
	if (PQntuples(res) > 0 && !PQgetisnull(res, 0, 0))
		value = strdup(PQgetvalue(res, 0, 0));
	PQclear(res);
	return value;
}

char *
sql(PGconn *conn, const char *fmt, ...)
{
	va_list ap;
	char *value;

	va_start(ap, fmt);
	value = run_sql(conn, fmt, ap);
	va_end(ap);
	return value;
}

void
sql_do(PGconn *conn, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	free(run_sql(conn, fmt, ap));
	va_end(ap);
}

int
store_fixture_group_set_up(void **state)
{
	(void)state;
	if (getenv("URLMODE_ADMIN_DATABASE_URL") == NULL
		|| getenv("URLMODE_PROGRAMS_DATABASE_URL") == NULL) {
		print_error("set URLMODE_ADMIN_DATABASE_URL and "
			    "URLMODE_PROGRAMS_DATABASE_URL to a migrated "
			    "database\n");
		return -1;
	}
	/* Kerberos keeps some memory that valgrind would count. */
	setenv("PGGSSENCMODE", "disable", 0);
	admin_db = sql_connect();
	sql_do(admin_db, "%s", set_up);
	return 0;
}

int
store_fixture_group_tear_down(void **state)
{
	(void)state;
	if (admin_db != NULL)
		sql_do(admin_db, "%s", tear_down);
	PQfinish(admin_db);
	return 0;
}

static int64_t
real_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int64_t
store_fixture_now(const struct store_fixture *fixture)
{
	return fixture->now != 0 ? fixture->now : real_ms();
}

static void
on_done(struct um_op *op, void *arg)
{
	struct store_fixture *fixture = arg;
	struct um_op *next = fixture->submits_next;
	void (*call)(void) = fixture->calls_next;

	assert_true(fixture->done_len < FIXTURE_OPS_MAX);
	fixture->done[fixture->done_len++] = op;
	fixture->submits_next = NULL;
	if (next != NULL)
		um_store_submit(fixture->store, next,
			store_fixture_now(fixture));
	fixture->calls_next = NULL;
	if (call != NULL)
		call();
}

static void
on_notice(const char *text, void *arg)
{
	struct store_fixture *fixture = arg;

	um_buf_puts(&fixture->notices, text);
	um_buf_puts(&fixture->notices, "\n");
}

/* Each look at it is a microsecond later. */
static int64_t
count_us(void)
{
	static int64_t now = 0;

	return ++now;
}

static void
on_committed(size_t operations, int64_t took_us, void *arg)
{
	struct store_fixture *fixture = arg;

	assert_true(fixture->batches_len < FIXTURE_OPS_MAX);
	fixture->took_us[fixture->batches_len] = took_us;
	fixture->batches[fixture->batches_len++] = operations;
}

void
store_fixture_open(struct store_fixture *fixture, const char *conninfo)
{
	const struct um_store_events events = { on_done, on_notice,
		on_committed, count_us, NULL, fixture };

	*fixture = (struct store_fixture){ 0 };
	if (conninfo == NULL)
		conninfo = getenv("URLMODE_PROGRAMS_DATABASE_URL");
	fixture->store = um_store_new(conninfo, FIXTURE_NAME, UM_LOGIN_CALLBACK,
		NULL, &events);
	assert_non_null(fixture->store);
}

void
store_fixture_close(struct store_fixture *fixture)
{
	um_store_free(fixture->store);
	um_buf_free(&fixture->notices);
}

int
store_fixture_set_up(void **state)
{
	store_fixture_open(*state, NULL);
	return 0;
}

int
store_fixture_tear_down(void **state)
{
	store_fixture_close(*state);
	return 0;
}

void
store_fixture_submit(struct store_fixture *fixture, struct um_op *op)
{
	um_store_submit(fixture->store, op, store_fixture_now(fixture));
}

/* One turn, as the programs make it; waits for at most `left` ms. */
static void
turn(struct store_fixture *fixture, int64_t left)
{
	int64_t deadline = um_store_deadline(fixture->store);
	bool want_write;
	unsigned connection;
	struct pollfd pfd = {
		.fd = um_store_watch(fixture->store, &want_write, &connection),
		.events = POLLIN,
	};

	if (want_write)
		pfd.events |= POLLOUT;
	if (fixture->now != 0)
		left = left > 20 ? 20 : left;
	else if (deadline >= 0 && deadline - real_ms() < left)
		left = deadline - real_ms();
	poll(&pfd, 1, left < 0 ? 0 : (int)left);
	um_store_run(fixture->store, pfd.revents != 0,
		store_fixture_now(fixture));
}

void
store_fixture_run_ms(struct store_fixture *fixture, int ms)
{
	int64_t end = real_ms() + ms;

	um_store_run(fixture->store, false, store_fixture_now(fixture));
	for (int64_t left; (left = end - real_ms()) > 0;)
		turn(fixture, left);
}

void
store_fixture_run_until_idle(struct store_fixture *fixture)
{
	int64_t end = real_ms() + RUN_MAX_MS;
	bool want_write;
	unsigned connection;

	while (um_store_deadline(fixture->store) >= 0
		|| um_store_watch(fixture->store, &want_write, &connection)
			< 0) {
		if (real_ms() >= end)
			fail_msg("not idle: %.*s", (int)fixture->notices.len,
				fixture->notices.ptr != NULL
					? fixture->notices.ptr
					: "");
		store_fixture_run_ms(fixture, 10);
	}
}

void
store_fixture_run(struct store_fixture *fixture, size_t done_len)
{
	int64_t end = real_ms() + RUN_MAX_MS;

	um_store_run(fixture->store, false, store_fixture_now(fixture));
	while (fixture->done_len < done_len && real_ms() < end)
		turn(fixture, end - real_ms());
	if (fixture->done_len < done_len)
		fail_msg("only %zu of %zu were handed back: %.*s",
			fixture->done_len, done_len, (int)fixture->notices.len,
			fixture->notices.ptr != NULL ? fixture->notices.ptr
						     : "");
}

void
row_make(struct um_op *op, enum um_op_kind kind)
{
	static char provider[] = FIXTURE_PROVIDER;
	char uuid[UM_UUID_TEXT_LEN + 1];

	*op = (struct um_op){ .kind = kind, .provider = provider };
	assert_int_equal(RAND_bytes(op->id, sizeof(op->id)), 1);
	memset(op->binding, 0xb1, sizeof(op->binding));
	um_uuid_format(uuid, op->id);
	sql_do(admin_db,
		"INSERT INTO urlmode.elicitation (id, provider, kind, subject,"
		" binding, requester, target_url, expires_at)"
		" VALUES ('%s',"
		" '%s', 'oauth', 'user-42', decode(repeat('b1', 16), 'hex'),"
		" 'Notes server', 'https://a.example/authorize',"
		" now() + interval '5 minutes')",
		uuid, provider);
}

void
row_make_complete(struct um_op *op, const char *action, const char *reason)
{
	row_make(op, UM_OP_COMPLETE);
	op->action = action;
	op->reason = reason;
	um_buf_puts(&op->result, "sealed");
}

void
row_again(struct um_op *op, const struct um_op *of)
{
	*op = (struct um_op){ .kind = of->kind,
		.provider = of->provider,
		.action = of->action,
		.reason = of->reason };
	memcpy(op->id, of->id, sizeof(op->id));
	memcpy(op->binding, of->binding, sizeof(op->binding));
}

void
ops_free(struct um_op *ops, size_t len)
{
	for (size_t i = 0; i < len; i++)
		um_op_free(&ops[i]);
}

void
assert_outcome(const struct um_op *op, const char *outcome)
{
	assert_string_equal(um_op_outcome_text(op), outcome);
}

char *
row_text(const struct um_op *op, const char *column)
{
	char uuid[UM_UUID_TEXT_LEN + 1];

	um_uuid_format(uuid, op->id);
	return sql(admin_db,
		"SELECT %s FROM urlmode.elicitation WHERE id = '%s'", column,
		uuid);
}

void
assert_row_text(const struct um_op *op, const char *column,
	const char *expected)
{
	char *text = row_text(op, column);

	if (text == NULL || strcmp(text, expected) != 0)
		fail_msg("%s is %s, not %s", column,
			text != NULL ? text : "NULL", expected);
	free(text);
}
