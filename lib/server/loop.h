/* SPDX-License-Identifier: MIT */
/* The two ways in which a program runs. */
#ifndef UM_LOOP_H
#define UM_LOOP_H

#include "app/program.h"
#include "core/clock.h"
#include "server/log.h"

#define UM_LOOP_LINGER_MS 200 /* after SIGTERM, for what is on its way */
#define UM_LOOP_TURN_S 10     /* of work without a look at the sockets */
#define UM_CGI_S 20 /* for a request of plain CGI, its body included */

/*
 * FastCGI on the listening socket `listener`: one thread around epoll, until
 * SIGTERM or SIGINT. SIGHUP reads the keys again; so does SIGUSR2, the one
 * signal that multiwatch passes on. Answers the exit status.
 *
 * What keeps it from its sockets for too long (a log that nobody reads, say)
 * ends the process by SIGALRM: its supervisor starts another.
 */
int um_loop_run(const struct um_program *program, struct um_context *context,
	struct um_log *log, int listener);

/*
 * Plain CGI (RFC 3875): one request from the environment; ended by SIGALRM
 * when it takes too long.
 */
int um_cgi_run(const struct um_program *program, struct um_context *context,
	struct um_log *log);

#endif
