/* SPDX-License-Identifier: MIT */
/*
 * A batch as one transaction: one prepared statement a kind over arrays, all
 * of them in one libpq pipeline up to one Sync.
 */
#ifndef UM_BATCH_H
#define UM_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include <libpq-fe.h>

#include "postgres/queue.h"

#define UM_BATCH_STATEMENTS_MAX 5 /* as many as there are kinds */

/* What the server has said to a batch so far; zeroed to begin with. */
struct um_batch_answer {
	PGresult *results[UM_BATCH_STATEMENTS_MAX];
	size_t results_len;
	char sqlstate[6]; /* of the first error, or "" */
};

/* Queues the PREPARE of every statement, and a Sync. False: libpq failed. */
bool um_batch_prepare(PGconn *conn);

/*
 * Queues the statements for these operations, none of which is NULL yet, and
 * a Sync. False: libpq failed.
 */
bool um_batch_send(PGconn *conn, const struct um_batch *batch);

/* Takes the next result before the Sync's; it is the answer's from now on. */
void um_batch_take(struct um_batch_answer *answer, PGresult *res);

/*
 * Reads the rows of the committed transaction into the operations. An
 * operation may be NULL by then: nobody waits for it any more. False: the
 * answer does not fit the question.
 */
bool um_batch_read(const struct um_batch *batch,
	const struct um_batch_answer *answer);

/* Frees what it holds, for the next answer. */
void um_batch_answer_clear(struct um_batch_answer *answer);

#endif
