/* SPDX-License-Identifier: MIT */
/*
 * One connection of a web server, on which requests come one after another.
 *
 * libfcgi speaks the protocol, but its FCGX_Accept_r() blocks while it reads a
 * request. So that no slow peer stops the process, the bytes are collected
 * here, without blocking, until fcgi_check.h has found a complete and valid
 * request. libfcgi reads them from a file in memory, and gets the connection
 * itself only to write the response. This costs a copy of the request and two
 * system calls (lseek, read).
 *
 * Only fastcgi.c uses members of libfcgi's structures that its header calls
 * private.
 */
#ifndef UM_FASTCGI_H
#define UM_FASTCGI_H

#include <stdbool.h>

#include "core/str.h"
#include "server/fcgi_check.h"
#include "server/memfile.h"

/* The size of the file in memory that all connections of a process share. */
#define UM_FASTCGI_FILE_LEN UM_FCGI_BYTES_MAX
#define UM_FASTCGI_LARGE_FILE_LEN (2 * (size_t)UM_FCGI_LARGE_MAX)
#define UM_FASTCGI_WRITE_MS 1000 /* a peer that reads nothing is closed then */

struct um_fastcgi;

/*
 * Initializes libfcgi, once in a process, after its signals are set up and
 * before its first connection.
 */
bool um_fastcgi_init(struct um_error *err);

/*
 * A connection on the accepted descriptor, which is closed in every case, at
 * the latest by um_fastcgi_free(). The caller owns `file`, which must outlive
 * the connection, and is used only during um_fastcgi_read(). NULL: out of
 * memory.
 */
struct um_fastcgi *um_fastcgi_new(int fd, struct um_memfile *file);

/* From its next request on, it takes bodies of up to UM_FCGI_LARGE_MAX bytes. */
void um_fastcgi_take_large(struct um_fastcgi *fc);

int um_fastcgi_fd(const struct um_fastcgi *fc);

enum um_fastcgi_state {
	UM_FASTCGI_MORE,    /* nothing yet, or a part of a request */
	UM_FASTCGI_REQUEST, /* a complete one: um_fastcgi_param(), _body() */
	UM_FASTCGI_CLOSED,  /* ended or refused: call um_fastcgi_free() */
};

/* Reads what has arrived, without waiting. */
enum um_fastcgi_state um_fastcgi_read(struct um_fastcgi *fc);

/* Whether a part of a request has arrived. */
bool um_fastcgi_is_partial(const struct um_fastcgi *fc);

/*
 * A CGI meta-variable of the request, or NULL. `fc` is a struct um_fastcgi; it
 * is void so that this function can be a callback.
 */
const char *um_fastcgi_param(const char *name, void *fc);
struct um_str um_fastcgi_body(const struct um_fastcgi *fc);

/*
 * Sends the response (header and body in the form of CGI) and ends the request:
 * its parameters and body are wiped and freed. True: the connection waits for
 * the next request. False: free it. `last` ends the connection in any case.
 */
bool um_fastcgi_answer(struct um_fastcgi *fc, struct um_str bytes, bool last);

/*
 * Closes the connection and wipes a request on it, to which the web server gets
 * no response. NULL is fine.
 */
void um_fastcgi_free(struct um_fastcgi *fc);

#endif
