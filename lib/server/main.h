/* SPDX-License-Identifier: MIT */
/* How a program starts. */
#ifndef UM_MAIN_H
#define UM_MAIN_H

#include "app/program.h"

/*
 * The whole life of a program: reads its arguments and its configuration, and
 * runs it as FastCGI or as plain CGI. Returns the exit status for main(). It
 * has no option that prints anything of the configuration, and reads no argument
 * at all in the environment of a CGI request.
 */
int um_program_main(const struct um_program *program, int argc, char **argv);

/* The version, MAJOR.MINOR.PATCH: the first line of nginx/debian/changelog. */
const char *um_version(void);

#endif
