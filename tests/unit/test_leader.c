/* SPDX-License-Identifier: MIT */
/* A primary that takes writes and does not commit, beside the one that leads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/notifications.h"
#include "contract/limits.h"
#include "core/clock.h"
#include "postgres/leader.h"
#include "store_fixture.h"

static struct store_fixture fixture;

/* tests/support/pair.mjs: what it reads, what it prints, and its URLs. */
static struct pair {
	pid_t pid;
	FILE *to;
	FILE *from;
	char line[2000];
	char *cgi, *server, *primary, *standby;
} pair;

static const char *
ask_pair(const char *command)
{
	if (command != NULL) {
		fprintf(pair.to, "%s\n", command);
		fflush(pair.to);
	}
	assert_non_null(fgets(pair.line, sizeof(pair.line), pair.from));
	pair.line[strcspn(pair.line, "\n")] = '\0';
	return pair.line;
}

static int
pair_start(void **state)
{
	static char urls[sizeof(pair.line)];
	int to[2], from[2];

	(void)state;
	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	pair.pid = fork();
	assert_true(pair.pid >= 0);
	if (pair.pid == 0) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		close(to[1]);
		execlp("node", "node", "tests/support/pair.mjs", (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	pair.to = fdopen(to[1], "w");
	pair.from = fdopen(from[0], "r");
	strcpy(urls, ask_pair(NULL));
	pair.cgi = strtok(urls, " ");
	pair.server = strtok(NULL, " ");
	pair.primary = strtok(NULL, " ");
	pair.standby = strtok(NULL, " ");
	assert_non_null(pair.standby);
	return 0;
}

static int
pair_stop(void **state)
{
	(void)state;
	store_fixture_close(&fixture);
	fclose(pair.to);
	fclose(pair.from);
	waitpid(pair.pid, NULL, 0);
	return 0;
}

/* An operation that writes, and so waits for its commit. */
static void
beat(struct um_op *op, const char *subject)
{
	*op = (struct um_op){ .kind = UM_OP_BEAT, .subject = subject };
}

/* How many hosts have beaten there. */
static int
beats_at(const char *url)
{
	PGconn *conn = PQconnectdb(url);
	char *count = sql(conn, "SELECT count(*) FROM urlmode.host");
	int beats = (int)strtol(count, NULL, 10);

	free(count);
	PQfinish(conn);
	return beats;
}

/*
 * Beats until it is written at the standby, where so many have beaten. Where the leader does
 * not answer in time, the old primary is tried, and its commit is not answered, which costs
 * several tries: no fault of the store on a slow machine. `op`: when done_len are done it is.
 */
static void
run_until_at_standby(struct um_op *op, size_t done_len, const char *subject,
	int before)
{
	for (int tries = 0;; tries++) {
		for (int i = 0; i < 300 && fixture.done_len < done_len; i++) {
			store_fixture_run_ms(&fixture, 100);
			fixture.now += 100;
		}
		assert_int_equal(fixture.done_len, done_len);
		if (op->status == UM_STORE_DONE)
			break;
		assert_true(tries < 100);
		store_fixture_run_ms(&fixture, 100);
		fixture.now += 100;
		done_len++;
		beat(op, subject);
		store_fixture_submit(&fixture, op);
	}
	assert_int_equal(beats_at(pair.standby), before + 1);
}

TEST(a_commit_that_is_not_answered_leads_to_the_host_that_leads)
{
	struct um_op first, stuck, next, reads = { .kind = UM_OP_PING };
	char timeline[UM_TIMELINE_LEN + 1];

	store_fixture_open(&fixture, pair.cgi);
	fixture.now = 1000000;
	beat(&first, "first");
	store_fixture_submit(&fixture, &first);
	store_fixture_run(&fixture, 1);
	assert_int_equal(first.status, UM_STORE_DONE);
	assert_string_equal(ask_pair("part"), "parted");
	/* On a busy machine valgrind may need more than UM_LEADER_ASK_S. */
	for (int i = 0; um_leader_ask(pair.primary, "", "", NULL, timeline)
		!= UM_LEADER_WRITES;
		i++)
		assert_true(i < 30);
	assert_string_equal(timeline, "00000001");

	/* The old primary answers reads, so that only a commit tells. */
	store_fixture_submit(&fixture, &reads);
	store_fixture_run(&fixture, 2);
	assert_int_equal(reads.status, UM_STORE_DONE);
	beat(&stuck, "stuck");
	store_fixture_submit(&fixture, &stuck);
	while (strcmp(ask_pair("hung"), "1") != 0)
		store_fixture_run_ms(&fixture, 10);
	fixture.now += UM_COMMIT_UNANSWERED_MS - 1;
	um_store_run(fixture.store, false, fixture.now);
	assert_int_equal(stuck.status, UM_STORE_UNAVAILABLE);
	assert_true(um_store_connected_at(fixture.store) >= 0);

	beat(&next, "next");
	store_fixture_submit(&fixture, &next);
	fixture.now++;
	um_store_run(fixture.store, false, fixture.now);
	assert_true(um_store_connected_at(fixture.store) < 0);
	fixture.now += UM_STORE_RETRY_MIN_MS;
	run_until_at_standby(&next, 4, "next", 1);
	/* It was closed and not cancelled, which would have committed it. */
	assert_string_not_equal(ask_pair("hung"), "0");
	assert_int_equal(beats_at(pair.primary), 1);
}

/* Has the store connect again, and write; it has written at the standby. */
static void
beat_at_standby(const char *subject)
{
	int before = beats_at(pair.standby);
	struct um_op op;
	size_t done_len;
	PGconn *conn = PQconnectdb(pair.standby);

	free(sql(conn,
		"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
		" WHERE application_name = '" FIXTURE_NAME "'"));
	PQfinish(conn);
	store_fixture_run_ms(&fixture, 100);
	assert_true(um_store_connected_at(fixture.store) < 0);
	while (um_store_connected_at(fixture.store) < 0) {
		fixture.now += UM_STORE_RETRY_MIN_MS;
		store_fixture_run_ms(&fixture, 100);
	}
	done_len = fixture.done_len + 1;
	beat(&op, subject);
	store_fixture_submit(&fixture, &op);
	run_until_at_standby(&op, done_len, subject, before);
}

/* It says nothing for a while, and then comes back as it was. */
TEST(an_old_primary_that_comes_back)
{
	char timeline[UM_TIMELINE_LEN + 1];

	assert_string_equal(ask_pair("stop"), "stopped");
	assert_int_equal(um_leader_ask(pair.primary, "", "", NULL, timeline),
		UM_LEADER_SILENT);
	beat_at_standby("alone");
	assert_string_equal(ask_pair("start"), "started");
	beat_at_standby("beside the old one");
}

static void
announced(const uint8_t id[static UM_UUID_LEN],
	const struct um_json_node *notification, void *arg)
{
	(void)id;
	(void)notification;
	(void)arg;
}

static void
listening(void *arg)
{
	++*(int *)arg;
}

static void
ignore(const char *text, void *arg)
{
	(void)text;
	(void)arg;
}

/* Whether the connection that listens is there. */
static bool
listens_at(const char *url)
{
	PGconn *conn = PQconnectdb(url);
	char *count = sql(conn,
		"SELECT count(*) FROM pg_stat_activity"
		" WHERE application_name = 'api listener'");
	bool is_there = strcmp(count, "1") == 0;

	free(count);
	PQfinish(conn);
	return is_there;
}

/* The api listens where it commits: its other connection follows. */
TEST(the_connection_that_listens_follows)
{
	int listened = 0, left = 0;
	const struct um_notifications_events events = { announced, listening,
		ignore, &listened };
	struct um_notifications *list = um_notifications_new(pair.server,
		&events);
	bool follows = false;

	assert_non_null(list);
	/* Valgrind makes an answer of the leader late: then it leaves again. */
	for (int i = 0; i < 12000 && !follows; i++) {
		um_notifications_run(list, true, um_monotonic_ms());
		if (listened > left && um_notifications_is_listening(list)) {
			follows = left > 0 && listens_at(pair.standby);
			left = listened;
			if (!follows)
				um_notifications_leave(list, um_monotonic_ms());
		}
		usleep(5000);
	}
	um_notifications_free(list);
	assert_true(follows);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_commit_that_is_not_answered_leads_to_the_host_that_leads,
			pair_start, NULL),
		cmocka_unit_test_setup_teardown(
			the_connection_that_listens_follows, NULL, NULL),
		cmocka_unit_test_setup_teardown(an_old_primary_that_comes_back,
			NULL, pair_stop),
	};

	return cmocka_run_group_tests(tests, store_fixture_group_set_up,
		store_fixture_group_tear_down);
}
