/* SPDX-License-Identifier: MIT */
/* A part of a program that only lives in a process of its own. */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <sys/types.h>

#include "support.h"

#define CHILD_MAX_MS 20000 /* then it is killed, and the test fails */

struct child {
	pid_t pid;
	int in;  /* its standard input, where it is a pipe; else -1 */
	int out; /* what it writes to standard output and to error */
	int err;
};

/*
 * Forks; the child's exit status is what run(arg) answers. Its standard input
 * is `in`, or a pipe for -1.
 */
void child_start(struct child *child, int (*run)(void *arg), void *arg, int in);

/* Ends its input; all that it writes until it ends, and its exit status. */
int child_end(struct child *child, struct um_buf *out, struct um_buf *err);

/*
 * A limit of core dumps other than 0 may be set. An ordinary user often has a
 * hard limit of 0 (sudo(8)), and then nobody but root may raise it.
 */
bool child_may_set_cores(void);

/*
 * In the child: the hard limit of core dumps becomes 0, and as in a container
 * root may not raise it either.
 */
void child_limit_cores(void);

#endif
