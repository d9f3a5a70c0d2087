/* SPDX-License-Identifier: MIT */
/* The store with a database that is not there, or says too much. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store_fixture.h"

#define NOBODY "host=/nonexistent password=" PASSWORD
#define PASSWORD "hunter2"

static struct store_fixture fixture;

/* The first wait for it as long as they may; then it is known. */
TEST(without_a_server_operations_are_unavailable)
{
	struct um_op ops[3] = { { .kind = UM_OP_LOOK_UP } };
	int64_t start = 1000000;

	store_fixture_open(&fixture, NOBODY);
	fixture.now = start;
	ops[1] = ops[2] = ops[0];
	store_fixture_submit(&fixture, &ops[0]);
	um_store_run(fixture.store, false, fixture.now);
	assert_int_equal(fixture.done_len, 0);
	while (fixture.done_len == 0) {
		int64_t deadline = um_store_deadline(fixture.store);

		assert_true(deadline > fixture.now);
		fixture.now = deadline;
		um_store_run(fixture.store, false, fixture.now);
	}
	assert_int_equal(fixture.now, start + UM_STORE_WAIT_MS);
	assert_outcome(&ops[0], "unavailable");

	fixture.now++;
	store_fixture_submit(&fixture, &ops[1]);
	assert_int_equal(fixture.done_len, 2);
	assert_outcome(&ops[1], "unavailable");
	fixture.now += 1000000;
	store_fixture_submit(&fixture, &ops[2]);
	assert_int_equal(fixture.done_len, 3);
	assert_outcome(&ops[2], "unavailable");
	assert_int_equal(um_store_queued(fixture.store), 0);
	assert_true(fixture.notices.len != 0);
	assert_false(str_has(um_buf_str(&fixture.notices), STR(PASSWORD)));
}

/* Attempts come from RETRY_MIN to RETRY_MAX apart, and never faster. */
TEST(the_interval_between_attempts_doubles)
{
	int64_t expected = UM_STORE_RETRY_MIN_MS;

	store_fixture_open(&fixture, NOBODY);
	fixture.now = 1000000;
	for (int i = 0; i < 12; i++) {
		um_store_run(fixture.store, false, fixture.now);
		assert_int_equal(um_store_deadline(fixture.store),
			fixture.now + expected);
		um_store_run(fixture.store, false, fixture.now + expected - 1);
		assert_int_equal(um_store_deadline(fixture.store),
			fixture.now + expected);
		fixture.now += expected;
		expected = expected * 2 < UM_STORE_RETRY_MAX_MS
			? expected * 2
			: UM_STORE_RETRY_MAX_MS;
	}
}

TEST(a_full_queue)
{
	static struct um_op ops[UM_STORE_QUEUE_MAX + 1];

	store_fixture_open(&fixture, NOBODY);
	fixture.now = 1000000;
	for (size_t i = 0; i < LENGTH(ops); i++) {
		ops[i] = (struct um_op){ .kind = UM_OP_LOOK_UP };
		store_fixture_submit(&fixture, &ops[i]);
	}
	assert_int_equal(fixture.done_len, 1);
	assert_ptr_equal(fixture.done[0], &ops[UM_STORE_QUEUE_MAX]);
	assert_outcome(&ops[UM_STORE_QUEUE_MAX], "unavailable");
	assert_int_equal(um_store_queued(fixture.store), UM_STORE_QUEUE_MAX);
}

/* Those that only the operator reads leave the place to others. */
TEST(a_queue_of_what_cannot_be_read)
{
	static struct um_op ops[UM_STORE_UNREADABLE_MAX + 2];

	store_fixture_open(&fixture, NOBODY);
	fixture.now = 1000000;
	for (size_t i = 0; i < LENGTH(ops); i++) {
		ops[i] = (struct um_op){ .kind = UM_OP_UNREADABLE };
		if (i == LENGTH(ops) - 1)
			ops[i].kind = UM_OP_EVENT;
		store_fixture_submit(&fixture, &ops[i]);
	}
	assert_int_equal(fixture.done_len, 1);
	assert_ptr_equal(fixture.done[0], &ops[UM_STORE_UNREADABLE_MAX]);
	assert_outcome(&ops[UM_STORE_UNREADABLE_MAX], "unavailable");
	assert_int_equal(um_store_queued(fixture.store), LENGTH(ops) - 1);
}

/* The administrator's server, and what else is wanted of it. */
static void
open_fixture_at_server(const char *more)
{
	PQconninfoOption *options = PQconninfo(admin_db);
	struct um_buf conninfo = { 0 };

	assert_non_null(options);
	for (const PQconninfoOption *o = options; o->keyword != NULL; o++)
		if (o->val != NULL && strcmp(o->keyword, "dbname") != 0)
			um_buf_printf(&conninfo, "%s='%s' ", o->keyword,
				o->val);
	PQconninfoFree(options);
	um_buf_printf(&conninfo, "%s", more);
	um_buf_put(&conninfo, "", 1);
	store_fixture_open(&fixture, conninfo.ptr);
	um_buf_free(&conninfo);
}

/* A role that is none; a database that is not migrated; a login for more. */
TEST(a_database_that_refuses)
{
	static const struct {
		const char *more;
		const char *notice;
	} cases[] = {
		{ "dbname=template1 user=urlmode_nobody password=" PASSWORD,
			"urlmode_nobody" },
		{ "dbname=template1", "is it migrated? SQLSTATE: 3F000" },
		{ "dbname=urlmode", "may execute urlmode.read" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_op op = { .kind = UM_OP_LOOK_UP };

		row_begin("%s", cases[i].more);
		open_fixture_at_server(cases[i].more);
		store_fixture_submit(&fixture, &op);
		store_fixture_run(&fixture, 1);
		assert_outcome(&op, "unavailable");
		assert_true(str_has(um_buf_str(&fixture.notices),
			um_str(cases[i].notice)));
		assert_false(
			str_has(um_buf_str(&fixture.notices), STR(PASSWORD)));
		if (i + 1 < LENGTH(cases))
			store_fixture_close(&fixture);
	}
}

/* A port whose queue is full: what is sent to it gets no answer at all. */
static int
black_hole(int fds[static 4])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *any = (struct sockaddr *)&address;
	socklen_t len = sizeof(address);

	for (int i = 0; i < 4; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		assert_true(fds[i] >= 0);
		if (i == 0) {
			assert_int_equal(bind(fds[i], any, len), 0);
			assert_int_equal(listen(fds[i], 0), 0);
			assert_int_equal(getsockname(fds[i], any, &len), 0);
		} else {
			assert_true(connect(fds[i], any, len) == 0
				|| errno == EINPROGRESS);
		}
	}
	return ntohs(address.sin_port);
}

/* The first of several hosts does not answer at all. */
TEST(the_next_host_is_tried)
{
	char conninfo[512];
	PQconninfoOption *options =
		PQconninfoParse(getenv("URLMODE_PROGRAMS_DATABASE_URL"), NULL);
	struct um_op op;
	size_t len;
	int fds[4];

	assert_non_null(options);
	len = (size_t)snprintf(conninfo, sizeof(conninfo),
		"host='127.0.0.1,%s' port='%d,%s'", PQhost(admin_db),
		black_hole(fds), PQport(admin_db));
	for (const PQconninfoOption *o = options; o->keyword != NULL; o++)
		if (o->val != NULL && strcmp(o->keyword, "host") != 0
			&& strcmp(o->keyword, "port") != 0)
			len += (size_t)snprintf(conninfo + len,
				sizeof(conninfo) - len, " %s='%s'", o->keyword,
				o->val);
	PQconninfoFree(options);
	store_fixture_open(&fixture, conninfo);
	store_fixture_run_until_idle(&fixture);
	row_make_complete(&op, "accept", "");
	store_fixture_submit(&fixture, &op);
	store_fixture_run(&fixture, 1);
	assert_outcome(&op, "completed");
	um_op_free(&op);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
}

/* A web server may put standard error beside the request line. */
TEST(a_warning_of_the_server_is_not_printed)
{
	char *path = file_make(STR(""), 0600);
	FILE *file = fopen(path, "w+e");
	int saved = dup(STDERR_FILENO);
	struct um_op op;
	char uuid[UM_UUID_TEXT_LEN + 1];

	assert_non_null(file);
	store_fixture_open(&fixture, NULL);
	row_make_complete(&op, "accept", FIXTURE_WARNS);
	um_uuid_format(uuid, op.id);
	dup2(fileno(file), STDERR_FILENO);
	store_fixture_submit(&fixture, &op);
	store_fixture_run(&fixture, 1);
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_outcome(&op, "completed");
	assert_int_equal(lseek(fileno(file), 0, SEEK_END), 0);
	assert_true(str_has(um_buf_str(&fixture.notices), STR("01000")));
	assert_false(str_has(um_buf_str(&fixture.notices), um_str(uuid)));
	fclose(file);
	file_remove(path);
	um_op_free(&op);
}

#define PUT(buf, literal) um_buf_put(buf, literal, sizeof(literal) - 1)

/*
 * A server's messages (PostgreSQL documentation, "Message Formats"):
 * AuthenticationOk, and a warning from this file of its source.
 */
static void
put_warning(struct um_buf *out, const char *file)
{
	struct um_buf fields = { 0 };
	uint32_t len;

	PUT(&fields, "SWARNING\0C01000\0MNOTIFY queue is 50% full\0");
	PUT(&fields, "DThe server process with PID 4242 is among those\0");
	PUT(&fields, "HIt cannot be emptied until that ends.\0F");
	um_buf_put(&fields, file, strlen(file) + 1);
	PUT(&fields, "\0");
	PUT(out, "R\0\0\0\10\0\0\0\0N");
	len = htonl((uint32_t)fields.len + 4);
	um_buf_put(out, &len, sizeof(len));
	um_buf_put(out, fields.ptr, fields.len);
	um_buf_free(&fields);
}

/* What the store says of a server that sends this and nothing else. */
static void
hear(struct um_str bytes)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *any = (struct sockaddr *)&address;
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
	char conninfo[128], startup[1024];

	assert_int_equal(bind(listener, any, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, any, &len), 0);
	snprintf(conninfo, sizeof(conninfo),
		"host=127.0.0.1 port=%d sslmode=disable gssencmode=disable",
		ntohs(address.sin_port));
	store_fixture_open(&fixture, conninfo);
	store_fixture_run_ms(&fixture, 100);
	fd = accept(listener, NULL, NULL);
	assert_true(recv(fd, startup, sizeof(startup), 0) > 0);
	assert_int_equal(send(fd, bytes.ptr, bytes.len, 0), bytes.len);
	for (int i = 0; fixture.notices.len == 0 && i < 1000; i++)
		store_fixture_run_ms(&fixture, 10);
	close(fd);
	close(listener);
}

/* It names the session that holds the queue, and no row. */
TEST(the_warning_of_a_full_queue_of_notifications_is_logged_in_full)
{
	static const char *const files[] = { "async.c", "pl_exec.c" };

	for (size_t i = 0; i < LENGTH(files); i++) {
		struct um_buf bytes = { 0 };

		row_begin("%s", files[i]);
		put_warning(&bytes, files[i]);
		hear(um_buf_str(&bytes));
		assert_str(um_buf_str(&fixture.notices),
			i == 0 ? "database: NOTIFY queue is 50% full. The "
				 "server process with PID 4242 is among those "
				 "It cannot be emptied until that ends.\n"
			       : "database: a notice, SQLSTATE: 01000\n");
		um_buf_free(&bytes);
		if (i + 1 < LENGTH(files))
			store_fixture_close(&fixture);
	}
}

TEST(freeing_null_is_fine)
{
	store_fixture_open(&fixture, NOBODY);
	um_store_free(NULL);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		STORE_TEST_OPENS(without_a_server_operations_are_unavailable),
		STORE_TEST_OPENS(the_interval_between_attempts_doubles),
		STORE_TEST_OPENS(a_full_queue),
		STORE_TEST_OPENS(a_queue_of_what_cannot_be_read),
		STORE_TEST_OPENS(a_database_that_refuses),
		STORE_TEST_OPENS(the_next_host_is_tried),
		STORE_TEST_OPENS(a_warning_of_the_server_is_not_printed),
		STORE_TEST_OPENS(
			the_warning_of_a_full_queue_of_notifications_is_logged_in_full),
		STORE_TEST_OPENS(freeing_null_is_fine),
	};

	return cmocka_run_group_tests(tests, store_fixture_group_set_up,
		store_fixture_group_tear_down);
}
