/* SPDX-License-Identifier: MIT */
/*
 * Connects to PostgreSQL: first the names of the hosts are looked up
 * (postgres/resolve.h), then libpq connects. No function blocks.
 */
#ifndef UM_CONNECT_H
#define UM_CONNECT_H

#include <stdbool.h>

#include <libpq-fe.h>

#include "core/str.h"
#include "postgres/resolve.h"

#define UM_CONNECT_UNACKED_MS 2000 /* TCP_USER_TIMEOUT, in milliseconds */

/*
 * Set the first five members; the others begin zeroed. A connection that is taken
 * still says its notices by way of the struct, which must outlive it.
 */
struct um_connect {
	const char *conninfo; /* a URI or keywords as libpq takes them */
	const char *name;     /* pg_stat_activity's application_name */
	/*
	 * For notices and warnings of the server, each as one line. libpq would
	 * print their texts to standard error, and these may hold the data of a
	 * row: only the SQLSTATE is said. The warnings of a full queue of
	 * notifications hold none, and are said whole. They name the session that
	 * holds the queue.
	 */
	void (*on_notice)(const char *text, void *arg);
	void *arg;
	/*
	 * Set it when a commit was not answered: of several hosts, the one that
	 * leads is taken (postgres/leader.h), not the first one that takes writes.
	 * It stays set until all hosts have answered, and one takes writes.
	 */
	bool asks_leader;

	struct um_resolve *resolve; /* under way, or NULL */
	PGconn *conn;               /* the same */
	bool want_write;
};

enum um_connect_step {
	UM_CONNECT_WAITS,  /* for the descriptor */
	UM_CONNECT_MOVED,  /* the descriptor may have changed */
	UM_CONNECT_MADE,   /* call um_connect_take() */
	UM_CONNECT_FAILED, /* *err says why */
};

/* Starts, or continues as far as is possible without waiting. */
enum um_connect_step um_connect_go_on(struct um_connect *connect,
	struct um_error *err);

/* The connection, which the caller owns from now on. */
PGconn *um_connect_take(struct um_connect *connect);

/*
 * The descriptor to wait for, or -1. Wait for it to be writable with
 * connect->want_write, and otherwise to be readable.
 */
int um_connect_fd(const struct um_connect *connect);

/*
 * Gives up the connection. A lookup continues, for the next attempt: there is
 * never more than one.
 */
void um_connect_stop(struct um_connect *connect);

/* Gives up the connection and the lookup. */
void um_connect_end(struct um_connect *connect);

#endif
