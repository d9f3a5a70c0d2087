/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "batch.h"
#include "sqlstate.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

enum state {
	DOWN,       /* no connection; the next attempt is at `until` */
	CONNECTING, /* PQconnectPoll is at work */
	PREPARING,  /* the statements are on their way */
	IDLE,
	BUSY, /* a batch is under way */
};

struct um_store {
	struct um_store_events events;
	char *conninfo;
	char *name;
	PGconn *conn;
	enum state state;
	unsigned connection;
	bool want_write;
	int64_t until;      /* when this state is over at the latest, or -1 */
	int64_t down_since; /* -1: there is a connection */
	int64_t retry_ms;

	struct um_op *head;
	struct um_op **tail;
	size_t queued;

	struct um_op *batch[UM_BATCH_MAX]; /* NULL: was handed back before */
	enum um_op_kind kinds[UM_BATCH_MAX];
	size_t batch_len;
	PGresult *results[UM_BATCH_STATEMENTS_MAX];
	size_t results_len;
	size_t statements;
	char sqlstate[6]; /* of the first error of this batch, or "" */
};

struct um_store *
um_store_new(const char *conninfo, const char *name,
	const struct um_store_events *events)
{
	struct um_store *store = calloc(1, sizeof(*store));

	if (store == NULL)
		return NULL;
	store->events = *events;
	store->conninfo = strdup(conninfo);
	store->name = strdup(name);
	store->tail = &store->head;
	store->retry_ms = UM_STORE_RETRY_MIN_MS;
	store->down_since = -1;
	if (store->conninfo == NULL || store->name == NULL) {
		um_store_free(store);
		return NULL;
	}
	return store;
}

static void
trouble(struct um_store *store, const char *what, const char *why)
{
	char text[256];

	/* libpq's messages end with a newline, and may have several lines. */
	snprintf(text, sizeof(text), "%s: %.*s", what, (int)strcspn(why, "\n"),
		why);
	store->events.trouble(text, store->events.arg);
}

static void
hand_back(struct um_store *store, struct um_op *op, enum um_outcome outcome)
{
	op->outcome = outcome;
	store->events.done(op, store->events.arg);
}

static void
append(struct um_store *store, struct um_op *op)
{
	op->next = NULL;
	*store->tail = op;
	store->tail = &op->next;
	store->queued++;
}

static struct um_op *
shift(struct um_store *store)
{
	struct um_op *op = store->head;

	store->head = op->next;
	if (store->head == NULL)
		store->tail = &store->head;
	store->queued--;
	return op;
}

/* The batch goes back to the head of the queue, in its order. */
static void
requeue_batch(struct um_store *store, bool alone)
{
	for (size_t i = store->batch_len; i-- > 0;) {
		struct um_op *op = store->batch[i];

		if (op == NULL)
			continue;
		op->alone |= alone;
		op->next = store->head;
		if (store->head == NULL)
			store->tail = &op->next;
		store->head = op;
		store->queued++;
	}
	store->batch_len = 0;
}

static void
clear_results(struct um_store *store)
{
	for (size_t i = 0; i < store->results_len; i++)
		PQclear(store->results[i]);
	store->results_len = 0;
	store->sqlstate[0] = '\0';
}

static void
disconnect(struct um_store *store, int64_t now)
{
	requeue_batch(store, false);
	clear_results(store);
	PQfinish(store->conn);
	store->conn = NULL;
	store->connection++;
	store->state = DOWN;
	store->until = now + store->retry_ms;
	store->retry_ms = store->retry_ms * 2 < UM_STORE_RETRY_MAX_MS
		? store->retry_ms * 2
		: UM_STORE_RETRY_MAX_MS;
	if (store->down_since < 0)
		store->down_since = now;
}

/*
 * What the server says in passing. libpq would print it, and a web server
 * may put that beside the request line; its text may hold a row's data.
 */
static void
on_notice(void *arg, const PGresult *res)
{
	const char *sqlstate = PQresultErrorField(res, PG_DIAG_SQLSTATE);

	trouble(arg, "database: a notice, SQLSTATE",
		sqlstate != NULL ? sqlstate : "unknown");
}

static void
connect_start(struct um_store *store, int64_t now)
{
	/* What the operator's string says comes later, and so wins. */
	const char *const keywords[] = { "fallback_application_name",
		"target_session_attrs", "tcp_user_timeout", "client_encoding",
		"dbname", NULL };
	const char *const values[] = { store->name, "read-write",
		TEXT(UM_STORE_UNACKED_MS), "UTF8", store->conninfo, NULL };

	store->conn = PQconnectStartParams(keywords, values, 1);
	store->connection++;
	if (store->conn == NULL || PQstatus(store->conn) == CONNECTION_BAD) {
		trouble(store, "database",
			store->conn != NULL ? PQerrorMessage(store->conn)
					    : "out of memory");
		disconnect(store, now);
		return;
	}
	PQsetNoticeReceiver(store->conn, on_notice, store);
	store->state = CONNECTING;
	store->want_write = true;
	store->until = now + UM_STORE_BATCH_MS;
}

/* PQconnectPoll must not be called before the socket is ready for it. */
static bool
may_connect(const struct um_store *store)
{
	struct pollfd pfd = { .fd = PQsocket(store->conn),
		.events = store->want_write ? POLLOUT : POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

static void
connect_go_on(struct um_store *store, int64_t now)
{
	PostgresPollingStatusType next = PQconnectPoll(store->conn);

	/* libpq may have gone on to another host, another socket. */
	store->connection++;
	store->until = now + UM_STORE_BATCH_MS;
	store->want_write = next == PGRES_POLLING_WRITING;
	if (next == PGRES_POLLING_READING || next == PGRES_POLLING_WRITING)
		return;
	if (next != PGRES_POLLING_OK || PQsetnonblocking(store->conn, 1) != 0
		|| PQenterPipelineMode(store->conn) != 1
		|| !um_batch_prepare(store->conn)) {
		trouble(store, "database", PQerrorMessage(store->conn));
		disconnect(store, now);
		return;
	}
	store->state = PREPARING;
	store->statements = UM_BATCH_STATEMENTS_MAX;
	store->want_write = true;
}

static void
batch_failed(struct um_store *store, int64_t now)
{
	trouble(store, "database: a transaction failed, SQLSTATE",
		store->sqlstate);
	if (um_sqlstate_is_servers(store->sqlstate)) {
		disconnect(store, now);
	} else if (um_sqlstate_is_transient(store->sqlstate)) {
		requeue_batch(store, false);
	} else if (store->batch_len > 1) {
		/* One bad row must not fail its neighbours: each by itself. */
		requeue_batch(store, true);
	} else {
		store->batch_len = 0;
		if (store->batch[0] != NULL)
			hand_back(store, store->batch[0],
				um_sqlstate_is_rows(store->sqlstate)
					? UM_OUTCOME_FAILED
					: UM_OUTCOME_UNAVAILABLE);
	}
}

static void start_batch(struct um_store *store, int64_t now);

/* The next batch is sent first: PostgreSQL works while these are answered. */
static void
batch_committed(struct um_store *store, int64_t now)
{
	struct um_op *ops[UM_BATCH_MAX];
	size_t len = store->batch_len;
	bool fits = um_batch_read(store->batch, store->kinds, len,
		store->results, store->results_len);

	memcpy(ops, store->batch, len * sizeof(ops[0]));
	store->batch_len = 0;
	clear_results(store);
	if (store->events.committed != NULL)
		store->events.committed(len, store->events.arg);
	if (store->head != NULL)
		start_batch(store, now);
	for (size_t i = 0; i < len; i++)
		if (ops[i] != NULL)
			hand_back(store, ops[i],
				fits ? ops[i]->outcome : UM_OUTCOME_FAILED);
}

/* The Sync has come back: what was under way is committed, or is not. */
static void
transaction_over(struct um_store *store, int64_t now)
{
	bool preparing = store->state == PREPARING;

	store->state = IDLE;
	store->until = -1;
	if (preparing && store->sqlstate[0] != '\0') {
		trouble(store, "database: is it migrated? SQLSTATE",
			store->sqlstate);
		disconnect(store, now);
	} else if (preparing) {
		store->down_since = -1;
		store->retry_ms = UM_STORE_RETRY_MIN_MS;
	} else if (store->sqlstate[0] != '\0') {
		batch_failed(store, now);
	} else {
		batch_committed(store, now);
		return;
	}
	clear_results(store);
}

/* Answers false when nothing more can be read now. */
static bool
take_result(struct um_store *store, int64_t now)
{
	PGresult *res;

	if (PQisBusy(store->conn))
		return false;
	res = PQgetResult(store->conn);
	if (res == NULL) /* it stands between two statements */
		return PQstatus(store->conn) != CONNECTION_BAD;
	switch (PQresultStatus(res)) {
	case PGRES_PIPELINE_SYNC:
		PQclear(res);
		transaction_over(store, now);
		return false;
	case PGRES_TUPLES_OK:
		if (store->results_len < store->statements) {
			store->results[store->results_len++] = res;
			return true;
		}
		break;
	case PGRES_FATAL_ERROR: {
		const char *sqlstate = PQresultErrorField(res,
			PG_DIAG_SQLSTATE);

		if (store->sqlstate[0] == '\0')
			snprintf(store->sqlstate, sizeof(store->sqlstate), "%s",
				sqlstate != NULL ? sqlstate : "08006");
		break;
	}
	default:
		break;
	}
	PQclear(res);
	return PQstatus(store->conn) != CONNECTION_BAD;
}

static void
read_results(struct um_store *store, int64_t now)
{
	unsigned connection = store->connection;
	int flushed;

	if (PQconsumeInput(store->conn) != 1
		|| (flushed = PQflush(store->conn)) < 0) {
		trouble(store, "database", PQerrorMessage(store->conn));
		disconnect(store, now);
		return;
	}
	store->want_write = flushed == 1;
	if (store->state == IDLE)
		return;
	while (take_result(store, now))
		;
	if (store->connection == connection
		&& PQstatus(store->conn) == CONNECTION_BAD) {
		trouble(store, "database", PQerrorMessage(store->conn));
		disconnect(store, now);
	}
}

static void
start_batch(struct um_store *store, int64_t now)
{
	int flushed;

	while (store->head != NULL && store->batch_len < UM_BATCH_MAX
		&& (store->batch_len == 0 || !store->head->alone)) {
		struct um_op *op = shift(store);

		store->kinds[store->batch_len] = op->kind;
		store->batch[store->batch_len++] = op;
		if (op->alone)
			break;
	}
	if (!um_batch_send(store->conn, store->batch, store->batch_len,
		    &store->statements)) {
		trouble(store, "database", PQerrorMessage(store->conn));
		disconnect(store, now);
		return;
	}
	flushed = PQflush(store->conn);
	store->state = BUSY;
	store->until = now + UM_STORE_BATCH_MS;
	store->want_write = flushed == 1;
	if (flushed < 0) {
		trouble(store, "database", PQerrorMessage(store->conn));
		disconnect(store, now);
	}
}

/* The operation of the batch that has waited longest: they are in order. */
static size_t
oldest_in_batch(const struct um_store *store)
{
	size_t i = 0;

	while (i < store->batch_len && store->batch[i] == NULL)
		i++;
	return i;
}

/* Hands back what has waited for too long. */
static void
expire(struct um_store *store, int64_t now)
{
	for (size_t i = oldest_in_batch(store);
		i < store->batch_len && store->batch[i]->deadline <= now; i++) {
		struct um_op *op = store->batch[i];

		store->batch[i] = NULL;
		hand_back(store, op, UM_OUTCOME_UNAVAILABLE);
	}
	while (store->head != NULL && store->head->deadline <= now)
		hand_back(store, shift(store), UM_OUTCOME_UNAVAILABLE);
}

void
um_store_submit(struct um_store *store, struct um_op *op, int64_t now)
{
	bool away = store->down_since >= 0
		&& now - store->down_since > UM_STORE_WAIT_MS;

	op->alone = false;
	op->deadline = now + UM_STORE_WAIT_MS;
	if (away || store->queued >= UM_STORE_QUEUE_MAX)
		hand_back(store, op, UM_OUTCOME_UNAVAILABLE);
	else
		append(store, op);
}

void
um_store_run(struct um_store *store, bool ready, int64_t now)
{
	if (store->state == DOWN && store->until <= now)
		connect_start(store, now);
	if (store->state == CONNECTING && may_connect(store))
		connect_go_on(store, now);
	/* TLS may hold back what the socket shows no more. */
	if (store->state >= PREPARING && (ready || PQsslInUse(store->conn)))
		read_results(store, now);
	if ((store->state == CONNECTING || store->state == PREPARING
		    || store->state == BUSY)
		&& store->until <= now) {
		trouble(store, "database", "no answer in time");
		disconnect(store, now);
	}
	expire(store, now);
	if (store->state == IDLE && store->head != NULL)
		start_batch(store, now);
}

int
um_store_watch(const struct um_store *store, bool *want_write,
	unsigned *connection)
{
	*want_write = store->want_write;
	*connection = store->connection;
	return store->conn != NULL ? PQsocket(store->conn) : -1;
}

int64_t
um_store_deadline(const struct um_store *store)
{
	int64_t at = store->state == IDLE ? -1 : store->until;
	size_t oldest = oldest_in_batch(store);
	const struct um_op *op = oldest < store->batch_len
		? store->batch[oldest]
		: store->head;

	return op != NULL && (at < 0 || op->deadline < at) ? op->deadline : at;
}

size_t
um_store_pending(const struct um_store *store)
{
	size_t pending = store->queued;

	for (size_t i = 0; i < store->batch_len; i++)
		pending += store->batch[i] != NULL;
	return pending;
}

void
um_store_free(struct um_store *store)
{
	if (store == NULL)
		return;
	clear_results(store);
	PQfinish(store->conn);
	free(store->conninfo);
	free(store->name);
	free(store);
}
