/* SPDX-License-Identifier: MIT */
/* Plain CGI (RFC 3875): a process for each request. */
#ifndef UM_CGI_H
#define UM_CGI_H

#include "app/program.h"
#include "server/log.h"

#define UM_CGI_S 20 /* seconds for the request, its body included */

/*
 * Serves the request in the environment and on standard input. Returns the exit
 * status; SIGALRM ends the process after UM_CGI_S.
 */
int um_cgi_run(const struct um_program *program, struct um_context *context,
	struct um_log *log);

#endif
