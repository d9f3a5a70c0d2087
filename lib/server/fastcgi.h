/* SPDX-License-Identifier: MIT */
/*
 * One connection of a web server, on which requests come one after another.
 *
 * libfcgi parses the requests, but it blocks while it reads one and while it
 * writes the response. So that no slow peer stops the process, the bytes are
 * collected here, without blocking, until fcgi_check.h has found a complete and
 * valid request, which libfcgi reads from a file in memory. This costs a copy of
 * the request and two system calls (lseek, read). The records of the response
 * are made and sent here: what the peer does not take at once is kept.
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

struct um_fastcgi;

/*
 * The memory that all connections of a process share for requests that arrive,
 * bodies until their answer, and answers until they are sent.
 */
struct um_fastcgi_room {
	size_t max;
	size_t small; /* bytes of a connection that do not count */
	size_t used;  /* zero to begin with */
};

/*
 * Initializes libfcgi, once in a process, after its signals are set up and
 * before its first connection.
 */
bool um_fastcgi_init(struct um_error *err);

/*
 * A connection on the accepted descriptor, which is closed in every case, at
 * the latest by um_fastcgi_free(). The caller owns `file`, which is used only
 * during um_fastcgi_read(), and `room`. Both must outlive the connection. NULL:
 * out of memory.
 */
struct um_fastcgi *um_fastcgi_new(int fd, struct um_memfile *file,
	struct um_fastcgi_room *room);

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
/* There was no room for the body, which is empty therefore. */
bool um_fastcgi_is_dropped(const struct um_fastcgi *fc);
/*
 * Wipes and frees the body before the answer. It counts until then, because what
 * was made of it is held as well; what is forgotten does not count any more.
 */
void um_fastcgi_free_body(struct um_fastcgi *fc);
void um_fastcgi_forget_body(struct um_fastcgi *fc);

enum um_fastcgi_sent {
	UM_FASTCGI_SENT,    /* the connection waits for the next request */
	UM_FASTCGI_SENDING, /* the peer must read: um_fastcgi_send() goes on */
	UM_FASTCGI_LAST,    /* it ends: call um_fastcgi_free() */
};

/* Whether there is room for an answer of so many bytes in place of the body. */
bool um_fastcgi_has_room(const struct um_fastcgi *fc, size_t len);

/*
 * Begins to send the response (header and body in the form of CGI) and ends the
 * request: its parameters and body are wiped and freed. `last` ends the
 * connection in any case.
 */
enum um_fastcgi_sent um_fastcgi_answer(struct um_fastcgi *fc,
	struct um_str bytes, bool last);

/* The connection is writable: sends more. What was sent is wiped at the end. */
enum um_fastcgi_sent um_fastcgi_send(struct um_fastcgi *fc);

/*
 * Closes the connection and wipes a request on it, to which the web server gets
 * no response. NULL is fine.
 */
void um_fastcgi_free(struct um_fastcgi *fc);

#endif
