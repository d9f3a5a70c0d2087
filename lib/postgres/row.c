/* SPDX-License-Identifier: MIT */
#include "postgres/row.h"

#include <stdlib.h>
#include <string.h>

#include "core/uuid.h"

/* A copy of a column's text, or NULL for SQL's NULL. */
static char *
column(const PGresult *res, int row, int col)
{
	return PQgetisnull(res, row, col) ? NULL
					  : strdup(PQgetvalue(res, row, col));
}

/*
 * A bytea of exactly `len` bytes, which comes as text: \x and hexadecimal
 * digits. False when it is NULL, or of another length.
 */
static bool
column_bytes(uint8_t *out, size_t len, const PGresult *res, int row, int col)
{
	size_t got;
	unsigned char *bytes;
	bool ok;

	if (PQgetisnull(res, row, col))
		return false;
	bytes = PQunescapeBytea((unsigned char *)PQgetvalue(res, row, col),
		&got);
	ok = bytes != NULL && got == len;
	if (ok)
		memcpy(out, bytes, len);
	PQfreemem(bytes);
	return ok;
}

/* The columns with which every look at a row begins, behind the outcome. */
static void
read_first(struct um_op *op, const PGresult *res, int row)
{
	op->row.requester = column(res, row, 1);
	op->row.subject = column(res, row, 2);
	op->row.action = column(res, row, 3);
	op->row.reason = column(res, row, 4);
	op->row.expires = strtoll(PQgetvalue(res, row, 5), NULL, 10);
}

static bool
read_looked_up(struct um_op *op, const PGresult *res, int row)
{
	read_first(op, res, row);
	op->row.failed_attempts = strtoll(PQgetvalue(res, row, 6), NULL, 10);
	op->row.late = strcmp(PQgetvalue(res, row, 7), "t") == 0;
	op->row.has_browser = column_bytes(op->row.browser,
		sizeof(op->row.browser), res, row, 8);
	op->row.amount = strtoll(PQgetvalue(res, row, 9), NULL, 10);
	op->row.currency = column(res, row, 10);
	return um_op_parse_outcome(op, PQgetvalue(res, row, 0));
}

static bool
read_opened(struct um_op *op, const PGresult *res, int row)
{
	op->row.kind = column(res, row, 1);
	op->row.target_url = column(res, row, 2);
	op->row.expires = strtoll(PQgetvalue(res, row, 3), NULL, 10);
	return um_op_parse_outcome(op, PQgetvalue(res, row, 0))
		&& (op->outcome != UM_ROW_OPENED
			|| (op->row.kind != NULL
				&& op->row.target_url != NULL));
}

/* Any bytes, or none. False: out of memory. */
static bool
column_buf(struct um_buf *out, const PGresult *res, int row, int col)
{
	size_t len;
	unsigned char *bytes;

	if (PQgetisnull(res, row, col))
		return true;
	bytes = PQunescapeBytea((unsigned char *)PQgetvalue(res, row, col),
		&len);
	if (bytes != NULL)
		um_buf_put(out, bytes, len);
	PQfreemem(bytes);
	return bytes != NULL && !out->failed;
}

static bool
read_form(struct um_op *op, const PGresult *res, int row)
{
	read_first(op, res, row);
	op->row.unchecked = strcmp(PQgetvalue(res, row, 9), "t") == 0;
	op->row.has_browser = column_bytes(op->row.browser,
		sizeof(op->row.browser), res, row, 10);
	op->row.decided_by = column(res, row, 11);
	return um_op_parse_outcome(op, PQgetvalue(res, row, 0))
		&& column_buf(&op->row.form, res, row, 6)
		&& column_buf(&op->row.problem, res, row, 7)
		&& column_buf(&op->row.typed, res, row, 8);
}

/* Without a binding, it is refused or has expired. */
static bool
read_opened_form(struct um_op *op, const PGresult *res, int row)
{
	bool named = column_bytes(op->binding, sizeof(op->binding), res, row,
		2);

	op->row.expires = strtoll(PQgetvalue(res, row, 1), NULL, 10);
	return um_op_parse_outcome(op, PQgetvalue(res, row, 0))
		&& named
		== (op->outcome == UM_ROW_PENDING
			|| op->outcome == UM_ROW_OPENED
			|| op->outcome == UM_ROW_PROCESSING
			|| op->outcome == UM_ROW_COMPLETED);
}

/* The binding of a row that a link has named, where that may go on. */
static bool
read_binding(struct um_op *op, const PGresult *res, int row, int col)
{
	return column_bytes(op->binding, sizeof(op->binding), res, row, col)
		|| op->outcome == UM_ROW_UNKNOWN
		|| op->outcome == UM_ROW_WRONG_USER;
}

bool
um_row_read(struct um_op *op, const PGresult *res, int row)
{
	const char *first = PQgetvalue(res, row, 0);

	switch (op->kind) {
	case UM_OP_LOOK_UP:
		return read_looked_up(op, res, row);
	case UM_OP_LOOK_UP_LINK:
		return read_looked_up(op, res, row)
			&& read_binding(op, res, row, 11);
	case UM_OP_OPEN:
		return read_opened(op, res, row);
	case UM_OP_OPEN_LINK:
		return read_opened(op, res, row)
			&& read_binding(op, res, row, 4);
	case UM_OP_EVENT:
		op->row.mismatch = column(res, row, 1);
		if (op->is_unnamed && !PQgetisnull(res, row, 2))
			op->is_unnamed = !um_uuid_parse(op->id,
				um_str(PQgetvalue(res, row, 2)));
		return um_op_parse_outcome(op, first);
	case UM_OP_OPEN_FORM:
		return read_opened_form(op, res, row);
	case UM_OP_LOOK_UP_FORM:
		return read_form(op, res, row);
	case UM_OP_LINK_TENANT:
	case UM_OP_COMPLETE:
	case UM_OP_ANSWER_FORM:
		return um_op_parse_outcome(op, first);
	case UM_OP_UNREADABLE:
	case UM_OP_PING:
	case UM_OP_BEAT:
		return strcmp(first, "t") == 0;
	case UM_OP_MEASURE:
		op->row.unclaimed = strtoll(first, NULL, 10);
		op->row.unclaimed_age_s = strtoll(PQgetvalue(res, row, 1), NULL,
			10);
		op->row.database_ms = strtoll(PQgetvalue(res, row, 2), NULL,
			10);
		op->row.queue_usage = strtod(PQgetvalue(res, row, 3), NULL);
		op->row.undelivered = strtoll(PQgetvalue(res, row, 4), NULL,
			10);
		op->row.undelivered_age_s = strtoll(PQgetvalue(res, row, 5),
			NULL, 10);
		op->row.failing = strtoll(PQgetvalue(res, row, 6), NULL, 10);
		return true;
	case UM_OP_CALL: /* see postgres/call.h */
	case UM_OP_HELD: /* of batches, and of no operation */
	case UM_OP_NONE:
		break;
	}
	return false;
}
