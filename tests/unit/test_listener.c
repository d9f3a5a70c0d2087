/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/listener.h"
#include "support.h"

static char folder[] = "/tmp/urlmode-listener-XXXXXX";
static char path[64];

static int
set_up(void **state)
{
	(void)state;
	strcpy(strrchr(folder, '-'), "-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/connect.sock", folder);
	return 0;
}

static int
tear_down(void **state)
{
	char lock[sizeof(path) + sizeof(UM_LISTENER_LOCK)];

	(void)state;
	snprintf(lock, sizeof(lock), "%s" UM_LISTENER_LOCK, path);
	unlink(path);
	unlink(lock);
	return rmdir(folder);
}

static bool
can_connect(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok;

	strcpy(address.sun_path, path);
	ok = connect(fd, (const struct sockaddr *)&address, sizeof(address))
		== 0;
	close(fd);
	return ok;
}

static void
assert_refused(const char *where, const char *reason)
{
	struct um_listener listener;
	struct um_error err = { "" };

	row_begin("%s", where);
	assert_false(um_listener_open(&listener, where, false, &err));
	assert_error(&err, reason);
	assert_true(str_has(um_str(err.text), um_str(where)));
	assert_int_equal(listener.fd, -1);
}

/* Whatever the umask is: the group connects, and nobody else. */
TEST(a_unix_socket_is_for_its_group)
{
	static const mode_t masks[] = { 0, 022, 077, 0177 };
	struct um_listener listener;
	struct um_error err;
	struct stat st;

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		mode_t before = umask(masks[i]);

		assert_true(um_listener_open(&listener, path, false, &err));
		umask(before);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0660);
		assert_true(can_connect());
		um_listener_close(&listener);
		assert_int_equal(stat(path, &st), -1);
	}
}

TEST(a_socket_on_which_nobody_listens_is_replaced)
{
	struct um_listener first;
	struct um_listener second;
	struct um_error err;

	assert_true(um_listener_open(&first, path, false, &err));
	assert_refused(path, "Address already in use");
	assert_true(can_connect());
	/* As after SIGKILL. */
	close(first.fd);
	close(first.lock);
	first.fd = -1;
	first.lock = -1;
	assert_false(can_connect());
	assert_true(um_listener_open(&second, path, false, &err));
	assert_true(can_connect());
	/* Whoever ends later does not remove the socket of another. */
	um_listener_close(&first);
	assert_true(can_connect());
	um_listener_close(&second);
	assert_int_equal(access(path, F_OK), -1);
}

#define PROGRAMS 8

/* Listens, says whether it does, and goes on until its parent kills it, or ends. */
static void
start_and_wait(int go, int said, int end)
{
	struct um_listener listener;
	struct um_error err;
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	byte = um_listener_open(&listener, path, false, &err) ? 'y' : 'n';
	if (write(said, &byte, 1) == 1)
		(void)!read(end, &byte, 1);
	_exit(1);
}

/* How many of them listen: one, or none where `ending` had the path until now. */
static void
start_together(struct um_listener *ending)
{
	static const char go_on[PROGRAMS];
	pid_t programs[PROGRAMS];
	int go[2];
	int said[2];
	int end[2];
	int listening = 0;

	assert_int_equal(pipe(go) + pipe(said) + pipe(end), 0);
	for (int i = 0; i < PROGRAMS; i++) {
		programs[i] = fork();
		assert_true(programs[i] >= 0);
		if (programs[i] == 0) {
			close(end[1]);
			if (ending != NULL) {
				close(ending->fd);
				close(ending->lock);
			}
			start_and_wait(go[0], said[1], end[0]);
		}
	}
	assert_int_equal(write(go[1], go_on, PROGRAMS), PROGRAMS);
	if (ending != NULL)
		um_listener_close(ending);
	for (int i = 0; i < PROGRAMS; i++) {
		char byte;

		assert_int_equal(read(said[0], &byte, 1), 1);
		listening += byte == 'y';
	}
	assert_in_range(listening, ending == NULL, 1);
	assert_int_equal(can_connect(), listening);
	/* The socket stays for the next round, and valgrind looks for no leaks. */
	for (int i = 0; i < PROGRAMS; i++) {
		assert_int_equal(kill(programs[i], SIGKILL), 0);
		assert_int_equal(waitpid(programs[i], NULL, 0), programs[i]);
	}
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(said[i]);
		close(end[i]);
	}
}

/*
 * Of programs that start at the same moment, where an ended one has left its
 * socket, one listens, and what connects to the path reaches it.
 */
TEST(one_of_those_that_start_together_has_the_path)
{
	for (int round = 0; round < 50; round++)
		start_together(NULL);
}

/* The same while one ends that had the path: it may still have it for some. */
TEST(whoever_starts_beside_an_end_can_be_reached)
{
	for (int round = 0; round < 50; round++) {
		struct um_listener first;
		struct um_error err;

		unlink(path);
		assert_true(um_listener_open(&first, path, false, &err));
		start_together(&first);
	}
}

TEST(another_file_is_left_alone)
{
	struct stat st;
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
	assert_refused(path, "Socket operation on non-socket");
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

/* Who has connected already is served; who comes later is not. */
TEST(withdrawn_it_keeps_those_who_wait)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct um_listener listener;
	struct um_error err;
	int fd;

	strcpy(address.sun_path, path);
	assert_true(um_listener_open(&listener, path, false, &err));
	assert_int_equal(connect(peer, (const struct sockaddr *)&address,
				 sizeof(address)),
		0);
	um_listener_withdraw(&listener);
	assert_false(can_connect());
	fd = accept(listener.fd, NULL, NULL);
	assert_true(fd >= 0);
	close(fd);
	close(peer);
	um_listener_close(&listener);
}

TEST(what_is_no_address_is_refused)
{
	char longer[200] = "/";

	memset(longer + 1, 'x', sizeof(longer) - 2);
	longer[sizeof(longer) - 1] = '\0';
	assert_refused(longer, "over 107 bytes");
	assert_refused("/nonexistent/connect.sock", "No such file");
	assert_refused("connect", "neither a path with a slash nor HOST:PORT");
	assert_refused("", "neither a path");
	assert_refused(":9000", "neither a path");
	assert_refused("127.0.0.1:", "neither a path");
	assert_refused("127.0.0.1:0", "neither a path");
	assert_refused("127.0.0.1:65536", "neither a path");
	assert_refused("127.0.0.1:http", "neither a path");
	assert_refused("127.0.0.1:-1", "neither a path");
	assert_refused("::1:9000", "neither a path");
	assert_refused("[::1:9000", "neither a path");
}

TEST(addresses_of_other_hosts_need_the_flag)
{
	struct um_listener listener;
	struct um_error err;

	assert_refused("0.0.0.0:9000", "not a loopback address");
	assert_refused("[::]:9000", "not a loopback address");
	assert_refused("192.0.2.1:9000", "not a loopback address");
	assert_refused("[::ffff:127.0.0.1]:9000", "not a loopback address");
	assert_false(um_listener_open(&listener, "192.0.2.1:9000", true, &err));
	assert_error(&err, "Cannot assign requested address");
}

TEST(loopback_is_listened_on)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	struct um_listener listener;
	struct um_error err;
	char where[32];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* A port that is free, or was a moment ago. */
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	close(fd);
	snprintf(where, sizeof(where), "127.0.0.1:%d", ntohs(address.sin_port));
	assert_true(um_listener_open(&listener, where, false, &err));
	assert_refused(where, "Address already in use");
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, len),
		0);
	close(fd);
	um_listener_close(&listener);
	assert_int_equal(listener.fd, -1);
}

/* The socket of systemd or spawn-fcgi is theirs. */
TEST(a_socket_of_another_stays)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	um_listener_close(&(struct um_listener){ .fd = fds[0] });
	assert_true(fcntl(fds[0], F_GETFD) >= 0);
	close(fds[0]);
	close(fds[1]);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		FILE_TEST(a_unix_socket_is_for_its_group),
		FILE_TEST(a_socket_on_which_nobody_listens_is_replaced),
		FILE_TEST(one_of_those_that_start_together_has_the_path),
		FILE_TEST(whoever_starts_beside_an_end_can_be_reached),
		FILE_TEST(another_file_is_left_alone),
		FILE_TEST(withdrawn_it_keeps_those_who_wait),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(addresses_of_other_hosts_need_the_flag),
		cmocka_unit_test(loopback_is_listened_on),
		cmocka_unit_test(a_socket_of_another_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
