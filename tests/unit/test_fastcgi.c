/* SPDX-License-Identifier: MIT */
/* A connection, with the web server's end of it in hand. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fcgios.h>

#include "records.h"
#include "server/fastcgi.h"

static struct um_fastcgi *fc;
static struct um_memfile *file;
static struct um_fastcgi_room room;
static int peer = -1;

static void
connect_pair(struct um_fastcgi **out, int *other)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				 fds),
		0);
	*out = um_fastcgi_new(fds[0], file, &room);
	assert_non_null(*out);
	*other = fds[1];
}

static int
set_up(void **state)
{
	(void)state;
	room = (struct um_fastcgi_room){ .max = UM_FASTCGI_FILE_LEN,
		.small = 131072 };
	connect_pair(&fc, &peer);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	um_fastcgi_free(fc);
	fc = NULL;
	assert_int_equal(room.used, 0);
	if (peer >= 0)
		close(peer);
	peer = -1;
	return 0;
}

static void
send_bytes(int fd, struct um_str bytes)
{
	assert_int_equal(send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL),
		bytes.len);
}

/* Sends the records, and frees the buffer. */
static void
send_all(int fd, struct um_buf *records)
{
	assert_false(records->failed);
	send_bytes(fd, um_buf_str(records));
	um_buf_free(records);
}

/* A request with this body, kept or not, of two parameters. */
static void
put_small_request(struct um_buf *out, int id, bool keep, struct um_str body)
{
	struct um_buf pairs = { 0 };
	const char content[8] = { 0, 1, (char)keep };

	put_pair(&pairs, STR("REQUEST_METHOD"), STR("POST"));
	put_pair(&pairs, STR("EMPTY"), STR(""));
	put_record(out, BEGIN, id, (struct um_str){ content, sizeof(content) },
		0);
	put_record(out, PARAMS, id, um_buf_str(&pairs), 0);
	put_record(out, PARAMS, id, STR(""), 0);
	if (body.len != 0)
		put_record(out, IN, id, body, 0);
	put_record(out, IN, id, STR(""), 0);
	um_buf_free(&pairs);
}

static void
send_request(int fd, int id, bool keep, struct um_str body)
{
	struct um_buf records = { 0 };

	put_small_request(&records, id, keep, body);
	send_all(fd, &records);
}

/* All that has come to the web server; its end, too, where `closed`. */
static void
receive(int fd, struct um_buf *out, bool closed)
{
	char chunk[4096];
	ssize_t n;

	while ((n = recv(fd, chunk, sizeof(chunk), MSG_DONTWAIT)) > 0)
		um_buf_put(out, chunk, (size_t)n);
	if (closed)
		assert_true(n == 0 || errno == ECONNRESET);
	else
		assert_true(n != 0 && errno == EAGAIN);
}

static void
assert_answered(int fd, int id, const char *expected)
{
	struct um_buf got = { 0 };
	struct um_buf content = { 0 };

	receive(fd, &got, false);
	assert_true(read_answer(&content, um_buf_str(&got), id));
	assert_str(um_buf_str(&content), expected);
	um_buf_free(&got);
	um_buf_free(&content);
}

TEST(a_request_is_read_and_answered)
{
	send_request(peer, 7, true, STR("a\0b"));
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_REQUEST);
	assert_string_equal(um_fastcgi_param("REQUEST_METHOD", fc), "POST");
	assert_string_equal(um_fastcgi_param("EMPTY", fc), "");
	assert_null(um_fastcgi_param("REQUEST", fc));
	assert_null(um_fastcgi_param("", fc));
	assert_true(um_str_eq(um_fastcgi_body(fc), STR("a\0b")));
	assert_false(um_fastcgi_is_partial(fc));
	assert_int_equal(um_fastcgi_answer(fc, STR("Status: 200\r\n\r\nx"),
				 false),
		UM_FASTCGI_SENT);
	assert_answered(peer, 7, "Status: 200\r\n\r\nx");
}

TEST(parameters_may_come_in_several_records)
{
	static const char content[8] = { 0, 1, 1 };
	struct um_buf records = { 0 };

	put_record(&records, BEGIN, 1,
		(struct um_str){ content, sizeof(content) }, 0);
	put_record(&records, PARAMS, 1, STR("\1\1ab"), 7);
	put_record(&records, PARAMS, 1, STR("\1\1cd"), 0);
	put_record(&records, PARAMS, 1, STR(""), 0);
	put_record(&records, IN, 1, STR("body"), 0);
	put_record(&records, IN, 1, STR(""), 0);
	send_all(peer, &records);
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_REQUEST);
	assert_string_equal(um_fastcgi_param("a", fc), "b");
	assert_string_equal(um_fastcgi_param("c", fc), "d");
	assert_str(um_fastcgi_body(fc), "body");
}

TEST(a_connection_serves_one_request_after_another)
{
	for (int i = 1; i < 50; i++) {
		send_request(peer, i, true, i % 2 ? STR("body") : STR(""));
		assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_REQUEST);
		assert_int_equal(um_fastcgi_body(fc).len, i % 2 ? 4 : 0);
		assert_int_equal(um_fastcgi_answer(fc, STR("x"), false),
			UM_FASTCGI_SENT);
		assert_answered(peer, i, "x");
		assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_MORE);
	}
}

TEST(a_request_may_come_byte_by_byte)
{
	struct um_buf records = { 0 };

	put_small_request(&records, 1, true, STR("body"));
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_MORE);
	assert_false(um_fastcgi_is_partial(fc));
	for (size_t i = 0; i < records.len; i++) {
		send_bytes(peer, (struct um_str){ records.ptr + i, 1 });
		assert_int_equal(um_fastcgi_read(fc),
			i + 1 < records.len ? UM_FASTCGI_MORE
					    : UM_FASTCGI_REQUEST);
		assert_int_equal(um_fastcgi_is_partial(fc),
			i + 1 < records.len);
	}
	assert_str(um_fastcgi_body(fc), "body");
	um_buf_free(&records);
}

/* What stands in one connection is none of another's. */
TEST(connections_do_not_share_requests)
{
	struct um_fastcgi *all[8];
	int peers[8];

	for (size_t i = 0; i < LENGTH(all); i++) {
		char body[2] = { (char)('a' + i), (char)('a' + i) };

		connect_pair(&all[i], &peers[i]);
		send_request(peers[i], (int)i + 1, true,
			(struct um_str){ body, i == 0 ? 0 : sizeof(body) });
		assert_int_equal(um_fastcgi_read(all[i]), UM_FASTCGI_REQUEST);
	}
	for (size_t i = LENGTH(all); i-- > 0;) {
		struct um_str body = um_fastcgi_body(all[i]);

		assert_int_equal(body.len, i == 0 ? 0 : 2);
		assert_true(i == 0 || body.ptr[1] == (char)('a' + i));
		assert_string_equal(um_fastcgi_param("REQUEST_METHOD", all[i]),
			"POST");
		assert_int_equal(um_fastcgi_answer(all[i], STR("x"), false),
			UM_FASTCGI_SENT);
		assert_answered(peers[i], (int)i + 1, "x");
		um_fastcgi_free(all[i]);
		close(peers[i]);
	}
}

/* As the web server has asked, or because it is the last. */
TEST(a_connection_ends_after_its_last_request)
{
	for (int last = 0; last < 2; last++) {
		send_request(peer, 1, last, STR(""));
		assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_REQUEST);
		assert_int_equal(um_fastcgi_answer(fc, STR("x"), last),
			UM_FASTCGI_LAST);
		assert_answered(peer, 1, "x");
	}
}

TEST(a_body_may_come_in_many_records)
{
	static char chunk[CONTENT_MAX];
	struct um_buf records = { 0 };
	size_t sent = 0;

	for (size_t i = 0; i < sizeof(chunk); i++)
		chunk[i] = (char)i;
	put_small_request(&records, 1, true, STR(""));
	records.len -= 8;
	for (int i = 0; i < 16; i++)
		put_record(&records, IN, 1,
			(struct um_str){ chunk, sizeof(chunk) - (size_t)i }, i);
	put_record(&records, IN, 1, STR(""), 0);
	while (sent < records.len) {
		size_t left = records.len - sent;

		left = left < 50000 ? left : 50000;
		send_bytes(peer, (struct um_str){ records.ptr + sent, left });
		sent += left;
		assert_int_equal(um_fastcgi_read(fc),
			sent < records.len ? UM_FASTCGI_MORE
					   : UM_FASTCGI_REQUEST);
	}
	assert_int_equal(um_fastcgi_body(fc).len,
		16 * sizeof(chunk) - 15 * 16 / 2);
	assert_memory_equal(um_fastcgi_body(fc).ptr + sizeof(chunk), chunk,
		1000);
	um_buf_free(&records);
}

TEST(a_management_record_closes_the_connection)
{
	struct um_buf records = { 0 };
	struct um_buf got = { 0 };

	put_record(&records, GET_VALUES, 0, STR("\16\0FCGI_MAX_CONNS"), 0);
	send_all(peer, &records);
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_CLOSED);
	um_fastcgi_free(fc);
	fc = NULL;
	receive(peer, &got, true);
	assert_int_equal(got.len, 0);
}

/* The next request must wait for the answer: nothing is read ahead. */
TEST(a_request_before_the_answer_is_refused)
{
	struct um_buf records = { 0 };

	put_small_request(&records, 1, true, STR(""));
	put_small_request(&records, 2, true, STR(""));
	send_all(peer, &records);
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_CLOSED);
}

TEST(a_peer_that_leaves_early_is_noticed)
{
	struct um_buf records = { 0 };

	put_small_request(&records, 1, true, STR("body"));
	records.len -= 8;
	send_all(peer, &records);
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_MORE);
	close(peer);
	peer = -1;
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_CLOSED);
}

TEST(an_answer_to_a_peer_that_left_does_no_harm)
{
	send_request(peer, 1, true, STR(""));
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_REQUEST);
	close(peer);
	peer = -1;
	assert_int_equal(um_fastcgi_answer(fc, STR("x"), false),
		UM_FASTCGI_LAST);
}

/*
 * What a peer does not read is kept, and sent when it reads: whole, however large
 * it is. Then the connection serves the next request.
 */
TEST(an_answer_waits_for_a_peer_that_is_slow)
{
	static char answer[4 * 1024 * 1024];
	enum um_fastcgi_sent sent;
	struct um_buf got = { 0 }, content = { 0 };

	for (size_t i = 0; i < sizeof(answer); i++)
		answer[i] = (char)(i * 31 + i / 65528);
	send_request(peer, 1, true, STR(""));
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_REQUEST);
	sent = um_fastcgi_answer(fc, (struct um_str){ answer, sizeof(answer) },
		false);
	assert_int_equal(sent, UM_FASTCGI_SENDING);
	for (int turns = 0; sent == UM_FASTCGI_SENDING; turns++) {
		assert_true(turns < 10000);
		receive(peer, &got, false);
		sent = um_fastcgi_send(fc);
	}
	assert_int_equal(sent, UM_FASTCGI_SENT);
	receive(peer, &got, false);
	assert_true(read_answer(&content, um_buf_str(&got), 1));
	assert_int_equal(content.len, sizeof(answer));
	assert_memory_equal(content.ptr, answer, sizeof(answer));
	um_buf_free(&got);
	um_buf_free(&content);
	send_request(peer, 2, true, STR(""));
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_REQUEST);
	assert_int_equal(um_fastcgi_answer(fc, STR("x"), false),
		UM_FASTCGI_SENT);
	assert_answered(peer, 2, "x");
}

TEST(a_peer_that_leaves_during_an_answer_is_noticed)
{
	static char answer[4 * 1024 * 1024];

	send_request(peer, 1, true, STR(""));
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_REQUEST);
	assert_int_equal(um_fastcgi_answer(fc,
				 (struct um_str){ answer, sizeof(answer) },
				 false),
		UM_FASTCGI_SENDING);
	close(peer);
	peer = -1;
	assert_int_equal(um_fastcgi_send(fc), UM_FASTCGI_LAST);
}

/* A body of so many bytes, but for the record that ends it. Returns the state. */
static enum um_fastcgi_state
send_body(struct um_fastcgi *to, int fd, size_t len)
{
	static const char part[50000] = "body";
	enum um_fastcgi_state state = UM_FASTCGI_MORE;
	struct um_buf records = { 0 };

	put_small_request(&records, 1, true, STR(""));
	records.len -= 8;
	for (size_t sent = 0; sent < len; sent += sizeof(part)) {
		put_record(&records, IN, 1,
			(struct um_str){ part, sizeof(part) }, 0);
		send_all(fd, &records);
		state = um_fastcgi_read(to);
	}
	return state;
}

static void
end_body(struct um_fastcgi *to, int fd)
{
	struct um_buf records = { 0 };

	put_record(&records, IN, 1, STR(""), 0);
	send_all(fd, &records);
	assert_int_equal(um_fastcgi_read(to), UM_FASTCGI_REQUEST);
}

/*
 * Large bodies share the room; what is beyond it is read and dropped. Small ones
 * need none. Whatever ends gives its room back.
 */
TEST(bodies_that_have_no_room_are_dropped)
{
	static char answer[4 * 1024 * 1024];
	struct um_fastcgi *other, *small;
	int other_peer, small_peer;

	room.max = 1000000;
	connect_pair(&other, &other_peer);
	connect_pair(&small, &small_peer);
	assert_int_equal(send_body(fc, peer, 700000), UM_FASTCGI_MORE);
	assert_true(room.used >= 700000);
	assert_int_equal(send_body(other, other_peer, 700000), UM_FASTCGI_MORE);
	assert_true(room.used < 800000);
	send_body(small, small_peer, 50000);
	end_body(small, small_peer);
	assert_false(um_fastcgi_is_dropped(small));
	assert_int_equal(um_fastcgi_body(small).len, 50000);
	assert_int_equal(um_fastcgi_answer(small, STR("yes"), false),
		UM_FASTCGI_SENT);
	end_body(other, other_peer);
	assert_true(um_fastcgi_is_dropped(other));
	assert_int_equal(um_fastcgi_body(other).len, 0);
	assert_string_equal(um_fastcgi_param("REQUEST_METHOD", other), "POST");
	assert_int_equal(um_fastcgi_answer(other, STR("no"), false),
		UM_FASTCGI_SENT);
	assert_answered(other_peer, 1, "no");
	end_body(fc, peer);
	assert_false(um_fastcgi_is_dropped(fc));
	assert_int_equal(um_fastcgi_body(fc).len, 700000);
	assert_false(um_fastcgi_has_room(other, 400000));
	assert_true(um_fastcgi_has_room(fc, 900000));

	/* An answer takes the place of its body. */
	assert_int_equal(um_fastcgi_answer(fc, STR("yes"), false),
		UM_FASTCGI_SENT);
	assert_int_equal(room.used, 0);
	assert_int_equal(send_body(other, other_peer, 700000), UM_FASTCGI_MORE);
	end_body(other, other_peer);
	assert_false(um_fastcgi_is_dropped(other));
	um_fastcgi_forget_body(other);
	assert_int_equal(room.used, 0);
	assert_int_equal(um_fastcgi_answer(other,
				 (struct um_str){ answer, sizeof(answer) },
				 false),
		UM_FASTCGI_SENDING);
	assert_true(room.used >= sizeof(answer));
	assert_true(room.used > room.max);
	assert_false(um_fastcgi_has_room(small, 200000));
	assert_true(um_fastcgi_has_room(small, 50000));
	send_body(small, small_peer, 50000);
	end_body(small, small_peer);
	assert_false(um_fastcgi_is_dropped(small));
	um_fastcgi_free(other);
	assert_int_equal(room.used, 0);
	um_fastcgi_free(small);
	close(other_peer);
	close(small_peer);
}

/* The web server sees the end, and no answer that might look whole. */
TEST(freeing_a_connection_sends_no_answer)
{
	struct um_buf got = { 0 };

	send_request(peer, 1, true, STR("body"));
	assert_int_equal(um_fastcgi_read(fc), UM_FASTCGI_REQUEST);
	um_fastcgi_free(fc);
	fc = NULL;
	receive(peer, &got, true);
	assert_int_equal(got.len, 0);
	um_fastcgi_free(NULL);
}

static size_t
open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

TEST(no_descriptor_is_leaked)
{
	size_t before = open_descriptors();

	for (int i = 0; i < 20; i++) {
		struct um_fastcgi *one;
		int other;

		connect_pair(&one, &other);
		if (i % 4 != 0)
			send_request(other, 1, i % 2, STR("body"));
		um_fastcgi_read(one);
		if (i % 4 == 2)
			um_fastcgi_answer(one, STR("x"), false);
		if (i % 4 == 3) {
			close(other);
			um_fastcgi_answer(one, STR("x"), false);
		}
		um_fastcgi_free(one);
		if (i % 4 != 3)
			close(other);
	}
	assert_int_equal(open_descriptors(), before);
}

static int
begin(void **state)
{
	struct um_error err = { "" };

	(void)state;
	signal(SIGPIPE, SIG_IGN);
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

#define CONNECTION_TEST(name)                                                  \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CONNECTION_TEST(a_request_is_read_and_answered),
		CONNECTION_TEST(parameters_may_come_in_several_records),
		CONNECTION_TEST(a_connection_serves_one_request_after_another),
		CONNECTION_TEST(a_request_may_come_byte_by_byte),
		cmocka_unit_test(connections_do_not_share_requests),
		CONNECTION_TEST(a_connection_ends_after_its_last_request),
		CONNECTION_TEST(a_body_may_come_in_many_records),
		CONNECTION_TEST(a_management_record_closes_the_connection),
		CONNECTION_TEST(a_request_before_the_answer_is_refused),
		CONNECTION_TEST(a_peer_that_leaves_early_is_noticed),
		CONNECTION_TEST(an_answer_to_a_peer_that_left_does_no_harm),
		CONNECTION_TEST(an_answer_waits_for_a_peer_that_is_slow),
		CONNECTION_TEST(a_peer_that_leaves_during_an_answer_is_noticed),
		CONNECTION_TEST(bodies_that_have_no_room_are_dropped),
		CONNECTION_TEST(freeing_a_connection_sends_no_answer),
		cmocka_unit_test(no_descriptor_is_leaked),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
