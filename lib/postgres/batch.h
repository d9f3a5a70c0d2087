/* SPDX-License-Identifier: MIT */
/*
 * Carries a batch out as one transaction. Each kind of operation has one
 * prepared statement, whose parameters are arrays with one element for each
 * operation. The statements go into one libpq pipeline, up to one Sync.
 *
 * `pooled`: a pooler may send each transaction to another server, which does not
 * know the statements that were prepared before. They have no name then, and are
 * sent whole with each batch. That the functions keep their plans makes up for
 * most of it.
 */
#ifndef UM_BATCH_H
#define UM_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include <libpq-fe.h>

#include "postgres/queue.h"

#define UM_BATCH_STATEMENTS_MAX 6 /* one for each kind */

/* What has come back of a batch so far; begin with a zeroed one. */
struct um_batch_answer {
	PGresult *results[UM_BATCH_STATEMENTS_MAX];
	size_t results_len;
	char sqlstate[6]; /* of the first error, or "" */
};

/*
 * Queues the preparation of every statement, and a Sync: where they have no name,
 * only to see whether the database has all functions. Nothing waits for the
 * server here. False: libpq failed, and PQerrorMessage() says why.
 */
bool um_batch_prepare(PGconn *conn, bool pooled);

/*
 * Queues the statements for these operations, of which none may be NULL, and a
 * Sync. Their parameters are copied. False: libpq failed, or out of memory.
 */
bool um_batch_send(PGconn *conn, bool pooled, const struct um_batch *batch);

/*
 * Takes the next result, one that came before the Sync's; the answer owns it
 * from now on. Of the first error it keeps the SQLSTATE.
 */
void um_batch_take(struct um_batch_answer *answer, PGresult *res);

/*
 * Reads the rows of the committed transaction into the operations: the outcome
 * and the row of each. Operations that are NULL were handed back before, and
 * are skipped. False: the rows are not what the statements return, and the
 * operations may be set in part.
 */
bool um_batch_read(const struct um_batch *batch,
	const struct um_batch_answer *answer);

/* Frees what the answer holds, and makes it ready for the next batch. */
void um_batch_answer_clear(struct um_batch_answer *answer);

#endif
