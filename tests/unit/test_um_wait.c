/* SPDX-License-Identifier: MIT */
/*
 * The waiting side in C, on a real database. What must not spin is counted in
 * calls of libpq, which this program stands in front of.
 */
/* NOLINTNEXTLINE(clang-diagnostic-reserved-macro-identifier) */
#undef _FORTIFY_SOURCE /* its poll() is inline, and this one would not be */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "client/um_wait.h"
#include "core/encode.h"
#include "core/file.h"
#include "crypto/seal.h"
#include "support.h"

#define SUBJECT "um_wait's user"
#define READ_ONLY "?options=-c%20default_transaction_read_only%3Don"

/* With pauses of 100, 200, 400 and 800 ms no wait of this length has more. */
#define TIMEOUT_MS 1200
#define ATTEMPTS_MAX 6

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

static unsigned statements, connections, polls;
static bool cannot_send, cannot_connect, cannot_poll;
static bool is_overdue_at_once; /* the elicitation, when a wait begins */
static int waited_ms;           /* for as long as the wait wanted */

static void make_overdue(void);

static void *
original(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	assert_non_null(function);
	return function;
}

int
PQsendQueryParams(PGconn *conn, const char *command, int n, const Oid *types,
	const char *const *values, const int *lengths, const int *formats,
	int result_format)
{
	int (*real)(PGconn *, const char *, int, const Oid *,
		const char *const *, const int *, const int *, int);

	*(void **)&real = original("PQsendQueryParams");
	statements++;
	return cannot_send ? 0
			   : real(conn, command, n, types, values, lengths,
				   formats, result_format);
}

PGconn *
PQconnectStartParams(const char *const *keywords, const char *const *values,
	int expand)
{
	static const char *const nowhere[] = { "host=127.0.0.1 port=1", NULL };
	static const char *const dbname[] = { "dbname", NULL };
	PGconn *(*real)(const char *const *, const char *const *, int);

	*(void **)&real = original("PQconnectStartParams");
	connections++;
	return cannot_connect ? real(dbname, nowhere, 1)
			      : real(keywords, values, expand);
}

/* Only for a socket: to sleep still works. */
int
poll(struct pollfd *fds, nfds_t n, int timeout)
{
	int (*real)(struct pollfd *, nfds_t, int);

	*(void **)&real = original("poll");
	polls += n != 0;
	/* A call of the database has less time. */
	if (is_overdue_at_once && timeout > 10000) {
		is_overdue_at_once = false;
		waited_ms = timeout;
		make_overdue();
		return 0;
	}
	if (n == 0 || !cannot_poll)
		return real(fds, n, timeout);
	errno = ENOMEM;
	return -1;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static PGconn *admin;
static struct um_wait *wait;
static struct um_wait_asked asked;

static void __attribute__((format(printf, 1, 2))) run(const char *fmt, ...)
{
	char text[2048];
	PGresult *res;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	assert_true(len > 0 && (size_t)len < sizeof(text));
	res = PQexec(admin, text);
	if (PQresultStatus(res) != PGRES_COMMAND_OK
		&& PQresultStatus(res) != PGRES_TUPLES_OK)
		fail_msg("%s: %s", text, PQresultErrorMessage(res));
	PQclear(res);
}

static struct um_wait *
open_wait(const char *options)
{
	struct um_wait *opened;
	struct um_wait_error err;
	char *url;

	assert_true(
		asprintf(&url, "%s%s", getenv("URLMODE_DATABASE_URL"), options)
		> 0);
	if (!um_wait_open(&opened, url, getenv("URLMODE_KEYS_FILE"),
		    "http://localhost", &err))
		fail_msg("%s", err.text);
	free(url);
	return opened;
}

static void
reset_counts(void)
{
	statements = 0;
	connections = 0;
	polls = 0;
}

static enum um_wait_end
wait_for(int timeout_ms, struct um_wait_outcome *out, struct um_wait_error *err)
{
	reset_counts();
	return um_wait_for(wait, asked.id, SUBJECT, NULL, timeout_ms, out, err);
}

/* Waits in vain; the reason has to hold `reason`. */
static void
assert_timeout(const char *reason)
{
	struct um_wait_outcome outcome;
	struct um_wait_error err;

	assert_int_equal(wait_for(TIMEOUT_MS, &outcome, &err), UM_WAIT_TIMEOUT);
	assert_null(outcome.result);
	if (strstr(err.text, reason) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.text, reason);
}

static void
assert_completed(const char *action, const char *reason, const char *result)
{
	struct um_wait_outcome outcome;
	struct um_wait_error err;

	if (wait_for(20000, &outcome, &err) != UM_WAIT_COMPLETED)
		fail_msg("%s", err.text);
	assert_string_equal(outcome.action, action);
	assert_string_equal(outcome.reason, reason);
	assert_str(um_str(outcome.result), result);
	um_wait_outcome_free(&outcome);
	um_wait_outcome_free(&outcome);
}

/* As the callback programs would: with a result that is sealed for it. */
static void
complete(const char *json)
{
	static const uint8_t nonce[UM_NONCE_LEN] = { 1 };
	uint8_t id[UM_UUID_LEN], binding[UM_BINDING_LEN];
	struct um_buf sealed = { 0 };
	struct um_keys *keys;
	struct um_error err;
	char hex[512];

	assert_true(um_keys_load(&keys, getenv("URLMODE_KEYS_FILE"), &err));
	bytes_of_uuid(id, asked.id);
	um_binding_digest(binding, keys, STR(SUBJECT), STR(""));
	assert_true(
		um_seal_put(&sealed, um_str(json), id, binding, keys, nonce));
	assert_true(2 * sealed.len < sizeof(hex));
	um_hex_encode(hex, (const uint8_t *)sealed.ptr, sealed.len);
	run("UPDATE urlmode.elicitation SET status = 'completed',"
	    " action = 'accept', completed_at = now(), result = '\\x%s'"
	    " WHERE id = '%s'",
		hex, asked.id);
	um_buf_free(&sealed);
	um_keys_free(keys);
}

static void
make_overdue(void)
{
	run("UPDATE urlmode.elicitation SET expires_at = now() - interval '1 s'"
	    " WHERE id = '%s'",
		asked.id);
}

TEST(a_result_that_is_there_is_read_at_once)
{
	complete("{\"code\":\"x\"}");
	assert_completed("accept", "", "{\"code\":\"x\"}");
	assert_int_equal(statements, 2);
	assert_completed("accept", "", "{\"code\":\"x\"}");
}

/* Whether a call of this user and session takes the outcome. */
static bool
claim(const struct um_wait_outcome *outcome, const char *subject,
	const char *session)
{
	struct um_wait_error err;
	bool claimed = true;

	if (!um_wait_claim(wait, asked.id, subject, session, outcome, &claimed,
		    &err))
		fail_msg("%s", err.text);
	return claimed;
}

TEST(an_outcome_is_claimed_once)
{
	struct um_wait_outcome outcome;
	struct um_wait_error err;
	bool claimed = true;

	complete("{}");
	assert_int_equal(wait_for(20000, &outcome, &err), UM_WAIT_COMPLETED);
	assert_null(outcome.reference);
	assert_false(claim(&outcome, "somebody", NULL));
	assert_false(claim(&outcome, SUBJECT, "another session"));
	assert_true(claim(&outcome, SUBJECT, NULL));
	assert_false(claim(&outcome, SUBJECT, NULL));
	assert_false(um_wait_claim(wait, "no id", SUBJECT, NULL, &outcome,
		&claimed, &err));
	assert_false(claimed);
	assert_non_null(strstr(err.text, "UUID"));
	um_wait_outcome_free(&outcome);
}

TEST(a_payment_is_claimed_with_its_reference)
{
	struct um_wait_outcome outcome;
	struct um_wait_error err;

	complete("{}");
	run("UPDATE urlmode.elicitation SET kind = 'payment',"
	    " expected = '{\"amount\": 1050, \"currency\": \"EUR\"}'"
	    " WHERE id = '%s'",
		asked.id);
	run("INSERT INTO urlmode.payment (provider, reference, elicitation,"
	    " amount, currency, matches, late)"
	    " VALUES ('demo', '%s', '%s', 1050, 'EUR', true, false)",
		asked.id, asked.id);
	assert_int_equal(wait_for(20000, &outcome, &err), UM_WAIT_COMPLETED);
	assert_string_equal(outcome.reference, asked.id);
	assert_true(claim(&outcome, SUBJECT, NULL));
	assert_false(claim(&outcome, SUBJECT, NULL));
	um_wait_outcome_free(&outcome);
	run("DELETE FROM urlmode.payment WHERE reference = '%s'", asked.id);
}

TEST(nobody_comes)
{
	assert_timeout("");
	assert_true(statements <= 2);
	complete("{}");
	assert_completed("accept", "", "{}");
}

TEST(no_time_is_one_look)
{
	struct um_wait_outcome outcome;
	struct um_wait_error err;

	assert_int_equal(wait_for(0, &outcome, &err), UM_WAIT_TIMEOUT);
	assert_string_equal(err.text, "");
	assert_int_equal(statements, 1);
}

TEST(what_has_expired_is_completed_even_without_time)
{
	struct um_wait_outcome outcome;
	struct um_wait_error err;

	make_overdue();
	assert_int_equal(wait_for(0, &outcome, &err), UM_WAIT_COMPLETED);
	assert_string_equal(outcome.action, "cancel");
	assert_string_equal(outcome.reason, "expired");
	assert_null(outcome.result);
}

/* Nothing is announced when it expires. */
TEST(a_wait_reads_again_when_the_elicitation_expires)
{
	struct um_wait_outcome outcome;
	struct um_wait_error err;

	run("UPDATE urlmode.elicitation SET"
	    " expires_at = clock_timestamp() + interval '28 s' WHERE id = '%s'",
		asked.id);
	waited_ms = 0;
	is_overdue_at_once = true;
	assert_int_equal(wait_for(60000, &outcome, &err), UM_WAIT_COMPLETED);
	assert_false(is_overdue_at_once);
	assert_in_range(waited_ms, 10000, 28000);
	assert_string_equal(outcome.reason, "expired");
	um_wait_outcome_free(&outcome);
}

TEST(another_user_or_session_is_refused)
{
	struct um_wait_outcome outcome;
	struct um_wait_error err;

	assert_int_equal(um_wait_for(wait, asked.id, "another", NULL, 1000,
				 &outcome, &err),
		UM_WAIT_FAILED);
	assert_non_null(strstr(err.text, "there is no elicitation"));
	assert_int_equal(um_wait_for(wait, asked.id, SUBJECT, "another", 1000,
				 &outcome, &err),
		UM_WAIT_FAILED);
	assert_int_equal(um_wait_for(wait, "x", SUBJECT, NULL, 1000, &outcome,
				 &err),
		UM_WAIT_FAILED);
	assert_non_null(strstr(err.text, "UUID"));
}

TEST(a_result_that_does_not_open_is_refused)
{
	struct um_wait_outcome outcome;
	struct um_wait_error err;

	complete("{}");
	run("UPDATE urlmode.elicitation SET result = result || '\\x00'"
	    " WHERE id = '%s'",
		asked.id);
	assert_int_equal(wait_for(1000, &outcome, &err), UM_WAIT_FAILED);
	assert_non_null(strstr(err.text, "cannot be opened"));
	assert_null(outcome.result);
}

TEST(a_key_that_was_added_since_opens_the_result)
{
	const char *keys_file = getenv("URLMODE_KEYS_FILE");
	const uint8_t secret[32] = { 1 };
	char *old = keys_line(255, secret, sizeof(secret));
	char *path = file_make(um_str(old), 0600);
	struct um_buf keys = { 0 };
	struct um_wait_outcome outcome;
	struct um_wait_error err;
	struct um_error reason;
	FILE *f;

	um_wait_close(wait);
	if (!um_wait_open(&wait, getenv("URLMODE_DATABASE_URL"), path,
		    "http://localhost", &err))
		fail_msg("%s", err.text);
	complete("{}");
	assert_int_equal(wait_for(1000, &outcome, &err), UM_WAIT_FAILED);
	assert_non_null(strstr(err.text, "cannot be opened"));

	assert_true(um_file_read(&keys, keys_file, 65536, &reason));
	f = fopen(path, "a");
	assert_non_null(f);
	fwrite(keys.ptr, 1, keys.len, f);
	fclose(f);
	assert_completed("accept", "", "{}");
	um_buf_free(&keys);
	file_remove(path);
	free(old);
}

/* It could neither be expired nor read as completed: 40,000 attempts once. */
TEST(a_read_only_server_does_not_make_it_spin)
{
	make_overdue();
	um_wait_close(wait);
	wait = open_wait(READ_ONLY);
	assert_timeout("read-only transaction");
	assert_true(statements >= 2);
	/* LISTEN, read and expire; it may be another server each time. */
	assert_true(statements <= 3 * ATTEMPTS_MAX);
}

TEST(a_read_only_server_still_gives_the_result)
{
	complete("{}");
	um_wait_close(wait);
	wait = open_wait(READ_ONLY);
	assert_completed("accept", "", "{}");
}

/* SQLSTATE 57014, as of a statement_timeout. */
TEST(a_query_that_was_cancelled_does_not_end_the_wait)
{
	um_wait_close(wait);
	wait = open_wait("?options=-cstatement_timeout%3D200ms");
	run("BEGIN");
	run("LOCK TABLE urlmode.elicitation IN ACCESS EXCLUSIVE MODE");
	assert_timeout("statement timeout");
	assert_true(statements >= 2);
	run("ROLLBACK");
	complete("{}");
	assert_completed("accept", "", "{}");
}

TEST(a_query_that_is_not_permitted_ends_the_wait)
{
	struct um_wait_outcome outcome;
	struct um_wait_error err;

	um_wait_close(wait);
	if (!um_wait_open(&wait, getenv("URLMODE_PROGRAMS_DATABASE_URL"),
		    getenv("URLMODE_KEYS_FILE"), "http://localhost", &err))
		fail_msg("%s", err.text);
	assert_int_equal(wait_for(60000, &outcome, &err), UM_WAIT_FAILED);
	assert_non_null(strstr(err.text, "permission denied"));
	assert_int_equal(statements, 1);
}

TEST(a_server_that_is_away_is_tried_again_with_pauses)
{
	cannot_connect = true;
	run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
	    " WHERE application_name = 'um_wait'");
	assert_timeout("database: ");
	assert_true(connections >= 1);
	assert_true(connections <= ATTEMPTS_MAX);
	cannot_connect = false;
	complete("{}");
	assert_completed("accept", "", "{}");
}

TEST(a_connection_that_never_sends_is_opened_again_with_pauses)
{
	cannot_send = true;
	assert_timeout("database: ");
	assert_true(connections >= 1);
	assert_true(connections <= ATTEMPTS_MAX);
	assert_true(statements <= ATTEMPTS_MAX + 1);
	cannot_send = false;
	complete("{}");
	assert_completed("accept", "", "{}");
}

TEST(a_poll_that_always_fails_does_not_make_it_spin)
{
	cannot_poll = true;
	assert_timeout("database: ");
	assert_true(polls <= 4 * ATTEMPTS_MAX);
	assert_true(connections <= ATTEMPTS_MAX);
	cannot_poll = false;
	assert_timeout("");
}

TEST(a_database_that_does_not_answer_does_not_hold_it)
{
	run("BEGIN");
	run("LOCK TABLE urlmode.elicitation IN ACCESS EXCLUSIVE MODE");
	assert_timeout("database: no answer in time");
	run("ROLLBACK");
	complete("{}");
	assert_completed("accept", "", "{}");
}

TEST(what_cannot_be_opened_says_why)
{
	const char *keys_file = getenv("URLMODE_KEYS_FILE");
	struct um_wait_error err;
	struct um_wait *none;

	assert_false(um_wait_open(&none, getenv("URLMODE_DATABASE_URL"),
		"/nonexistent/keys", "http://localhost", &err));
	assert_non_null(strstr(err.text, "/nonexistent/keys: No such file"));
	assert_null(none);
	assert_false(um_wait_open(&none, "host=127.0.0.1 port=1", keys_file,
		"http://localhost", &err));
	assert_non_null(strstr(err.text, "database: "));
	assert_null(strchr(err.text, '\n'));
	assert_null(none);
	um_wait_close(none);
}

TEST(what_cannot_be_created_says_why)
{
	struct um_wait_ask ask = { .provider = "demo",
		.kind = "nothing",
		.subject = SUBJECT,
		.requester = "A test",
		.target_url = "https://provider.example/",
		.ttl_ms = 60000 };
	struct um_wait_asked none;
	struct um_wait_error err;

	assert_false(um_wait_create(wait, &ask, &none, &err));
	assert_non_null(strstr(err.text, "database: ERROR:"));
}

/* An owner of its own, whose user has opened as many as may be open. */
TEST(one_too_many_is_not_created)
{
	struct um_wait_ask ask = { .provider = "demo",
		.kind = "oauth",
		.subject = "unit-um-wait-full",
		.requester = "A test",
		.target_url = "https://provider.example/",
		.ttl_ms = 60000 };
	struct um_wait_asked first, none;
	struct um_wait_error err;

	assert_true(um_wait_create(wait, &ask, &first, &err));
	run("INSERT INTO urlmode.elicitation (id, provider, kind, subject,"
	    " binding, requester, target_url, expires_at, status, opened_at)"
	    " SELECT gen_random_uuid(), provider, kind, subject, binding,"
	    " requester, target_url, expires_at, 'opened', now()"
	    " FROM urlmode.elicitation, generate_series(2, urlmode.max_open())"
	    " WHERE id = '%s'",
		first.id);
	assert_true(um_wait_create(wait, &ask, &first, &err));
	run("UPDATE urlmode.elicitation SET status = 'opened',"
	    " opened_at = now() WHERE subject = '%s' AND status = 'pending'",
		ask.subject);
	assert_false(um_wait_create(wait, &ask, &none, &err));
	assert_string_equal(err.text, "too many are open, or being created");
	run("DELETE FROM urlmode.elicitation WHERE subject = '%s'",
		ask.subject);
}

/* One look at a row that is open, one that reads a result, and their claim. */
static void
wait_many_times(int times)
{
	struct um_wait_outcome outcome;
	struct um_wait_error err;
	bool claimed;

	for (int i = 0; i < times; i++) {
		if (i == times / 2)
			complete("{\"code\":\"x\"}");
		if (wait_for(0, &outcome, &err) != UM_WAIT_COMPLETED)
			continue;
		assert_true(um_wait_claim(wait, asked.id, SUBJECT, NULL,
			&outcome, &claimed, &err));
		um_wait_outcome_free(&outcome);
	}
}

/* CALLS= waits more often than `make test` does. */
TEST(a_process_that_waits_all_the_time_does_not_grow)
{
	const char *given = getenv("CALLS");
	int calls = given != NULL ? (int)strtol(given, NULL, 10) : 400;
	size_t before;

	alarm(60 + (unsigned)calls / 100);
	wait_many_times(100);
	before = mallinfo2().uordblks;
	wait_many_times(calls);
	/* What libpq keeps for its next answer may have another size. */
	assert_true(mallinfo2().uordblks < before + 8192);
}

static int
set_up(void **state)
{
	static const struct um_wait_ask ask = { .provider = "demo",
		.kind = "oauth",
		.subject = SUBJECT,
		.requester = "A test",
		.target_url = "https://provider.example/",
		.ttl_ms = 60000 };
	struct um_wait_error err;

	(void)state;
	cannot_send = cannot_connect = cannot_poll = false;
	alarm(60);
	admin = PQconnectdb(getenv("URLMODE_ADMIN_DATABASE_URL"));
	if (PQstatus(admin) != CONNECTION_OK)
		fail_msg("URLMODE_ADMIN_DATABASE_URL: %s",
			PQerrorMessage(admin));
	wait = open_wait("");
	if (!um_wait_create(wait, &ask, &asked, &err))
		fail_msg("%s", err.text);
	assert_non_null(
		strstr(asked.url, "http://localhost/connect/demo?state="));
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	um_wait_close(wait);
	run("DELETE FROM urlmode.elicitation WHERE id = '%s'", asked.id);
	PQfinish(admin);
	return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(a_result_that_is_there_is_read_at_once),
		CASE(an_outcome_is_claimed_once),
		CASE(a_payment_is_claimed_with_its_reference),
		CASE(nobody_comes),
		CASE(no_time_is_one_look),
		CASE(what_has_expired_is_completed_even_without_time),
		CASE(a_wait_reads_again_when_the_elicitation_expires),
		CASE(another_user_or_session_is_refused),
		CASE(a_result_that_does_not_open_is_refused),
		CASE(a_key_that_was_added_since_opens_the_result),
		CASE(a_read_only_server_does_not_make_it_spin),
		CASE(a_read_only_server_still_gives_the_result),
		CASE(a_query_that_was_cancelled_does_not_end_the_wait),
		CASE(a_query_that_is_not_permitted_ends_the_wait),
		CASE(a_server_that_is_away_is_tried_again_with_pauses),
		CASE(a_connection_that_never_sends_is_opened_again_with_pauses),
		CASE(a_poll_that_always_fails_does_not_make_it_spin),
		CASE(a_database_that_does_not_answer_does_not_hold_it),
		CASE(what_cannot_be_opened_says_why),
		CASE(what_cannot_be_created_says_why),
		CASE(one_too_many_is_not_created),
		CASE(a_process_that_waits_all_the_time_does_not_grow),
	};

	/* libgssapi keeps memory until the process ends. */
	setenv("PGGSSENCMODE", "disable", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
