/* SPDX-License-Identifier: MIT */
/*
 * One connection of a web server, on which requests come one after another.
 * libfcgi does the protocol; this file alone touches the members of
 * FCGX_Request that its header says not to touch.
 */
#ifndef UM_FASTCGI_H
#define UM_FASTCGI_H

#include <stdbool.h>

#include "core/str.h"

#define UM_FASTCGI_WRITE_MS 1000 /* until a peer that does not read is closed */

struct um_fastcgi;

/* Once, after signals are set up and before any connection. */
bool um_fastcgi_init(struct um_error *err);

/* Takes the accepted descriptor in every case. NULL: no memory. */
struct um_fastcgi *um_fastcgi_new(int fd);

int um_fastcgi_fd(const struct um_fastcgi *fc);

enum um_fastcgi_state {
	UM_FASTCGI_MORE,    /* nothing yet, or a part of a request */
	UM_FASTCGI_REQUEST, /* a whole one: um_fastcgi_param(), _body() */
	UM_FASTCGI_CLOSED,  /* gone, or refused: um_fastcgi_free() it */
};

/* Reads what has come, without waiting. */
enum um_fastcgi_state um_fastcgi_read(struct um_fastcgi *fc);

/* Whether a part of a request is here. */
bool um_fastcgi_is_partial(const struct um_fastcgi *fc);

/* A CGI meta-variable of the request, or NULL; `fc` is void for callbacks. */
const char *um_fastcgi_param(const char *name, void *fc);
struct um_str um_fastcgi_body(const struct um_fastcgi *fc);

/*
 * Sends the answer (header and body in the form of CGI) and ends the
 * request: its parameters and body are gone. True: the connection waits for
 * the next request; false: free it. `last` ends the connection in any case.
 */
bool um_fastcgi_answer(struct um_fastcgi *fc, struct um_str bytes, bool last);

/* Closes the connection, with a request under way or not; NULL is fine. */
void um_fastcgi_free(struct um_fastcgi *fc);

#endif
