/* SPDX-License-Identifier: MIT */
/*
 * The connections that web servers keep to a program: accepted, read, and
 * closed where one is done with, is too slow, or has to make room.
 *
 * Events come from the caller's epoll, whose data.ptr is the list itself for
 * the listening socket, and a connection for what it has to say. Times are
 * milliseconds of a clock that never jumps; the caller passes them.
 */
#ifndef UM_CONNECTIONS_H
#define UM_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/exchange.h"
#include "server/fastcgi.h"

/* Open at once; then the one silent for longest goes. */
#define UM_CONNECTIONS_MAX 1024
#define UM_CONNECTIONS_PARTIAL_MS 10000 /* for a request to arrive whole */

struct um_connection {
	struct um_fastcgi *fc;

	/* Of the request on it: whoever answers that keeps these. */
	struct um_exchange ex;
	struct um_buf path;
	int64_t began_us;
	size_t waiting; /* operations that the database has */

	/* The list's own. */
	int64_t partial_since; /* -1: no part of a request is here */
	bool busy;             /* its request is not answered yet */
	bool unwatched;        /* taken out of epoll while busy */
	bool dead;             /* freed by um_connections_tidy() */
	struct um_connection *prev;
	struct um_connection *next;
};

/* Zeroed to begin with; to be read, and changed by these functions alone. */
struct um_connections {
	int epoll;
	int listener;
	bool accepting;
	bool stopped;
	size_t len;
	size_t busy_len;
	size_t partial_len;
	struct um_connection *first; /* the last to ask */
	struct um_connection *last;
	struct um_connection *dead;
};

/* Accepts from now on; both descriptors stay the caller's. */
void um_connections_begin(struct um_connections *list, int epoll, int listener);

/* The listening socket is ready: accepts as many as there is room for. */
void um_connections_accept(struct um_connections *list);

/* Accepts no more; those that are there stay. */
void um_connections_stop(struct um_connections *list);

/*
 * This one is ready. True: a whole request is here (um_fastcgi_param(),
 * _body()), and it is busy until um_connections_answered(). False: there is
 * nothing to do; it may be closed by now.
 */
bool um_connections_read(struct um_connections *list, struct um_connection *c,
	int64_t now);

/* The request is answered: it is kept for the next one, or closed. */
void um_connections_answered(struct um_connections *list,
	struct um_connection *c, bool keep);

/* Closes what sends a request too slowly; when to look again, or -1. */
int64_t um_connections_close_slow(struct um_connections *list, int64_t now);

/* Frees what was closed in this turn, since no event names it any more. */
void um_connections_tidy(struct um_connections *list);

/* Closes them all, unanswered where one is busy. */
void um_connections_end(struct um_connections *list);

#endif
