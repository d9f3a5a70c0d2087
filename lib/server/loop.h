/* SPDX-License-Identifier: MIT */
/* The event loop in which a program serves FastCGI. */
#ifndef UM_LOOP_H
#define UM_LOOP_H

#include "app/program.h"
#include "core/clock.h"
#include "server/log.h"

#define UM_LOOP_LINGER_MS 200 /* after SIGTERM, for requests on their way */
#define UM_LOOP_TURN_S 10     /* for one turn of the loop */

/*
 * Serves FastCGI on the listening socket `listener`, in one thread around
 * epoll, until SIGTERM or SIGINT. Reads the keys file again when it has changed:
 * a request looks at it, once a second at most. SIGHUP reads it in any case and
 * opens the log again, and so does SIGUSR2, the only signal that multiwatch passes
 * on; SIGUSR1 opens the log again. Returns the exit status.
 *
 * A turn of the loop that takes longer than UM_LOOP_TURN_S (because nobody
 * reads the log, for example) ends the process by SIGALRM, so that its
 * supervisor starts another.
 */
int um_loop_run(const struct um_program *program, struct um_context *context,
	struct um_log *log, int listener);

#endif
