/* SPDX-License-Identifier: MIT */
/*
 * Carries a batch out as one transaction. Each kind of operation has one
 * prepared statement, whose parameters are arrays with one element for each
 * operation. The statements go into one libpq pipeline, up to one Sync.
 *
 * `pooled`: a pooler may send each transaction to another server, which does
 * not have the prepared statements. So they have no name, and are sent whole
 * with each batch. This costs little, since the functions keep their plans.
 */
#ifndef UM_BATCH_H
#define UM_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include <libpq-fe.h>

#include "config/provider.h"
#include "postgres/call.h"
#include "postgres/queue.h"

#define UM_BATCH_STATEMENTS_MAX 15 /* one for each kind */
/* And one for each operation that is a call. */
#define UM_BATCH_RESULTS_MAX (UM_BATCH_STATEMENTS_MAX + UM_BATCH_MAX)

/* The results of a batch so far; zeroed to begin with. */
struct um_batch_answer {
	PGresult *results[UM_BATCH_RESULTS_MAX];
	size_t results_len;
	char sqlstate[6]; /* of the first error, or "" */
};

/*
 * Queues the preparation of every statement, and a Sync. For statements without
 * a name this only shows whether the database has all functions. With `calls`, a
 * list that NULL ends, these are prepared in place of the functions of the callback
 * programs. A statement of a server then waits 20 ms for a lock, and one of the
 * operator's takes two seconds at most; through a pooler um_batch_send() says so.
 * Does not wait for the server. False: libpq failed, and PQerrorMessage() says why.
 */
bool um_batch_prepare(PGconn *conn, bool pooled, enum um_login login,
	const struct um_call *const *calls);

/*
 * Queues the call that tells the database whose these payment providers are
 * (urlmode.assign_providers), in front of what um_batch_prepare() queues. False:
 * libpq failed, or out of memory.
 */
bool um_batch_assign(PGconn *conn, const struct um_provider *providers,
	size_t len);

/*
 * Queues the statements for these operations, of which none may be NULL, and a
 * Sync. Their parameters are copied. False: libpq failed, or out of memory.
 */
bool um_batch_send(PGconn *conn, bool pooled, enum um_login login,
	const struct um_batch *batch);

enum um_received {
	UM_RECEIVED_NOTHING, /* more must come first, or the connection is bad */
	UM_RECEIVED_RESULT,  /* there may be another one */
	UM_RECEIVED_SYNC,    /* the transaction is committed or rolled back */
};

/*
 * Takes the next result, if it has come. The answer owns those of the statements, and
 * keeps the SQLSTATE of the first error.
 */
enum um_received um_batch_receive(struct um_batch_answer *answer, PGconn *conn);

/*
 * Reads the outcome and the row of each operation from the committed
 * transaction. Skips operations that are NULL, which were handed back before.
 * False: these are not rows that the statements return; the operations may be
 * set in part.
 */
bool um_batch_read(const struct um_batch *batch,
	const struct um_batch_answer *answer);

/* Frees what the answer holds, and makes it ready for the next batch. */
void um_batch_answer_clear(struct um_batch_answer *answer);

#endif
