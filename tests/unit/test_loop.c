/* SPDX-License-Identifier: MIT */
/* The loop, in a process of its own, with a web server's part played here. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <valgrind/valgrind.h>

#include "child.h"
#include "program_case.h"
#include "records.h"
#include "server/loop.h"

#define NOBODY "host=/nonexistent"
#define AT_ONCE_MS 2000 /* far from what a wait for the database takes */
#define LOGGED_MS 400   /* far from the pause between attempts to connect */
#define LARGE_LEN ((size_t)4 * 1024 * 1024)
#define KEY "1 ERERERERERERERERERERERERERERERERERERERERERE\n"

static char database_url[] = NOBODY;
static struct um_config config = { .database_url = database_url };
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static struct sockaddr_un second = {
	.sun_family = AF_UNIX
}; /* of an own one */
static struct child server;
static bool is_own; /* the listener is the program's own */

static enum um_refusal
pinged(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	(void)context;
	if ((refusal = um_check_done(ex)))
		return refusal;
	ex->response.status = 200;
	return UM_REFUSAL_NONE;
}

/* /look asks the database, which is not there; /now is answered now. */
static enum um_refusal
plan_look(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	um_exchange_request_op(ex, UM_OP_PING, pinged);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
plan_now(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	ex->response.status = 200;
	um_buf_printf(&ex->response.body, "now, %zu fields", ex->form.len);
	ex->outcome = "said";
	return UM_REFUSAL_NONE;
}

/* More than a socket takes of a peer that does not read. */
static enum um_refusal
plan_large(const struct um_context *context, struct um_exchange *ex)
{
	static char bytes[LARGE_LEN];

	(void)context;
	memset(bytes, 'x', sizeof(bytes));
	ex->response.status = 200;
	um_buf_put(&ex->response.body, bytes, sizeof(bytes));
	ex->outcome = "said";
	return UM_REFUSAL_NONE;
}

static const struct um_route routes[] = {
	{ .prefix = "/large", .methods = "GET", .plan = plan_large },
	{ .prefix = "/look", .methods = "GET", .plan = plan_look },
	{ .prefix = "/now",
		.methods = "GET, POST",
		.body_max = 1000,
		.value_max = UM_FORM_VALUE_MAX,
		.plan = plan_now },
	{ 0 },
};

static int
serve(void *arg)
{
	static const struct um_program program = { .name = "connect",
		.routes = routes,
		.measures = UM_OP_NONE };
	struct um_log log = { .fd = STDERR_FILENO, .program = program.name };
	struct um_context context = case_context;
	struct um_listener listener = { .fd = STDIN_FILENO,
		.own = is_own,
		.path = is_own ? address.sun_path : NULL,
		.lock = -1 };
	int status;

	(void)arg;
	signal(SIGPIPE, SIG_IGN);
	if (is_own)
		um_file_changed(&listener.made, listener.path);
	context.config = &config;
	context.keys = keys_of(KEY);
	status = um_loop_run(&program, &context, &log, &listener);
	um_keys_free(context.keys);
	um_buf_free(&log.lines);
	return status;
}

static int
set_up(void **state)
{
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	config.keys_file = file_make(STR(KEY), 0600);
	snprintf(address.sun_path, sizeof(address.sun_path),
		"/tmp/urlmode-test-%d.sock", (int)getpid());
	snprintf(second.sun_path, sizeof(second.sun_path),
		"/tmp/urlmode-test-%d.second", (int)getpid());
	unlink(address.sun_path);
	assert_true(listener >= 0);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address,
				 sizeof(address)),
		0);
	assert_int_equal(listen(listener, 128), 0);
	if (is_own)
		assert_int_equal(link(address.sun_path, second.sun_path), 0);
	child_start(&server, serve, NULL, listener);
	close(listener);
	return 0;
}

static int
set_up_own(void **state)
{
	int status;

	is_own = true;
	status = set_up(state);
	is_own = false;
	return status;
}

static int
tear_down(void **state)
{
	(void)state;
	unlink(address.sun_path);
	unlink(second.sun_path);
	file_remove(config.keys_file);
	return 0;
}

/* How often a second takes as long as one. */
static int64_t
slower(void)
{
	return RUNNING_ON_VALGRIND ? 10 : 1;
}

/* How long it takes to end, in ms; the log goes to `log`. */
static int64_t
stop(struct um_buf *log)
{
	struct um_buf out = { 0 };
	int64_t began = um_monotonic_ms();

	kill(server.pid, SIGTERM);
	assert_int_equal(child_end(&server, &out, log), 0);
	assert_int_equal(out.len, 0);
	um_buf_free(&out);
	return um_monotonic_ms() - began;
}

/* The requests in the log so far, each complete line of which is JSON. */
static size_t
count_requests(const struct um_buf *log)
{
	struct um_str rest = um_buf_str(log);
	size_t count = 0;
	const char *end;

	while (rest.len != 0
		&& (end = memchr(rest.ptr, '\n', rest.len)) != NULL) {
		size_t len = (size_t)(end - rest.ptr);
		json_t *line = json_loadb(rest.ptr, len, 0, NULL);

		assert_non_null(line);
		count += json_object_get(line, "request") != NULL;
		json_decref(line);
		rest.ptr += len + 1;
		rest.len -= len + 1;
	}
	return count;
}

/* Ends it; it has logged so many requests. */
static void
stop_after(size_t requests)
{
	struct um_buf log = { 0 };

	stop(&log);
	if (count_requests(&log) != requests)
		fail_msg("not %zu requests: %.*s", requests, (int)log.len,
			log.ptr);
	um_buf_free(&log);
}

static int
web_connect(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address,
				 sizeof(address)),
		0);
	return fd;
}

/* CONTENT_LENGTH is left out where it is NULL. */
static void
put_web_request(struct um_buf *out, const char *path, const char *length,
	struct um_str body)
{
	struct um_buf pairs = { 0 };

	put_pair(&pairs, STR("SCRIPT_NAME"), um_str(path));
	put_pair(&pairs, STR("REQUEST_METHOD"),
		um_str(body.len != 0 ? "POST" : "GET"));
	put_pair(&pairs, STR("CONTENT_TYPE"),
		STR("application/x-www-form-urlencoded"));
	if (length != NULL)
		put_pair(&pairs, STR("CONTENT_LENGTH"), um_str(length));
	put_begin(out, 1);
	put_record(out, PARAMS, 1, um_buf_str(&pairs), 0);
	put_record(out, PARAMS, 1, STR(""), 0);
	if (body.len != 0)
		put_record(out, IN, 1, body, 0);
	put_record(out, IN, 1, STR(""), 0);
	um_buf_free(&pairs);
}

static void
web_send(int fd, const char *path, struct um_str body)
{
	struct um_buf records = { 0 };

	put_web_request(&records, path, NULL, body);
	assert_int_equal(write(fd, records.ptr, records.len), records.len);
	um_buf_free(&records);
}

/* The answer, which must come in time and hold the text. */
static void
web_receive(int fd, int64_t max_ms, const char *expected)
{
	int64_t end = um_monotonic_ms() + max_ms * slower();
	struct um_buf bytes = { 0 };
	struct um_buf content = { 0 };

	while (!read_answer(&content, um_buf_str(&bytes), 1)) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		int64_t left = end - um_monotonic_ms();
		char chunk[4096];
		ssize_t n;

		if (poll(&pfd, 1, left > 0 ? (int)left : 0) <= 0)
			fail_msg("no answer in time");
		n = read(fd, chunk, sizeof(chunk));
		assert_true(n > 0);
		um_buf_put(&bytes, chunk, (size_t)n);
		content.len = 0;
	}
	if (!str_has(um_buf_str(&content), um_str(expected)))
		fail_msg("\"%s\" is not in: %.*s", expected, (int)content.len,
			content.ptr);
	um_buf_free(&bytes);
	um_buf_free(&content);
}

/* That the server has ended the connection, or does so in time. */
static void
assert_ended(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char byte;

	assert_int_equal(poll(&pfd, 1, (int)(AT_ONCE_MS * slower())), 1);
	assert_true(read(fd, &byte, 1) <= 0);
	close(fd);
}

/* A request is answered, whatever else there may be. */
static void
assert_serves(void)
{
	int fd = web_connect();

	web_send(fd, "/now", STR(""));
	web_receive(fd, AT_ONCE_MS, "\r\n\r\nnow");
	close(fd);
}

TEST(a_connection_serves_many_requests)
{
	int fd = web_connect();

	for (int i = 0; i < 100; i++) {
		web_send(fd, "/now", i % 2 ? STR("a=b") : STR(""));
		web_receive(fd, AT_ONCE_MS, "Status: 200\r\n");
	}
	close(fd);
	stop_after(100);
}

TEST(a_body_over_the_limit_is_refused)
{
	static char body[1001];
	int fd = web_connect();

	memset(body, '&', sizeof(body));
	web_send(fd, "/now", (struct um_str){ body, sizeof(body) - 1 });
	web_receive(fd, AT_ONCE_MS, "Status: 200\r\n");
	web_send(fd, "/now", (struct um_str){ body, sizeof(body) });
	web_receive(fd, AT_ONCE_MS, "<code>body_too_large</code>");
	close(fd);
	stop_after(2);
}

/*
 * FastCGI ends a body by itself; a length beside it tells whether it was cut.
 */
TEST(a_body_is_taken_unless_it_was_cut)
{
	static const struct {
		const char *length;
		const char *answer;
	} cases[] = {
		{ NULL, "now, 2 fields" },
		{ "", "now, 2 fields" },
		{ "-1", "now, 2 fields" },
		{ "7", "now, 2 fields" },
		{ "6", "now, 0 fields" },
		{ "8", "now, 0 fields" },
	};
	int fd = web_connect();

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf records = { 0 };

		row_begin("%s",
			cases[i].length != NULL ? cases[i].length : "none");
		put_web_request(&records, "/now", cases[i].length,
			STR("a=1&b=2"));
		assert_int_equal(write(fd, records.ptr, records.len),
			records.len);
		web_receive(fd, AT_ONCE_MS, cases[i].answer);
		um_buf_free(&records);
	}
	close(fd);
	stop_after(LENGTH(cases));
}

/* An operator sees a request at once, not with the next one. */
TEST(a_request_is_logged_before_the_loop_waits)
{
	struct pollfd pfd = { .fd = server.err, .events = POLLIN };
	struct um_buf log = { 0 };

	for (size_t requests = 1; requests <= 10; requests++) {
		assert_serves();
		while (count_requests(&log) < requests) {
			char chunk[1024];
			ssize_t n;

			if (poll(&pfd, 1, (int)(LOGGED_MS * slower())) != 1)
				fail_msg("request %zu is not logged", requests);
			n = read(server.err, chunk, sizeof(chunk));
			assert_true(n > 0);
			um_buf_put(&log, chunk, (size_t)n);
		}
	}
	stop(&log);
	um_buf_free(&log);
}

/* Silent, stalled, mad and gone: the others do not notice. */
TEST(bad_peers_do_not_disturb_good_ones)
{
	struct um_buf records = { 0 };
	int silent[50];
	int stalled[20];
	int mad[20];

	put_web_request(&records, "/now", NULL, STR("body"));
	for (size_t i = 0; i < LENGTH(silent); i++)
		silent[i] = web_connect();
	assert_serves();
	for (size_t i = 0; i < LENGTH(stalled); i++) {
		size_t len = 1 + i * (records.len - 1) / LENGTH(stalled);

		stalled[i] = web_connect();
		assert_int_equal(write(stalled[i], records.ptr, len), len);
	}
	assert_serves();
	for (size_t i = 0; i < LENGTH(mad); i++) {
		mad[i] = web_connect();
		assert_int_equal(write(mad[i], "GET / HTTP/1.1\r\n\r\n", 18),
			18);
	}
	assert_serves();
	for (size_t i = 0; i < LENGTH(mad); i++)
		assert_ended(mad[i]);
	for (size_t i = 0; i < LENGTH(silent); i++)
		close(silent[i]);
	for (size_t i = 0; i < LENGTH(stalled); i++)
		close(stalled[i]);
	assert_serves();
	um_buf_free(&records);
	stop_after(4);
}

/* What needs no database never waits for one. */
TEST(requests_without_database_do_not_wait_for_it)
{
	struct um_buf log = { 0 };
	int waits = web_connect();
	int gone = web_connect();

	web_send(waits, "/look", STR(""));
	web_send(gone, "/look", STR(""));
	close(gone);
	assert_serves();
	web_receive(waits, 10000, "Retry-After: 3\r\n");
	assert_serves();
	web_send(waits, "/look", STR(""));
	web_receive(waits, AT_ONCE_MS, "<code>unavailable</code>");
	close(waits);
	stop(&log);
	um_buf_free(&log);
}

/* Nobody reads: the others are answered meanwhile, and each reader gets all of it. */
TEST(a_peer_that_does_not_read_stops_nobody)
{
	struct um_buf got = { 0 };
	int fds[8];
	ssize_t n;
	char chunk[65536];

	for (size_t i = 0; i < LENGTH(fds); i++) {
		fds[i] = web_connect();
		web_send(fds[i], "/large", STR(""));
	}
	for (int i = 0; i < 20; i++)
		assert_serves();
	while ((n = read(fds[0], chunk, sizeof(chunk))) > 0) {
		um_buf_put(&got, chunk, (size_t)n);
		if (got.len > LARGE_LEN && got.ptr[got.len - 15] == '\3')
			break;
	}
	assert_true(got.len > LARGE_LEN);
	um_buf_free(&got);
	web_send(fds[0], "/now", STR(""));
	web_receive(fds[0], AT_ONCE_MS, "\r\n\r\nnow");
	for (size_t i = 0; i < LENGTH(fds); i++)
		close(fds[i]);
	stop_after(LENGTH(fds) + 21);
}

/* It does not keep the process from its end either. */
TEST(sigterm_does_not_wait_for_a_peer_that_does_not_read)
{
	struct um_buf log = { 0 };
	int fd = web_connect();

	web_send(fd, "/large", STR(""));
	assert_serves();
	assert_true(stop(&log) < AT_ONCE_MS * slower());
	um_buf_free(&log);
	close(fd);
}

TEST(sigterm_closes_silent_connections)
{
	struct um_buf log = { 0 };
	int silent[20];
	int stalled = web_connect();

	for (size_t i = 0; i < LENGTH(silent); i++)
		silent[i] = web_connect();
	assert_int_equal(write(stalled, "\1\1", 2), 2);
	assert_serves();
	assert_true(stop(&log) < 1000 * slower());
	um_buf_free(&log);
	for (size_t i = 0; i < LENGTH(silent); i++)
		assert_ended(silent[i]);
	assert_ended(stalled);
}

/* What is in flight is answered first, and its connection ends then. */
TEST(sigterm_waits_for_requests_in_flight)
{
	struct um_buf log = { 0 };
	int fd = web_connect();
	int next = web_connect();

	assert_serves();
	web_send(fd, "/look", STR(""));
	assert_serves();
	kill(server.pid, SIGTERM);
	web_send(next, "/now", STR(""));
	web_receive(next, AT_ONCE_MS, "\r\n\r\nnow");
	assert_ended(next);
	web_receive(fd, 10000, "<code>unavailable</code>");
	assert_ended(fd);
	stop(&log);
	um_buf_free(&log);
}

/* The database is not there, and a request waits for it for three seconds. */
TEST(sigterm_ends_within_a_second)
{
	struct um_buf log = { 0 };
	int fds[8];

	for (size_t i = 0; i < LENGTH(fds); i++) {
		fds[i] = web_connect();
		web_send(fds[i], "/look", STR(""));
	}
	assert_serves();
	assert_true(stop(&log) < AT_ONCE_MS * slower());
	for (size_t i = 0; i < LENGTH(fds); i++)
		web_receive(fds[i], 0, "<code>unavailable</code>");
	assert_int_equal(count_requests(&log), LENGTH(fds) + 1);
	um_buf_free(&log);
}

/* With a socket of its own: nobody else accepts what has connected. */
TEST(sigterm_answers_those_who_wait_in_an_own_socket)
{
	struct um_buf log = { 0 };
	int fds[100];

	assert_serves();
	kill(server.pid, SIGSTOP);
	for (size_t i = 0; i < LENGTH(fds); i++) {
		fds[i] = web_connect();
		web_send(fds[i], "/now", STR(""));
	}
	kill(server.pid, SIGTERM);
	kill(server.pid, SIGCONT);
	for (size_t i = 0; i < LENGTH(fds); i++) {
		web_receive(fds[i], 10000, "\r\n\r\nnow");
		assert_ended(fds[i]);
	}
	stop(&log);
	assert_int_equal(count_requests(&log), LENGTH(fds) + 1);
	assert_int_equal(access(address.sun_path, F_OK), -1);
	um_buf_free(&log);
}

/*
 * Those who connect while the last requests wait for the database are refused, also
 * by a name of the socket that nobody removes, as an address of TCP.
 */
TEST(sigterm_refuses_those_who_come_to_an_own_socket_later)
{
	struct um_buf log = { 0 };
	int busy = web_connect();
	int taken = -1;
	int tries = 0;
	int status;

	web_send(busy, "/look", STR(""));
	assert_serves();
	kill(server.pid, SIGTERM);
	do {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		usleep(10000);
		status = connect(fd, (const struct sockaddr *)&second,
			sizeof(second));
		close(fd);
		taken += access(address.sun_path, F_OK) != 0;
	} while (status == 0 && taken < 10 && ++tries < 1000);
	assert_true(taken < 10 && tries < 1000);
	web_receive(busy, 10000, "<code>unavailable</code>");
	stop(&log);
	um_buf_free(&log);
}

/* That of systemd stays: another process will accept there. */
TEST(sigterm_leaves_a_socket_of_another)
{
	struct um_buf log = { 0 };

	assert_serves();
	stop(&log);
	assert_int_equal(access(address.sun_path, F_OK), 0);
	um_buf_free(&log);
}

/* By SIGHUP; what cannot be read leaves the keys as they are. */
TEST(sighup_reads_the_keys_again)
{
	struct um_buf log = { 0 };

	assert_serves();
	kill(server.pid, SIGHUP);
	assert_serves();
	assert_int_equal(chmod(config.keys_file, 0604), 0);
	kill(server.pid, SIGHUP);
	assert_serves();
	stop(&log);
	assert_true(str_has(um_buf_str(&log), STR("keys were read again")));
	assert_true(str_has(um_buf_str(&log), STR("others may read")));
	um_buf_free(&log);
}

#define SERVER_TEST(name)                                                      \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		SERVER_TEST(a_connection_serves_many_requests),
		SERVER_TEST(a_body_over_the_limit_is_refused),
		SERVER_TEST(a_body_is_taken_unless_it_was_cut),
		SERVER_TEST(a_request_is_logged_before_the_loop_waits),
		SERVER_TEST(bad_peers_do_not_disturb_good_ones),
		SERVER_TEST(requests_without_database_do_not_wait_for_it),
		SERVER_TEST(a_peer_that_does_not_read_stops_nobody),
		SERVER_TEST(
			sigterm_does_not_wait_for_a_peer_that_does_not_read),
		SERVER_TEST(sigterm_closes_silent_connections),
		SERVER_TEST(sigterm_waits_for_requests_in_flight),
		SERVER_TEST(sigterm_ends_within_a_second),
		cmocka_unit_test_setup_teardown(
			sigterm_answers_those_who_wait_in_an_own_socket,
			set_up_own, tear_down),
		cmocka_unit_test_setup_teardown(
			sigterm_refuses_those_who_come_to_an_own_socket_later,
			set_up_own, tear_down),
		SERVER_TEST(sigterm_leaves_a_socket_of_another),
		SERVER_TEST(sighup_reads_the_keys_again),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
