/* SPDX-License-Identifier: MIT */
/*
 * PostgreSQL, without ever waiting for it: one connection, a queue, and one
 * batch under way. What arrives meanwhile is the next batch.
 *
 * Times are milliseconds of a clock that never jumps; the caller passes them.
 */
#ifndef UM_STORE_H
#define UM_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postgres/op.h"

#define UM_STORE_QUEUE_MAX 512   /* operations that wait for a batch */
#define UM_STORE_WAIT_MS 3000    /* until an operation is UNAVAILABLE */
#define UM_STORE_BATCH_MS 5000   /* until a silent server is given up */
#define UM_STORE_UNACKED_MS 2000 /* until a host that is not there is */
#define UM_STORE_RETRY_MIN_MS 50 /* between two attempts to connect */
#define UM_STORE_RETRY_MAX_MS 2000

struct um_store;

struct um_store_events {
	/* The operation's outcome is set; it is the caller's again. */
	void (*done)(struct um_op *op, void *arg);
	/* Something that an operator should know; holds no data of a row. */
	void (*trouble)(const char *text, void *arg);
	/* A transaction with so many operations is committed; or NULL. */
	void (*committed)(size_t operations, void *arg);
	void *arg;
};

/*
 * `conninfo` is libpq's (a URI or keywords), `name` what pg_stat_activity
 * shows. Connecting begins with the first um_store_run(). NULL: no memory.
 */
struct um_store *um_store_new(const char *conninfo, const char *name,
	const struct um_store_events *events);

/*
 * Takes an operation until done() hands it back, which may be from within
 * this call: at once UNAVAILABLE where the queue is full or the server has
 * been away for longer than an operation waits. um_store_run() must follow.
 */
void um_store_submit(struct um_store *store, struct um_op *op, int64_t now);

/*
 * Does all that can be done now. Call it when the socket is `ready`, when the
 * deadline has come, and after submitting.
 */
void um_store_run(struct um_store *store, bool ready, int64_t now);

/*
 * What to wait for. Answers the socket, or -1; *want_write says whether
 * for writing as well; *connection changes whenever the socket is another.
 */
int um_store_watch(const struct um_store *store, bool *want_write,
	unsigned *connection);

/* When um_store_run() must be called at the latest, or -1. */
int64_t um_store_deadline(const struct um_store *store);

/* Operations that were submitted and not yet handed back. */
size_t um_store_pending(const struct um_store *store);

/* Closes the connection; what is pending is not handed back. NULL is fine. */
void um_store_free(struct um_store *store);

#endif
