/* SPDX-License-Identifier: MIT */
/*
 * Many operations as one transaction: one prepared statement a kind over
 * arrays, all of them in one libpq pipeline up to one Sync.
 */
#ifndef UM_BATCH_H
#define UM_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include <libpq-fe.h>

#include "op.h"

#define UM_BATCH_MAX 256 /* operations in one transaction */

/* Queues the PREPARE of every statement, and a Sync. False: libpq failed. */
bool um_batch_prepare(PGconn *conn);

/*
 * Queues the statements for these operations, and a Sync. How many results
 * precede the Sync's goes to *statements.
 */
bool um_batch_send(PGconn *conn, struct um_op *const *ops, size_t len,
	size_t *statements);

/*
 * Reads the rows of the committed transaction into the operations. Takes the
 * results in the order in which they came; they stay the caller's. An
 * operation may be NULL by then: nobody waits for it any more. False: the
 * answer does not fit the question.
 */
bool um_batch_read(struct um_op *const *ops, const enum um_op_kind *kinds,
	size_t len, PGresult *const *results, size_t statements);

#define UM_BATCH_STATEMENTS_MAX 5

#endif
