/* SPDX-License-Identifier: MIT */
/* Which connections are closed, with the web server's ends of them in hand. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fcgios.h>

#include "records.h"
#include "server/connections.h"

/* A connection, and the end of it that the web server has. */
struct pair {
	struct um_connection *c;
	int peer;
};

static struct um_connections list;
static struct um_memfile *file;
/* Which of the next calls of calloc() has no memory; 0: none. */
static int calloc_to_fail;
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static int epoll, listener;

/* With ld --wrap=calloc (see the Makefile), calloc() calls __wrap_calloc(). */
/* NOLINTBEGIN(clang-diagnostic-reserved-identifier) */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *
__wrap_calloc(size_t count, size_t size)
{
	return calloc_to_fail != 0 && --calloc_to_fail == 0
		? NULL
		: __real_calloc(count, size);
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

static int
set_up(void **state)
{
	(void)state;
	list = (struct um_connections){ 0 };
	epoll = epoll_create1(EPOLL_CLOEXEC);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof(address.sun_path),
		"/tmp/urlmode-test-%d.sock", (int)getpid());
	unlink(address.sun_path);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address,
				 sizeof(address)),
		0);
	assert_int_equal(listen(listener, 128), 0);
	um_connections_begin(&list, epoll, listener, file);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	um_connections_end(&list);
	assert_int_equal(list.len, 0);
	close(listener);
	close(epoll);
	unlink(address.sun_path);
	return 0;
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

static struct pair
open_pair(void)
{
	struct pair pair = { .peer = web_connect() };

	um_connections_accept(&list);
	pair.c = TAILQ_FIRST(&list.open);
	assert_non_null(pair.c);
	return pair;
}

static void
send_request(const struct pair *pair)
{
	struct um_buf records = { 0 };

	put_request(&records, 1, STR(""));
	assert_int_equal(write(pair->peer, records.ptr, records.len),
		records.len);
	um_buf_free(&records);
}

/* Sends the beginning of a request, which arrives at this time. */
static void
send_part(const struct pair *pair, int64_t now)
{
	assert_int_equal(write(pair->peer, "\1\1", 2), 2);
	assert_false(um_connections_read(&list, pair->c, now));
}

static void
answer(const struct pair *pair)
{
	um_connections_answered(&list, pair->c,
		um_fastcgi_answer(pair->c->fc, STR("x"), false), 0);
}

/* Whether the web server sees the end of the connection. */
static bool
is_closed(const struct pair *pair)
{
	char bytes[4096];
	ssize_t n;

	while ((n = recv(pair->peer, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		;
	return n == 0 || errno == ECONNRESET;
}

enum { BUSY, PARTIAL, UNREAD, OLDEST, ANSWERED, NEXT };

/*
 * The list is full: the connection that has been idle for longest makes room.
 * One with a request on it never does, whether the request is being answered,
 * arriving, or has not been read; the time of the last request counts.
 */
TEST(the_connection_idle_for_longest_makes_room)
{
	static struct pair pairs[UM_CONNECTIONS_MAX];
	static const char *const names[] = { "busy", "partial", "unread",
		"oldest", "answered", "next" };
	struct pair more[2];

	pairs[BUSY] = open_pair();
	send_request(&pairs[BUSY]);
	assert_true(um_connections_read(&list, pairs[BUSY].c, 0));
	for (size_t i = BUSY + 1; i < LENGTH(pairs); i++)
		pairs[i] = open_pair();
	send_part(&pairs[PARTIAL], 0);
	send_request(&pairs[UNREAD]);
	send_request(&pairs[ANSWERED]);
	assert_true(um_connections_read(&list, pairs[ANSWERED].c, 0));
	answer(&pairs[ANSWERED]);
	for (size_t i = 0; i < LENGTH(more); i++) {
		more[i] = open_pair();
		assert_int_equal(list.len, UM_CONNECTIONS_MAX);
		for (size_t j = 0; j < LENGTH(names); j++)
			assert_row(names[j],
				is_closed(&pairs[j])
					== (j == OLDEST
						|| (i == 1 && j == NEXT)));
	}
	for (size_t i = NEXT + 1; i < LENGTH(pairs); i++)
		assert_false(is_closed(&pairs[i]));
	for (size_t i = 0; i < LENGTH(pairs); i++)
		close(pairs[i].peer);
	for (size_t i = 0; i < LENGTH(more); i++)
		close(more[i].peer);
}

/* No connection is idle: new ones wait until one is closed or answered. */
TEST(a_full_list_without_an_idle_connection_stops_accepting)
{
	static struct pair pairs[UM_CONNECTIONS_MAX];
	struct pair waiting;

	for (size_t i = 0; i < LENGTH(pairs); i++) {
		pairs[i] = open_pair();
		send_part(&pairs[i], i == 7 ? 0 : 1);
	}
	waiting.peer = web_connect();
	um_connections_accept(&list);
	assert_false(list.accepting);
	assert_int_equal(list.len, UM_CONNECTIONS_MAX);
	um_connections_close_slow(&list, UM_CONNECTIONS_SLOW_MS);
	assert_true(is_closed(&pairs[7]));
	assert_true(list.accepting);
	um_connections_accept(&list);
	assert_int_equal(list.len, UM_CONNECTIONS_MAX);
	assert_false(is_closed(&waiting));
	for (size_t i = 0; i < LENGTH(pairs); i++)
		close(pairs[i].peer);
	close(waiting.peer);
}

/* Each request has its own time to arrive, however much else has arrived. */
TEST(a_request_that_arrives_too_slowly_is_closed)
{
	const int64_t limit = UM_CONNECTIONS_SLOW_MS;
	struct pair late = open_pair(), early = open_pair(), idle = open_pair(),
		    busy = open_pair(), middle = open_pair();

	assert_int_equal(um_connections_close_slow(&list, 0), -1);
	send_request(&busy);
	assert_true(um_connections_read(&list, busy.c, 0));
	send_part(&early, 100);
	send_part(&middle, 150);
	send_part(&late, 200);
	/* More of the request does not give it more time. */
	assert_int_equal(write(early.peer, "\0\1", 2), 2);
	assert_false(um_connections_read(&list, early.c, 190));

	assert_int_equal(um_connections_close_slow(&list, limit + 99),
		limit + 100);
	assert_false(is_closed(&early));
	assert_int_equal(um_connections_close_slow(&list, limit + 100),
		limit + 150);
	assert_true(is_closed(&early));
	assert_false(is_closed(&middle));
	assert_int_equal(um_connections_close_slow(&list, limit + 200), -1);
	assert_true(is_closed(&middle));
	assert_true(is_closed(&late));
	assert_false(is_closed(&idle));
	assert_false(is_closed(&busy));
	close(late.peer);
	close(early.peer);
	close(idle.peer);
	close(busy.peer);
	close(middle.peer);
}

/* Whether epoll has an event of this connection, or of none. */
static bool
has_event(const struct pair *pair)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, 0) == 1
		&& event.data.ptr == pair->c;
}

/* An answer has a time in which the peer must read more of it, and then more. */
TEST(a_peer_that_reads_nothing_is_closed)
{
	static char bytes[4 * 1024 * 1024];
	const int64_t limit = UM_CONNECTIONS_SLOW_MS;
	struct pair pair = open_pair();

	send_request(&pair);
	assert_true(um_connections_read(&list, pair.c, 0));
	um_connections_answered(&list, pair.c,
		um_fastcgi_answer(pair.c->fc,
			(struct um_str){ bytes, sizeof(bytes) }, false),
		100);
	assert_true(pair.c->sending);
	assert_int_equal(list.sending_len, 1);
	assert_int_equal(list.busy_len, 0);
	assert_false(has_event(&pair));
	assert_int_equal(um_connections_close_slow(&list, limit + 99),
		limit + 100);
	while (recv(pair.peer, bytes, 65536, MSG_DONTWAIT) > 0)
		;
	assert_true(has_event(&pair));
	um_connections_send(&list, pair.c, 5000);
	assert_false(has_event(&pair));
	assert_int_equal(um_connections_close_slow(&list, limit + 4999),
		limit + 5000);
	assert_int_equal(um_connections_close_slow(&list, limit + 5000), -1);
	assert_int_equal(list.len, 0);
	assert_int_equal(list.sending_len, 0);
	assert_true(is_closed(&pair));
	close(pair.peer);
}

/* What it sends too early is read after the answer, and wakes nobody before. */
TEST(a_parked_request_ends_when_its_peer_has_gone)
{
	struct pair pair = open_pair();

	send_request(&pair);
	assert_true(um_connections_read(&list, pair.c, 0));
	um_connections_park(&list, pair.c);
	assert_false(has_event(&pair));
	assert_int_equal(write(pair.peer, "\1\1", 2), 2);
	assert_false(has_event(&pair));
	close(pair.peer);
	assert_true(has_event(&pair));
}

/* After SIGTERM: the socket belongs to the next process. */
TEST(a_stopped_list_never_accepts_again)
{
	struct pair pair = open_pair();

	um_connections_stop(&list);
	assert_false(list.accepting);
	send_request(&pair);
	assert_true(um_connections_read(&list, pair.c, 0));
	answer(&pair);
	assert_false(list.accepting);
	close(pair.peer);
	assert_false(um_connections_read(&list, pair.c, 0));
	assert_int_equal(list.len, 0);
	assert_false(list.accepting);
}

/* The web server sees its end, and the next one is served. */
TEST(a_connection_without_memory_is_closed)
{
	for (int n = 1; n <= 2; n++) {
		struct pair refused = { .peer = web_connect() };
		struct pair served;

		calloc_to_fail = n;
		um_connections_accept(&list);
		assert_int_equal(calloc_to_fail, 0);
		assert_int_equal(list.len, n - 1);
		assert_true(is_closed(&refused));
		close(refused.peer);
		served = open_pair();
		assert_true(list.accepting);
		send_request(&served);
		assert_true(um_connections_read(&list, served.c, 0));
		answer(&served);
		assert_false(is_closed(&served));
		close(served.peer);
	}
}

static int
begin(void **state)
{
	struct rlimit limit;
	struct um_error err;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	/* Both ends of each connection are open here. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	file = um_memfile_new(UM_FASTCGI_FILE_LEN, &err);
	return file != NULL && um_fastcgi_init(&err) ? 0 : -1;
}

static int
end(void **state)
{
	(void)state;
	um_memfile_free(file);
	OS_LibShutdown();
	return 0;
}

#define LIST_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		LIST_TEST(the_connection_idle_for_longest_makes_room),
		LIST_TEST(
			a_full_list_without_an_idle_connection_stops_accepting),
		LIST_TEST(a_request_that_arrives_too_slowly_is_closed),
		LIST_TEST(a_peer_that_reads_nothing_is_closed),
		LIST_TEST(a_parked_request_ends_when_its_peer_has_gone),
		LIST_TEST(a_stopped_list_never_accepts_again),
		LIST_TEST(a_connection_without_memory_is_closed),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
