/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions that only a server may call (urlmode_server): operations of
 * kind UM_OP_CALL, which have their parameters with them. Each call says how it is
 * sent, so that the queue and the batches serve these operations as well.
 */
#ifndef UM_CALL_H
#define UM_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "postgres/queue.h"

#define UM_CALL_PARAMS_MAX 25

/* The types of parameters. */
enum um_call_type {
	UM_CALL_END,
	UM_CALL_BOOL,
	UM_CALL_BYTEA,
	UM_CALL_INT8,
	UM_CALL_INT2,
	UM_CALL_INT4,
	UM_CALL_TEXT,
	UM_CALL_UUID,
	UM_CALL_JSONB,
	UM_CALL_TIME,
	UM_CALL_BYTEAS, /* bytea[] */
	UM_CALL_UUIDS,  /* uuid[] */
};

struct um_call {
	const char *name; /* of the prepared statement */
	const char *sql;
	enum um_call_type types[UM_CALL_PARAMS_MAX + 1];
	/*
	 * One statement carries out all operations of a batch with this call: each
	 * parameter is an array with one element for each of them, and there is one
	 * row for each, in the same order. Otherwise each operation has a statement
	 * of its own, and all its rows.
	 */
	bool each;
	/* Its row can be as large as what a batch may read: it has one of its own. */
	bool large;
};

/*
 * Parameters, which are added to op->args one after another, in the binary form of
 * their type. Text and bytea: um_array_put_text(), um_array_put(); uuid:
 * um_array_put() of its 16 bytes; bigint: um_array_put_int64(); jsonb:
 * um_array_put_json() (postgres/array.h).
 */
void um_call_put_bool(struct um_buf *args, bool value);
void um_call_put_int(struct um_buf *args, int32_t value, bool known);
void um_call_put_small(struct um_buf *args, int16_t value, bool known);
void um_call_put_str(struct um_buf *args, struct um_str text);
/* A time as Unix microseconds. */
void um_call_put_time(struct um_buf *args, int64_t us, bool known);
/* An array of `len` elements of so many bytes, which stand one after another. */
void um_call_put_array(struct um_buf *args, enum um_call_type type,
	const uint8_t *elements, size_t size, size_t len);

/* Queues the preparation of each of these calls. False: libpq failed. */
bool um_call_prepare(PGconn *conn, bool pooled,
	const struct um_call *const *calls);

/* Queues the statements for the calls in the batch. False: as um_batch_send(). */
bool um_call_send(PGconn *conn, bool pooled, const struct um_batch *batch);

/*
 * Gives each call of the batch its rows of the results, of which *next is the
 * first. False: these are not the rows of the statements.
 */
bool um_call_read(const struct um_batch *batch, PGresult *const *results,
	size_t len, size_t *next);

/*
 * The rows of an operation, while done() runs. A column of row `row` as text;
 * NULL for SQL's NULL.
 */
const char *um_call_text(const struct um_op *op, int row, int col);
/* 0 for NULL. */
int64_t um_call_int(const struct um_op *op, int row, int col);
bool um_call_is(const struct um_op *op, int row, int col, const char *word);
/* Appends a bytea. False: it is NULL, or memory ran out. */
bool um_call_bytes(const struct um_op *op, int row, int col,
	struct um_buf *out);

#endif
