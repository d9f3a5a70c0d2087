/* SPDX-License-Identifier: MIT */
/*
 * A connection to PostgreSQL on its way: first the names of its hosts, which are
 * looked up aside (postgres/resolve.h), then libpq. No function blocks.
 */
#ifndef UM_CONNECT_H
#define UM_CONNECT_H

#include <stdbool.h>

#include <libpq-fe.h>

#include "core/str.h"
#include "postgres/resolve.h"

#define UM_CONNECT_UNACKED_MS 2000 /* TCP_USER_TIMEOUT, in milliseconds */

/* Begins zeroed. */
struct um_connect {
	const char *conninfo; /* a URI or keywords as libpq takes them */
	const char *name;     /* pg_stat_activity's application_name */
	/* For notices of the server, with its argument. */
	PQnoticeReceiver on_notice;
	void *arg;

	struct um_resolve *resolve; /* under way, or NULL */
	PGconn *conn;               /* the same */
	bool want_write;
};

enum um_connect_step {
	UM_CONNECT_WAITS,  /* for the descriptor */
	UM_CONNECT_MOVED,  /* the descriptor may be another one now */
	UM_CONNECT_MADE,   /* um_connect_take() it */
	UM_CONNECT_FAILED, /* *err says why */
};

/* Goes on as far as can be done now, or begins. */
enum um_connect_step um_connect_go_on(struct um_connect *connect,
	struct um_error *err);

/* The connection that was made, which is the caller's. */
PGconn *um_connect_take(struct um_connect *connect);

/*
 * The descriptor to wait for, or -1. Wait for it to be writable with
 * connect->want_write, and otherwise to be readable.
 */
int um_connect_fd(const struct um_connect *connect);

/*
 * Gives the connection up. A lookup goes on, and is what the next attempt begins
 * with: there is never more than one.
 */
void um_connect_stop(struct um_connect *connect);

/* Gives everything up. */
void um_connect_end(struct um_connect *connect);

#endif
