/* SPDX-License-Identifier: MIT */
/*
 * A process forgets a request as soon as it has answered it: none of its
 * parameters and nothing of its body is left in memory that can be written.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"
#include "records.h"
#include "server/fastcgi.h"

#define CODE "S3cr3t-authorization-code"
#define LARGE_LEN 500000

/*
 * In the child: reads and answers one request. Standard input says when to go
 * on, standard output what has been done.
 */
static int
serve(void *arg)
{
	const int *pair = arg;
	struct pollfd pfd = { .fd = pair[0], .events = POLLIN };
	enum um_fastcgi_state state = UM_FASTCGI_MORE;
	struct um_error err;
	struct um_memfile *file = um_memfile_new(UM_FASTCGI_FILE_LEN, &err);
	struct um_fastcgi_room room = { .max = LARGE_LEN, .small = LARGE_LEN };
	struct um_fastcgi *fc = um_fastcgi_new(pair[0], file, &room);
	char go;

	close(pair[1]);
	if (!um_fastcgi_init(&err))
		return 2;
	while (state == UM_FASTCGI_MORE && poll(&pfd, 1, CHILD_MAX_MS) == 1)
		state = um_fastcgi_read(fc);
	if (state != UM_FASTCGI_REQUEST || write(STDOUT_FILENO, "r", 1) != 1
		|| read(STDIN_FILENO, &go, 1) != 1)
		return 3;
	if (um_fastcgi_answer(fc, STR("Status: 200\r\n\r\n"), false)
			!= UM_FASTCGI_SENT
		|| write(STDOUT_FILENO, "a", 1) != 1
		|| read(STDIN_FILENO, &go, 1) != 1)
		return 4;
	um_fastcgi_free(fc);
	um_memfile_free(file);
	return 0;
}

static size_t
occurrences(const char *bytes, size_t len, const char *text)
{
	const char *end = bytes + len;
	size_t count = 0;

	while ((bytes = memmem(bytes, (size_t)(end - bytes), text,
			strlen(text)))
		!= NULL) {
		count++;
		bytes++;
	}
	return count;
}

/* How often the text stands in what the process can write. */
static size_t
count_in_memory(pid_t pid, const char *text)
{
	static char chunk[65536 + 64];
	size_t overlap = strlen(text) - 1;
	size_t count = 0;
	char path[64], line[512];
	FILE *maps;
	int mem;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(mem >= 0);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		char *rest;
		unsigned long at = strtoul(line, &rest, 16);
		unsigned long end = strtoul(rest + 1, &rest, 16);

		/* "at-end rwxp …". Only a sanitizer's own memory is so large. */
		if (strlen(rest) < 3 || rest[2] != 'w' || end - at > 1UL << 30)
			continue;
		while (at < end) {
			size_t want = end - at < sizeof(chunk) ? end - at
							       : sizeof(chunk);
			ssize_t got = pread(mem, chunk, want, (off_t)at);

			if (got <= 0)
				break;
			count += occurrences(chunk, (size_t)got, text);
			if ((size_t)got == end - at)
				break;
			at += (size_t)got - overlap;
		}
	}
	fclose(maps);
	close(mem);
	return count;
}

static void
put_secret_request(struct um_buf *out, size_t body_len)
{
	struct um_buf pairs = { 0 };
	struct um_buf body = { 0 };

	put_pair(&pairs, STR("QUERY_STRING"), STR("code=" CODE));
	while (body.len < body_len)
		um_buf_puts(&body, "code=" CODE "&");
	put_begin(out, 1);
	put_record(out, PARAMS, 1, um_buf_str(&pairs), 0);
	put_record(out, PARAMS, 1, STR(""), 0);
	for (size_t at = 0; at < body.len; at += 60000)
		put_record(out, IN, 1,
			(struct um_str){ body.ptr + at,
				body.len - at < 60000 ? body.len - at : 60000 },
			0);
	put_record(out, IN, 1, STR(""), 0);
	um_buf_free(&pairs);
	um_buf_free(&body);
}

static void
assert_forgotten(size_t body_len)
{
	struct um_buf records = { 0 }, out = { 0 }, err = { 0 };
	struct child child;
	int pair[2];
	char done;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	child_start(&child, serve, pair, -1);
	close(pair[0]);
	put_secret_request(&records, body_len);
	assert_int_equal(write(pair[1], records.ptr, records.len), records.len);
	assert_int_equal(read(child.out, &done, 1), 1);
	assert_true(count_in_memory(child.pid, CODE) > 0);
	assert_int_equal(write(child.in, "g", 1), 1);
	assert_int_equal(read(child.out, &done, 1), 1);
	assert_int_equal(count_in_memory(child.pid, CODE), 0);
	assert_int_equal(write(child.in, "g", 1), 1);
	assert_int_equal(child_end(&child, &out, &err), 0);
	close(pair[1]);
	um_buf_free(&records);
	um_buf_free(&out);
	um_buf_free(&err);
}

TEST(a_query_is_forgotten)
{
	assert_forgotten(0);
}

TEST(a_form_is_forgotten)
{
	assert_forgotten(1000);
}

TEST(a_large_body_is_forgotten)
{
	assert_forgotten(LARGE_LEN);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_is_forgotten),
		cmocka_unit_test(a_form_is_forgotten),
		cmocka_unit_test(a_large_body_is_forgotten),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
