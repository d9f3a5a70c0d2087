/* SPDX-License-Identifier: MIT */
#include "postgres/batch.h"

#include <stdio.h>
#include <string.h>

#include "postgres/array.h"
#include "postgres/row.h"

/* From pg_type.dat: they never change. */
#define OID_BOOL 16
#define OID_BYTEA 17
#define OID_INT8 20
#define OID_TEXT 25
#define OID_UUID 2950
#define OID_JSONB 3802
#define OID_BOOL_ARRAY 1000
#define OID_BYTEA_ARRAY 1001
#define OID_TEXT_ARRAY 1009
#define OID_INT8_ARRAY 1016
#define OID_UUID_ARRAY 2951
#define OID_JSONB_ARRAY 3807

#define PARAMS_MAX 15

/*
 * The parameters: a name, the type, and how an operation gives its element of the
 * array.
 */
#define PARAMS(X)                                                              \
	X(ID, UUID,                                                            \
		um_array_put(out, op->is_unnamed ? NULL : op->id,              \
			sizeof(op->id)))                                       \
	X(BINDING, BYTEA, um_array_put(out, op->binding, sizeof(op->binding))) \
	X(PROVIDER, TEXT, um_array_put_text(out, op->provider))                \
	X(BROWSER, BYTEA,                                                      \
		um_array_put(out, op->only_looks ? NULL : op->browser,         \
			sizeof(op->browser)))                                  \
	X(SUBJECT, TEXT, um_array_put_text(out, op->subject))                  \
	X(GRACE, INT8, um_array_put_int64(out, op->grace_ms, true))            \
	X(ACTION, TEXT, um_array_put_text(out, op->action))                    \
	X(REASON, TEXT, um_array_put_text(out, op->reason))                    \
	X(RESULT, BYTEA, um_array_put(out, op->result.ptr, op->result.len))    \
	X(IDENTITY, TEXT, um_array_put_text(out, op->event->identity))         \
	X(TYPE, TEXT, um_array_put_text(out, op->event->type))                 \
	X(EFFECT, TEXT, um_array_put_text(out, effect_text(op)))               \
	X(AMOUNT, INT8,                                                        \
		um_array_put_int64(out, op->event->amount,                     \
			op->event->has_amount))                                \
	X(CURRENCY, TEXT, um_array_put_known(out, op->event->currency))        \
	X(REFERENCE, TEXT, um_array_put_known(out, op->event->reference))      \
	X(REFUND, TEXT, um_array_put_known(out, op->event->refund))            \
	X(CHECKOUT, TEXT, um_array_put_known(out, op->event->checkout))        \
	X(DETAILS, JSONB, put_details(out, &op->event->details))               \
	X(NOTIFIED, BYTEA,                                                     \
		um_array_put(out, op->notified.ptr, op->notified.len))         \
	X(FOUR_EYES, BOOL, um_array_put(out, op->four_eyes ? "\1" : "", 1))    \
	X(KIND, TEXT, um_array_put_text(out, op->row_kind))                    \
	X(TENANTS, TEXT, um_array_put_text(out, op->tenants))                  \
	X(TYPED, BYTEA, um_array_put(out, op->typed.ptr, op->typed.len))       \
	X(NOTE, TEXT, um_array_put_text(out, op->note))                        \
	X(REQUEST, TEXT, um_array_put_text(out, op->request))                  \
	X(DIGEST, BYTEA, um_array_put(out, op->digest, sizeof(op->digest)))    \
	X(PLACE, TEXT, um_array_put_text(out, op->place))

enum param {
	END,
#define X(name, type, put) name,
	PARAMS(X)
#undef X
};

static const struct {
	Oid element;
	Oid array;
} types_of[] = {
#define X(name, type, put) [name] = { OID_##type, OID_##type##_ARRAY },
	PARAMS(X)
#undef X
};

static const struct statement {
	enum um_op_kind kind;
	const char *name;
	const char *sql;
	enum param params[PARAMS_MAX + 1];
} statements_of[UM_BATCH_STATEMENTS_MAX] = {
	{ UM_OP_LOOK_UP, "look_up",
		"SELECT outcome, requester, subject, action, reason, expires, "
		"failed_attempts, late, browser, amount, currency "
		"FROM urlmode.look_up($1, $2, $3)",
		{ ID, BINDING, PROVIDER } },
	{ UM_OP_LOOK_UP_LINK, "look_up_link",
		"SELECT outcome, requester, subject, action, reason, expires, "
		"failed_attempts, late, browser, amount, currency, binding "
		"FROM urlmode.look_up_link($1, $2, $3)",
		{ ID, PROVIDER, KIND } },
	{ UM_OP_LINK_TENANT, "link_tenant",
		"SELECT outcome FROM urlmode.link_tenant($1, $2, $3)",
		{ ID, PROVIDER, TENANTS } },
	{ UM_OP_OPEN, "open",
		"SELECT outcome, kind, target_url, expires "
		"FROM urlmode.open($1, $2, $3, $4, $5, $6, $7)",
		{ ID, BINDING, PROVIDER, BROWSER, SUBJECT, GRACE, KIND } },
	{ UM_OP_OPEN_LINK, "open_link",
		"SELECT outcome, kind, target_url, expires, binding "
		"FROM urlmode.open_link($1, $2, $3, $4, $5, $6)",
		{ ID, PROVIDER, BROWSER, SUBJECT, GRACE, KIND } },
	{ UM_OP_COMPLETE, "complete",
		"SELECT outcome "
		"FROM urlmode.complete($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		{ ID, BINDING, PROVIDER, ACTION, REASON, RESULT, SUBJECT,
			NOTIFIED, KIND } },
	{ UM_OP_OPEN_FORM, "open_form",
		"SELECT outcome, expires, binding "
		"FROM urlmode.open_form($1, $2, $3, $4, $5, $6)",
		{ ID, PROVIDER, KIND, BROWSER, SUBJECT, FOUR_EYES } },
	{ UM_OP_LOOK_UP_FORM, "look_up_form",
		"SELECT outcome, requester, subject, action, reason, expires, "
		"form, problem, typed, unchecked, browser, decided_by "
		"FROM urlmode.look_up_form($1, $2, $3, $4, $5, $6)",
		{ ID, BINDING, PROVIDER, KIND, SUBJECT, FOUR_EYES } },
	{ UM_OP_ANSWER_FORM, "answer_form_noted",
		"SELECT outcome FROM urlmode.answer_form_noted($1, $2, $3, "
		"$4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
		{ ID, BINDING, PROVIDER, KIND, BROWSER, SUBJECT, FOUR_EYES,
			ACTION, REASON, RESULT, NOTIFIED, TYPED, NOTE } },
	{ UM_OP_EVENT, "receive_events",
		"SELECT outcome, mismatch, elicitation "
		"FROM urlmode.receive_events($1, $2, $3, $4, $5, $6, $7, $8, "
		"$9, $10, $11, $12, $13, $14, $15)",
		{ ID, PROVIDER, IDENTITY, TYPE, EFFECT, AMOUNT, CURRENCY,
			REFERENCE, RESULT, NOTIFIED, REFUND, CHECKOUT, REQUEST,
			KIND, DETAILS } },
	/* After all events: whoever waits here for a lock holds theirs. */
	{ UM_OP_UNREADABLE, "record_unreadable",
		"SELECT recorded "
		"FROM urlmode.record_unreadable($1, $2, $3, $4, $5)",
		{ PROVIDER, DIGEST, REASON, PLACE, REQUEST } },
	/* One row for each operation, as from the functions over arrays. */
	{ UM_OP_PING, "ping", "SELECT urlmode.ping() FROM unnest($1)", { ID } },
	{ UM_OP_HELD, "held", "SELECT held FROM urlmode.held($1)", { ID } },
	{ UM_OP_MEASURE, "readings",
		"SELECT unclaimed, oldest_unclaimed_s, database_ms, "
		"queue_usage, undelivered, oldest_undelivered_s, "
		"failing FROM urlmode.readings(), unnest($1)",
		{ ID } },
	{ UM_OP_BEAT, "beat", "SELECT beats FROM urlmode.beat($1)",
		{ SUBJECT } },
};

/* The types of the parameters. Returns their number. */
static int
put_types(Oid types[PARAMS_MAX], const struct statement *st)
{
	int count = 0;

	for (; st->params[count] != END; count++)
		types[count] = types_of[st->params[count]].array;
	return count;
}

/*
 * What limits a statement of these logins: of the session, or of the transaction alone
 * where a pooler gives the next one to somebody else. A row without columns is no
 * answer (keep()). The functions of the callback programs limit themselves
 * (sql/functions/007_callback.sql), to the same 20 ms for a lock.
 */
#define LIMIT(name, value)                                                     \
	{                                                                      \
		"SELECT FROM set_config('" name "', '" value "', false)",      \
			"SELECT FROM set_config('" name "', '" value           \
			"', true)"                                             \
	}

static const struct limit {
	const char *of_session, *of_transaction; /* NULL: there is none */
} limits[] = {
	[UM_LOGIN_CALLBACK] = { NULL, NULL },
	[UM_LOGIN_SERVER] = LIMIT("lock_timeout", "20ms"),
	[UM_LOGIN_OPERATOR] = LIMIT("statement_timeout", "2s"),
};

static bool
send_limit(PGconn *conn, const char *sql)
{
	return sql == NULL
		|| PQsendQueryParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0)
		== 1;
}

bool
um_batch_prepare(PGconn *conn, bool pooled, enum um_login login,
	const struct um_call *const *calls)
{
	if (!pooled && !send_limit(conn, limits[login].of_session))
		return false;
	if (calls != NULL && !um_call_prepare(conn, pooled, calls))
		return false;
	for (size_t i = 0; i < UM_BATCH_STATEMENTS_MAX; i++) {
		const struct statement *st = &statements_of[i];
		Oid types[PARAMS_MAX];
		int count = put_types(types, st);

		if (calls != NULL && st->kind != UM_OP_HELD)
			continue;
		if (PQsendPrepare(conn, pooled ? "" : st->name, st->sql, count,
			    types)
			!= 1)
			return false;
	}
	return PQpipelineSync(conn) == 1;
}

#define ASSIGN "SELECT urlmode.assign_providers($1, $2)"

bool
um_batch_assign(PGconn *conn, const struct um_provider *providers, size_t len)
{
	static const Oid types[] = { OID_TEXT_ARRAY, OID_TEXT_ARRAY };
	static const int binary[] = { 1, 1 };
	struct um_buf names = { 0 }, tenants = { 0 };
	size_t count = 0;
	bool ok = true;

	for (size_t i = 0; i < len; i++)
		count += providers[i].kind == UM_KIND_PAYMENT;
	if (count == 0)
		return true;
	um_array_begin(&names, OID_TEXT, count);
	um_array_begin(&tenants, OID_TEXT, count);
	for (size_t i = 0; i < len; i++) {
		if (providers[i].kind != UM_KIND_PAYMENT)
			continue;
		um_array_put_text(&names, providers[i].name);
		um_array_put_text(&tenants, providers[i].tenants);
	}
	ok = !names.failed && !tenants.failed
		&& PQsendQueryParams(conn, ASSIGN, 2, types,
			   (const char *const[]){ names.ptr, tenants.ptr },
			   (const int[]){ (int)names.len, (int)tenants.len },
			   binary, 0)
			== 1;
	um_buf_free(&names);
	um_buf_free(&tenants);
	return ok;
}

static const char *
effect_text(const struct um_op *op)
{
	static const char *const words[] = {
		[UM_EFFECT_IGNORE] = "ignore",
		[UM_EFFECT_PAID] = "paid",
		[UM_EFFECT_ACCEPTED] = "accepted",
		[UM_EFFECT_FAILED] = "failed",
		[UM_EFFECT_CANCELLED] = "cancelled",
		[UM_EFFECT_EXPIRED] = "expired",
		[UM_EFFECT_PROCESSING] = "processing",
		[UM_EFFECT_ATTEMPT_FAILED] = "attempt_failed",
		[UM_EFFECT_REFUNDED] = "refunded",
		[UM_EFFECT_REFUND_REVERSED] = "refund_reversed",
		[UM_EFFECT_DISPUTED] = "disputed",
		[UM_EFFECT_RENEWED] = "renewed",
		[UM_EFFECT_SUBSCRIPTION] = "subscription",
		[UM_EFFECT_NAMED] = "named",
		[UM_EFFECT_OTHER_MODE] = "other_mode",
		[UM_EFFECT_OTHER_ACCOUNT] = "other_account",
		[UM_EFFECT_RECHECK] = "recheck",
	};

	/* A provider of payments has used both words for a payment. */
	if (op->event->effect == UM_EFFECT_ACCEPTED
		&& (op->row_kind == NULL
			|| strcmp(op->row_kind, "payment") == 0))
		return "paid";
	return words[op->event->effect];
}

static void
put_details(struct um_buf *out, const struct um_details *details)
{
	struct um_buf json = { 0 };

	um_details_put(&json, details);
	um_array_put_json(out, um_buf_str(&json));
	out->failed |= json.failed;
	um_buf_free(&json);
}

static void
put_param(struct um_buf *out, enum param param, const struct um_op *op)
{
	switch (param) {
#define X(name, type, put)                                                     \
	case name:                                                             \
		(put);                                                         \
		break;
		PARAMS(X)
#undef X
	case END:
		break;
	}
}

static bool
send_statement(PGconn *conn, bool pooled, const struct statement *st,
	const struct um_batch *batch, size_t count)
{
	static const int binary[PARAMS_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1 };
	struct um_buf all = { 0 }; /* the parameters, one after another */
	const char *values[PARAMS_MAX];
	int lengths[PARAMS_MAX];
	Oid types[PARAMS_MAX];
	int params = put_types(types, st);
	size_t begin = 0;
	bool ok;

	for (int p = 0; p < params; p++) {
		size_t before = all.len;

		um_array_begin(&all, (int32_t)types_of[st->params[p]].element,
			count);
		for (size_t i = 0; i < batch->len; i++)
			if (batch->kinds[i] == st->kind)
				put_param(&all, st->params[p], batch->ops[i]);
		lengths[p] = (int)(all.len - before);
	}
	ok = !all.failed;
	for (int p = 0; ok && p < params; p++) {
		values[p] = all.ptr + begin;
		begin += (size_t)lengths[p];
	}
	if (ok && pooled)
		ok = PQsendQueryParams(conn, st->sql, params, types, values,
			     lengths, binary, 0)
			== 1;
	else if (ok)
		ok = PQsendQueryPrepared(conn, st->name, params, values,
			     lengths, binary, 0)
			== 1;
	um_buf_free(&all);
	return ok;
}

bool
um_batch_send(PGconn *conn, bool pooled, enum um_login login,
	const struct um_batch *batch)
{
	if (pooled && !send_limit(conn, limits[login].of_transaction))
		return false;
	for (size_t s = 0; s < UM_BATCH_STATEMENTS_MAX; s++) {
		size_t count = 0;

		for (size_t i = 0; i < batch->len; i++)
			count += batch->kinds[i] == statements_of[s].kind;
		if (count != 0
			&& !send_statement(conn, pooled, &statements_of[s],
				batch, count))
			return false;
	}
	return um_call_send(conn, pooled, batch) && PQpipelineSync(conn) == 1;
}

static void
keep(struct um_batch_answer *answer, PGresult *res)
{
	const char *sqlstate = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	ExecStatusType status = PQresultStatus(res);

	if (status == PGRES_TUPLES_OK && PQnfields(res) != 0
		&& answer->results_len < UM_BATCH_RESULTS_MAX) {
		answer->results[answer->results_len++] = res;
		return;
	}
	if (status == PGRES_FATAL_ERROR && answer->sqlstate[0] == '\0')
		snprintf(answer->sqlstate, sizeof(answer->sqlstate), "%s",
			sqlstate != NULL ? sqlstate : "08006");
	PQclear(res);
}

enum um_received
um_batch_receive(struct um_batch_answer *answer, PGconn *conn)
{
	PGresult *res;

	if (PQisBusy(conn))
		return UM_RECEIVED_NOTHING;
	res = PQgetResult(conn);
	if (PQresultStatus(res) == PGRES_PIPELINE_SYNC) {
		PQclear(res);
		return UM_RECEIVED_SYNC;
	}
	if (res != NULL) /* NULL: the end of the results of one statement */
		keep(answer, res);
	return PQstatus(conn) != CONNECTION_BAD ? UM_RECEIVED_RESULT
						: UM_RECEIVED_NOTHING;
}

/* The row of the operation in this place. */
static bool
read_row(const struct um_batch *batch, size_t place, const PGresult *result,
	int row)
{
	struct um_op *op = batch->ops[place];

	if (batch->kinds[place] != UM_OP_HELD)
		return um_row_read(op, result, row);
	op->is_held = PQgetvalue(result, row, 0)[0] == 't';
	return true;
}

bool
um_batch_read(const struct um_batch *batch,
	const struct um_batch_answer *answer)
{
	PGresult *const *results = answer->results;
	size_t r = 0;

	for (size_t s = 0; s < UM_BATCH_STATEMENTS_MAX; s++) {
		int row = 0;

		for (size_t i = 0; i < batch->len; i++) {
			if (batch->kinds[i] != statements_of[s].kind)
				continue;
			if (r >= answer->results_len
				|| row >= PQntuples(results[r]))
				return false;
			if (batch->ops[i] != NULL
				&& !read_row(batch, i, results[r], row))
				return false;
			row++;
		}
		if (row != 0 && row != PQntuples(results[r++]))
			return false;
	}
	return um_call_read(batch, results, answer->results_len, &r)
		&& r == answer->results_len;
}

void
um_batch_answer_clear(struct um_batch_answer *answer)
{
	for (size_t i = 0; i < answer->results_len; i++)
		PQclear(answer->results[i]);
	answer->results_len = 0;
	answer->sqlstate[0] = '\0';
}
