/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <valgrind/memcheck.h>

#define VALGRIND_STATUS 99 /* of a child in which it has found something */

/* Bytes that nothing points to any more. */
static unsigned long
leaked(void)
{
	unsigned long leaks[4] = { 0 }; /* sure, likely, reachable, known */

	VALGRIND_DO_QUICK_LEAK_CHECK;
	VALGRIND_COUNT_LEAKS(leaks[0], leaks[1], leaks[2], leaks[3]);
	return leaks[0];
}

/*
 * At its end valgrind would count what the parent had allocated before the
 * fork, and which is the parent's to free. So it is asked for errors and
 * leaks here, and does not see the end.
 */
static void
run_under_valgrind(int (*run)(void *arg), void *arg)
{
	unsigned long before = leaked();
	int status = run(arg);
	char text[16];

	if (VALGRIND_COUNT_ERRORS != 0 || leaked() != before)
		status = VALGRIND_STATUS;
	snprintf(text, sizeof(text), "exit %d", status);
	fflush(NULL);
	execl("/bin/sh", "sh", "-c", text, (char *)NULL);
}

void
child_start(struct child *child, int (*run)(void *arg), void *arg, int in)
{
	int to[2] = { in, -1 };
	int out[2];
	int err[2];

	assert_true(in >= 0 || pipe(to) == 0);
	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(err), 0);
	fflush(NULL); /* or the child would write it again */
	child->pid = fork();
	assert_true(child->pid >= 0);
	if (child->pid == 0) {
		dup2(to[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		close(to[0]);
		close(out[0]);
		close(err[0]);
		if (to[1] >= 0)
			close(to[1]);
		if (RUNNING_ON_VALGRIND)
			run_under_valgrind(run, arg);
		exit(run(arg));
	}
	close(out[1]);
	close(err[1]);
	if (in < 0)
		close(to[0]);
	child->in = to[1];
	child->out = out[0];
	child->err = err[0];
}

/* Reads from both until both have ended. */
static void
read_both(struct child *child, struct um_buf *out, struct um_buf *err)
{
	struct pollfd fds[2] = { { .fd = child->out, .events = POLLIN },
		{ .fd = child->err, .events = POLLIN } };
	struct um_buf *into[2] = { out, err };

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, 2, CHILD_MAX_MS) <= 0) {
			kill(child->pid, SIGKILL);
			fail_msg("the child does not end");
		}
		for (int i = 0; i < 2; i++) {
			char chunk[4096];
			ssize_t n;

			if (fds[i].fd < 0 || fds[i].revents == 0)
				continue;
			n = read(fds[i].fd, chunk, sizeof(chunk));
			if (n > 0)
				um_buf_put(into[i], chunk, (size_t)n);
			else
				fds[i].fd = -1;
		}
	}
}

int
child_end(struct child *child, struct um_buf *out, struct um_buf *err)
{
	int status;

	if (child->in >= 0)
		close(child->in);
	read_both(child, out, err);
	close(child->out);
	close(child->err);
	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
	if (!WIFEXITED(status))
		fail_msg("the child ended by signal %d: %.*s", WTERMSIG(status),
			(int)err->len, err->ptr != NULL ? err->ptr : "");
	return WEXITSTATUS(status);
}

bool
child_may_set_cores(void)
{
	struct rlimit cores;

	return getrlimit(RLIMIT_CORE, &cores) == 0 && cores.rlim_max > 0;
}

void
child_limit_cores(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) != 0
		|| syscall(SYS_capget, &header, data) != 0)
		_exit(99);
	data[0].effective &= ~(1U << CAP_SYS_RESOURCE);
	if (syscall(SYS_capset, &header, data) != 0)
		_exit(99);
}
