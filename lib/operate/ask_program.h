/* SPDX-License-Identifier: MIT */
/* A request to a program at its socket, past nginx. */
#ifndef UM_ASK_PROGRAM_H
#define UM_ASK_PROGRAM_H

#include <stdbool.h>

#include "core/str.h"

/*
 * Sends the HTTP request on standard input as FastCGI to the program that listens on
 * this unix socket, with `user` as the one whom the web server has asked to sign in
 * (REMOTE_USER), and writes the response to standard output as HTTP/1.0. False, with
 * the reason: there is none within ten seconds.
 */
bool um_ask_program(const char *path, const char *user, struct um_error *err);

#endif
