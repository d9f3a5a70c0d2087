/* SPDX-License-Identifier: MIT */
/* The event loop in which a program serves FastCGI. */
#ifndef UM_LOOP_H
#define UM_LOOP_H

#include <signal.h>

#include "app/program.h"
#include "core/clock.h"
#include "server/listener.h"
#include "server/log.h"

#define UM_LOOP_LINGER_MS 200 /* after SIGTERM, for requests that arrive */
#define UM_LOOP_STOP_MS 800   /* and for those that wait for the database */
#define UM_LOOP_TURN_S 10     /* for one turn of the loop */

/*
 * Serves FastCGI on the listening socket, in one thread around epoll, until
 * SIGTERM, SIGINT or SIGQUIT (with which multiwatch ends it). It then finishes
 * the requests that it has; of a listener of its own also those of connections
 * that nobody has accepted yet, and closes it.
 * A request that still waits for the database after UM_LOOP_STOP_MS gets 503, and
 * an answer that its peer has not read by then ends.
 *
 * Reads the keys file again when it has changed (server/watch.h). SIGHUP,
 * and SIGUSR2, the only signal that multiwatch passes on, read it in any case
 * and open the log again. SIGUSR1 opens the log again. Returns the exit status.
 *
 * SIGALRM ends the process if a turn of the loop takes longer than
 * UM_LOOP_TURN_S (for example because standard error is a pipe that nobody
 * reads), so that its supervisor starts another.
 */
int um_loop_run(const struct um_program *program, struct um_context *context,
	struct um_log *log, struct um_listener *listener);

/*
 * The signals that it handles. The first process of a container blocks them as
 * early as it can, since it ignores a signal that is neither blocked nor handled.
 */
void um_loop_signals(sigset_t *set);

#endif
