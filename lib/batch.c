/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/* From pg_type.dat: they never change. */
#define OID_BYTEA 17
#define OID_TEXT 25
#define OID_UUID 2950
#define OID_BYTEA_ARRAY 1001
#define OID_TEXT_ARRAY 1009
#define OID_UUID_ARRAY 2951

#define PARAMS_MAX 6

static const Oid param_types[PARAMS_MAX] = {
	OID_UUID_ARRAY, OID_BYTEA_ARRAY, OID_TEXT_ARRAY,
	OID_TEXT_ARRAY, OID_TEXT_ARRAY, OID_BYTEA_ARRAY,
};

static const struct statement {
	enum um_op_kind kind;
	const char *name;
	const char *sql;
	int params;
} statements_of[UM_BATCH_STATEMENTS_MAX] = {
	{ UM_OP_LOOK_UP, "look_up",
		"SELECT outcome, requester, subject, action, reason, expires "
		"FROM urlmode.look_up($1, $2, $3)", 3 },
	{ UM_OP_OPEN, "open",
		"SELECT outcome, kind, target_url, expires "
		"FROM urlmode.open($1, $2, $3)", 3 },
	{ UM_OP_COMPLETE, "complete",
		"SELECT outcome "
		"FROM urlmode.complete($1, $2, $3, $4, $5, $6)", 6 },
};

bool
um_batch_prepare(PGconn *conn)
{
	for (size_t i = 0; i < UM_BATCH_STATEMENTS_MAX; i++)
		if (PQsendPrepare(conn, statements_of[i].name, statements_of[i].sql,
				statements_of[i].params, param_types) != 1)
			return false;
	return PQpipelineSync(conn) == 1;
}

static void
put_int(struct um_buf *out, int32_t value)
{
	uint32_t network = htonl((uint32_t)value);

	um_buf_put(out, &network, sizeof(network));
}

/* The head of a one-dimensional array in binary form (array_recv). */
static void
array_begin(struct um_buf *out, int32_t type, size_t len)
{
	put_int(out, 1);            /* dimensions */
	put_int(out, 1);            /* there may be NULLs */
	put_int(out, type);
	put_int(out, (int32_t)len);
	put_int(out, 1);            /* lower bound */
}

/* One element; NULL bytes are SQL's NULL. */
static void
array_put(struct um_buf *out, const void *bytes, size_t len)
{
	put_int(out, bytes == NULL ? -1 : (int32_t)len);
	if (bytes != NULL)
		um_buf_put(out, bytes, len);
}

static void
array_put_text(struct um_buf *out, const char *text)
{
	array_put(out, text, text != NULL ? strlen(text) : 0);
}

static bool
send_statement(PGconn *conn, const struct statement *st,
	struct um_op *const *ops, size_t len, size_t count)
{
	static const int32_t element_types[PARAMS_MAX] = {
		OID_UUID, OID_BYTEA, OID_TEXT, OID_TEXT, OID_TEXT, OID_BYTEA,
	};
	static const int binary[PARAMS_MAX] = { 1, 1, 1, 1, 1, 1 };
	struct um_buf param[PARAMS_MAX] = { 0 };
	const char *values[PARAMS_MAX];
	int lengths[PARAMS_MAX];
	bool ok = true;

	for (int i = 0; i < st->params; i++)
		array_begin(&param[i], element_types[i], count);
	for (size_t i = 0; i < len; i++) {
		const struct um_op *op = ops[i];

		if (op->kind != st->kind)
			continue;
		array_put(&param[0], op->id, sizeof(op->id));
		array_put(&param[1], op->binding, sizeof(op->binding));
		array_put_text(&param[2], op->provider);
		if (st->kind != UM_OP_COMPLETE)
			continue;
		array_put_text(&param[3], op->action);
		array_put_text(&param[4], op->reason);
		array_put(&param[5], op->result.ptr, op->result.len);
	}
	for (int i = 0; i < st->params; i++) {
		values[i] = param[i].ptr;
		lengths[i] = (int)param[i].len;
		ok &= !param[i].failed;
	}
	ok = ok && PQsendQueryPrepared(conn, st->name, st->params, values,
		lengths, binary, 0) == 1;
	for (int i = 0; i < st->params; i++)
		um_buf_free(&param[i]);
	return ok;
}

bool
um_batch_send(PGconn *conn, struct um_op *const *ops, size_t len,
	size_t *statements)
{
	*statements = 0;
	for (size_t s = 0; s < UM_BATCH_STATEMENTS_MAX; s++) {
		size_t count = 0;

		for (size_t i = 0; i < len; i++)
			count += ops[i]->kind == statements_of[s].kind;
		if (count == 0)
			continue;
		if (!send_statement(conn, &statements_of[s], ops, len, count))
			return false;
		(*statements)++;
	}
	return PQpipelineSync(conn) == 1;
}

/* A copy of a column's text, or NULL for SQL's NULL. */
static char *
column(const PGresult *res, int row, int col)
{
	return PQgetisnull(res, row, col) ? NULL : strdup(PQgetvalue(res, row, col));
}

static bool
read_row(struct um_op *op, const PGresult *res, int row)
{
	if (!um_outcome_parse(&op->outcome, PQgetvalue(res, row, 0)))
		return false;
	switch (op->kind) {
	case UM_OP_LOOK_UP:
		op->row.requester = column(res, row, 1);
		op->row.subject = column(res, row, 2);
		op->row.action = column(res, row, 3);
		op->row.reason = column(res, row, 4);
		op->row.expires = strtoll(PQgetvalue(res, row, 5), NULL, 10);
		break;
	case UM_OP_OPEN:
		op->row.kind = column(res, row, 1);
		op->row.target_url = column(res, row, 2);
		op->row.expires = strtoll(PQgetvalue(res, row, 3), NULL, 10);
		if (op->outcome == UM_OUTCOME_OPENED
				&& (op->row.kind == NULL || op->row.target_url == NULL))
			return false;
		break;
	case UM_OP_COMPLETE:
	case UM_OP_NONE:
		break;
	}
	return true;
}

bool
um_batch_read(struct um_op *const *ops, const enum um_op_kind *kinds,
	size_t len, PGresult *const *results, size_t statements)
{
	size_t r = 0;

	for (size_t s = 0; s < UM_BATCH_STATEMENTS_MAX; s++) {
		int row = 0;

		for (size_t i = 0; i < len; i++) {
			if (kinds[i] != statements_of[s].kind)
				continue;
			if (r >= statements || row >= PQntuples(results[r]))
				return false;
			if (ops[i] != NULL && !read_row(ops[i], results[r], row))
				return false;
			row++;
		}
		if (row != 0 && row != PQntuples(results[r++]))
			return false;
	}
	return r == statements;
}
