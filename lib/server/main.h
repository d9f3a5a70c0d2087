/* SPDX-License-Identifier: MIT */
/* How a program starts. */
#ifndef UM_MAIN_H
#define UM_MAIN_H

#include <stdbool.h>

#include "app/program.h"

/*
 * Whether the environment is that of a CGI request. The arguments may come from
 * a browser then (RFC 3875 section 4.4).
 */
bool um_is_cgi(void);

/*
 * The whole life of a program: reads its arguments and its configuration, and
 * runs it as FastCGI or as plain CGI. Returns the exit status for main().
 */
int um_program_main(const struct um_program *program, int argc, char **argv);

#endif
