/* SPDX-License-Identifier: MIT */
#include "postgres/call.h"

#include <stdlib.h>
#include <string.h>

#include "core/encode.h"
#include "postgres/array.h"

/* From pg_type.dat: they never change. In the order of the enum. */
static const struct {
	Oid element;
	Oid array;
} oids[] = {
	[UM_CALL_BOOL] = { 16, 1000 },
	[UM_CALL_BYTEA] = { 17, 1001 },
	[UM_CALL_INT8] = { 20, 1016 },
	[UM_CALL_INT2] = { 21, 1005 },
	[UM_CALL_INT4] = { 23, 1007 },
	[UM_CALL_TEXT] = { 25, 1009 },
	[UM_CALL_UUID] = { 2950, 2951 },
	[UM_CALL_JSONB] = { 3802, 3807 },
	[UM_CALL_TIME] = { 1184, 1185 },
	[UM_CALL_BYTEAS] = { 1001, 0 },
	[UM_CALL_UUIDS] = { 2951, 0 },
};

/* From 1970 to 2000, where PostgreSQL's times begin. */
#define EPOCH_US (INT64_C(946684800) * 1000000)

/* A whole number of so many bytes, the most significant first. */
static void
put_number(struct um_buf *args, int64_t value, size_t size, bool known)
{
	uint8_t bytes[sizeof(value)];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)((uint64_t)value >> 8 * (size - 1 - i));
	um_array_put(args, known ? bytes : NULL, size);
}

void
um_call_put_bool(struct um_buf *args, bool value)
{
	put_number(args, value, 1, true);
}

void
um_call_put_int(struct um_buf *args, int32_t value, bool known)
{
	put_number(args, value, sizeof(value), known);
}

void
um_call_put_small(struct um_buf *args, int16_t value, bool known)
{
	put_number(args, value, sizeof(value), known);
}

void
um_call_put_str(struct um_buf *args, struct um_str text)
{
	um_array_put(args, text.ptr, text.len);
}

void
um_call_put_time(struct um_buf *args, int64_t us, bool known)
{
	put_number(args, us - EPOCH_US, sizeof(us), known);
}

void
um_call_put_array(struct um_buf *args, enum um_call_type type,
	const uint8_t *elements, size_t size, size_t len)
{
	const enum um_call_type of = type == UM_CALL_UUIDS ? UM_CALL_UUID
							   : UM_CALL_BYTEA;
	struct um_buf array = { 0 };

	um_array_begin(&array, (int32_t)oids[of].element, len);
	for (size_t i = 0; i < len; i++)
		um_array_put(&array, elements + i * size, size);
	um_array_put(args, array.ptr, array.len);
	args->failed |= array.failed;
	um_buf_free(&array);
}

static int
put_types(Oid types[UM_CALL_PARAMS_MAX], const struct um_call *call)
{
	int count = 0;

	for (; call->types[count] != UM_CALL_END; count++)
		types[count] = call->each ? oids[call->types[count]].array
					  : oids[call->types[count]].element;
	return count;
}

bool
um_call_prepare(PGconn *conn, bool pooled, const struct um_call *const *calls)
{
	for (; *calls != NULL; calls++) {
		Oid types[UM_CALL_PARAMS_MAX];
		int count = put_types(types, *calls);

		if (PQsendPrepare(conn, pooled ? "" : (*calls)->name,
			    (*calls)->sql, count, types)
			!= 1)
			return false;
	}
	return true;
}

/* The next parameter of args: its length, or -1 for SQL's NULL. */
static int
take(struct um_str *args, const char **value)
{
	const uint8_t *p = (const uint8_t *)args->ptr;
	int len;

	*value = NULL;
	if (args->len < 4)
		return -1;
	len = (int)((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16
		| (uint32_t)p[2] << 8 | p[3]);
	args->ptr += 4;
	args->len -= 4;
	if (len < 0)
		return -1;
	*value = args->ptr;
	args->ptr += len;
	args->len -= (size_t)len;
	return len;
}

static bool
send(PGconn *conn, bool pooled, const struct um_call *call,
	const char *const *values, const int *lengths)
{
	static const int binary[UM_CALL_PARAMS_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	Oid types[UM_CALL_PARAMS_MAX];
	int count = put_types(types, call);

	if (pooled)
		return PQsendQueryParams(conn, call->sql, count, types, values,
			       lengths, binary, 0)
			== 1;
	return PQsendQueryPrepared(conn, call->name, count, values, lengths,
		       binary, 0)
		== 1;
}

/* The statement of one operation. */
static bool
send_one(PGconn *conn, bool pooled, const struct um_op *op)
{
	const char *values[UM_CALL_PARAMS_MAX];
	int lengths[UM_CALL_PARAMS_MAX];
	struct um_str args = um_buf_str(&op->args);

	for (int p = 0; op->call->types[p] != UM_CALL_END; p++) {
		lengths[p] = take(&args, &values[p]);
		if (lengths[p] < 0)
			lengths[p] = 0;
	}
	return !op->args.failed
		&& send(conn, pooled, op->call, values, lengths);
}

/* The statement of all operations of the batch with this call. */
static bool
send_each(PGconn *conn, bool pooled, const struct um_call *call,
	const struct um_batch *batch)
{
	struct um_buf arrays[UM_CALL_PARAMS_MAX] = { 0 };
	const char *values[UM_CALL_PARAMS_MAX];
	int lengths[UM_CALL_PARAMS_MAX];
	size_t len = 0;
	bool ok = true;

	for (size_t i = 0; i < batch->len; i++)
		len += batch->calls[i] == call;
	for (int p = 0; call->types[p] != UM_CALL_END; p++)
		um_array_begin(&arrays[p],
			(int32_t)oids[call->types[p]].element, len);
	for (size_t i = 0; i < batch->len; i++) {
		struct um_str args;

		if (batch->calls[i] != call)
			continue;
		args = um_buf_str(&batch->ops[i]->args);
		ok &= !batch->ops[i]->args.failed;
		for (int p = 0; call->types[p] != UM_CALL_END; p++) {
			const char *value;
			int size = take(&args, &value);

			um_array_put(&arrays[p], value,
				size < 0 ? 0 : (size_t)size);
		}
	}
	for (int p = 0; call->types[p] != UM_CALL_END; p++) {
		values[p] = arrays[p].ptr;
		lengths[p] = (int)arrays[p].len;
		ok &= !arrays[p].failed;
	}
	ok = ok && send(conn, pooled, call, values, lengths);
	for (int p = 0; call->types[p] != UM_CALL_END; p++)
		um_buf_free(&arrays[p]);
	return ok;
}

/* Whether no operation before this place has its call. */
static bool
is_first(const struct um_batch *batch, size_t place)
{
	for (size_t i = 0; i < place; i++)
		if (batch->calls[i] == batch->calls[place])
			return false;
	return true;
}

bool
um_call_send(PGconn *conn, bool pooled, const struct um_batch *batch)
{
	for (size_t i = 0; i < batch->len; i++) {
		const struct um_call *call = batch->calls[i];

		if (call == NULL)
			continue;
		if (!call->each) {
			if (!send_one(conn, pooled, batch->ops[i]))
				return false;
		} else if (is_first(batch, i)
			&& !send_each(conn, pooled, call, batch)) {
			return false;
		}
	}
	return true;
}

/* An operation that is NULL was handed back before. */
static void
give(struct um_op *op, const PGresult *rows, int row, int len)
{
	if (op == NULL)
		return;
	op->rows = rows;
	op->rows_first = row;
	op->rows_len = len;
}

bool
um_call_read(const struct um_batch *batch, PGresult *const *results, size_t len,
	size_t *next)
{
	for (size_t i = 0; i < batch->len; i++) {
		const struct um_call *call = batch->calls[i];
		int row = 0;

		if (call == NULL || (call->each && !is_first(batch, i)))
			continue;
		if (*next >= len)
			return false;
		if (!call->each)
			give(batch->ops[i], results[*next], 0,
				PQntuples(results[*next]));
		for (size_t k = i; k < batch->len && call->each; k++)
			if (batch->calls[k] == call)
				give(batch->ops[k], results[*next], row++, 1);
		if (call->each && row != PQntuples(results[*next]))
			return false;
		(*next)++;
	}
	return true;
}

const char *
um_call_text(const struct um_op *op, int row, int col)
{
	return PQgetisnull(op->rows, op->rows_first + row, col)
		? NULL
		: PQgetvalue(op->rows, op->rows_first + row, col);
}

int64_t
um_call_int(const struct um_op *op, int row, int col)
{
	const char *text = um_call_text(op, row, col);

	return text != NULL ? strtoll(text, NULL, 10) : 0;
}

bool
um_call_is(const struct um_op *op, int row, int col, const char *word)
{
	const char *text = um_call_text(op, row, col);

	return text != NULL && strcmp(text, word) == 0;
}

bool
um_call_bytes(const struct um_op *op, int row, int col, struct um_buf *out)
{
	const char *text = um_call_text(op, row, col);
	struct um_str digits = um_str(text);
	size_t len;
	unsigned char *bytes;

	if (text == NULL)
		return false;
	/* As PostgreSQL writes it; without the copy that libpq would make. */
	if (um_str_take_prefix(&digits, "\\x")) {
		if (!um_buf_reserve(out, digits.len / 2)
			|| !um_hex_decode((uint8_t *)out->ptr + out->len,
				digits.len / 2, &len, digits))
			return false;
		out->len += len;
		return true;
	}
	bytes = PQunescapeBytea((const unsigned char *)text, &len);
	if (bytes != NULL)
		um_buf_put(out, bytes, len);
	PQfreemem(bytes);
	return bytes != NULL && !out->failed;
}
