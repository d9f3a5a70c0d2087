/* SPDX-License-Identifier: MIT */
/*
 * The connection to PostgreSQL: one connection, a queue of operations, and one
 * batch of them at work. The operations that arrive meanwhile become the next
 * batch, which is sent as soon as it is as large as the first, so that
 * PostgreSQL begins with it when the first is durable. No function blocks.
 *
 * A connection is given up when nothing comes for UM_COMMIT_UNANSWERED_MS while a
 * batch is under way: a primary that was cut off from its standbys takes writes, and
 * never answers the commit. It is closed and never cancelled, since PostgreSQL would
 * then commit without the standby. All operations of the batch were handed back long
 * before, so that a server that is only slow does no work twice; and the host changes
 * only if another one has a higher timeline (postgres/connect.h), which slowness does
 * not bring about.
 *
 * Times are monotonic, in milliseconds; the caller passes them.
 */
#ifndef UM_STORE_H
#define UM_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/provider.h"
#include "postgres/op.h"

#define UM_STORE_QUEUE_MAX 1024    /* operations that may wait for a batch */
#define UM_STORE_UNREADABLE_MAX 64 /* the same, where UNREADABLE joins them */
#define UM_STORE_WAIT_MS 3000      /* after which one is UNAVAILABLE */
#define UM_STORE_CONNECT_MS 5000   /* for each step to a connection */
#define UM_STORE_RETRY_MIN_MS 50   /* between two attempts to connect, */
/* doubled each time up to this, until a batch was committed */
#define UM_STORE_RETRY_MAX_MS 2000

struct um_store;

struct um_store_events {
	/* Hands an operation back; its status is set. May submit others. */
	void (*done)(struct um_op *op, void *arg);
	/* A message for the operator, without data of a row. */
	void (*notice)(const char *text, void *arg);
	/*
	 * A transaction with this many operations was committed, so many
	 * microseconds of clock_us() after it was sent. May be NULL.
	 */
	void (*committed)(size_t operations, int64_t took_us, void *arg);
	int64_t (*clock_us)(void); /* monotonic */
	/* A commit was not answered, and the connection is given up. May be NULL. */
	void (*unanswered)(void *arg);
	void *arg;
};

/*
 * A store for the database of `conninfo`, a URI or keywords as libpq takes
 * them; pg_stat_activity shows `name` as application_name. Copies both. The
 * first um_store_run() starts to connect. `login`: only that of a server may, and
 * must, be able to read results. `calls`: the list of the functions that a server or
 * the operator calls, which NULL ends; of a callback program NULL. NULL when out of
 * memory.
 */
struct um_store *um_store_new(const char *conninfo, const char *name,
	enum um_login login, const struct um_call *const *calls,
	const struct um_store_events *events);

/*
 * Borrows the providers of the configuration of a callback program: each new
 * connection tells the database whose the payment providers are.
 */
void um_store_assign(struct um_store *store,
	const struct um_provider *providers, size_t len);

/*
 * Borrows an operation until done() hands it back. That may happen within this
 * call: the operation is UNAVAILABLE at once if the queue is full, or if there
 * has been no connection for UM_STORE_WAIT_MS. For UNREADABLE, which changes no
 * row of a user, the queue is full earlier. Call um_store_run() afterwards.
 */
void um_store_submit(struct um_store *store, struct um_op *op, int64_t now);

/*
 * Continues as far as is possible without blocking. Call it when the socket is
 * `ready`, when the deadline has come, and after um_store_submit().
 */
void um_store_run(struct um_store *store, bool ready, int64_t now);

/*
 * Hands back, as UNAVAILABLE, the operations whose deadline is not after `now`;
 * with INT64_MAX all of them. An operation that was sent may still be committed.
 */
void um_store_expire(struct um_store *store, int64_t now);

/*
 * Returns the socket to wait for, or -1. Wait until it is readable, or with
 * *want_write also until it is writable. *connection changes with each new
 * socket, even one with the same number.
 */
int um_store_watch(const struct um_store *store, bool *want_write,
	unsigned *connection);

/* The time at which um_store_run() must be called at the latest, or -1. */
int64_t um_store_deadline(const struct um_store *store);

/* The time at which the connection was made, or -1 without a connection. */
int64_t um_store_connected_at(const struct um_store *store);

/* The number of operations that wait for a batch. */
size_t um_store_queued(const struct um_store *store);

/*
 * Closes the connection and frees the store. Operations that are pending are
 * not handed back. NULL is fine.
 */
void um_store_free(struct um_store *store);

#endif
