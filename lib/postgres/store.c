/* SPDX-License-Identifier: MIT */
#include "postgres/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "contract/limits.h"
#include "core/clock.h"
#include "postgres/batch.h"
#include "postgres/connect.h"
#include "postgres/queue.h"
#include "postgres/sqlstate.h"

enum state {
	DOWN,       /* no connection; `until` is the next attempt */
	CONNECTING, /* see postgres/connect.h */
	ASKING,     /* the server is being asked for its process id */
	PREPARING,  /* the statements are being prepared */
	IDLE,
	BUSY, /* one batch is under way, or two */
};

_Static_assert(UM_STORE_QUEUE_MAX >= 2 * UM_EVENTS_MAX,
	"one delivery does not fill the queue");

struct um_store {
	struct um_store_events events;
	char *conninfo;
	char *name;
	enum um_login login;
	const struct um_call *const *calls; /* NULL: of a callback program */
	const struct um_provider *providers;
	size_t providers_len;
	struct um_connect connect;
	PGconn *conn; /* NULL until it is made */
	enum state state;
	unsigned connection;
	bool want_write;
	bool pooled;   /* a pooler chooses the server of each transaction */
	int64_t until; /* when this state ends at the latest, or -1 */
	int64_t down_since;   /* -1 while there is a connection */
	int64_t connected_at; /* -1 while there is none */
	int64_t retry_ms;

	struct um_queue queue;
	int64_t sent_us[UM_BATCHES_MAX]; /* as queue.batch */
	struct um_batch_answer answer;   /* to the oldest batch under way */
};

static void
notice(struct um_store *store, const char *what, const char *why)
{
	char text[512];

	/* libpq's messages end with a newline, and may have several lines. */
	snprintf(text, sizeof(text), "%s: %.*s", what, (int)strcspn(why, "\n"),
		why);
	store->events.notice(text, store->events.arg);
}

static void
on_notice(const char *text, void *arg)
{
	notice(arg, "database", text);
}

struct um_store *
um_store_new(const char *conninfo, const char *name, enum um_login login,
	const struct um_call *const *calls,
	const struct um_store_events *events)
{
	struct um_store *store = calloc(1, sizeof(*store));

	if (store == NULL)
		return NULL;
	store->events = *events;
	store->login = login;
	store->calls = calls;
	store->conninfo = strdup(conninfo);
	store->name = strdup(name);
	store->retry_ms = UM_STORE_RETRY_MIN_MS;
	store->down_since = store->connected_at = -1;
	store->connect = (struct um_connect){ .conninfo = store->conninfo,
		.name = store->name,
		.on_notice = on_notice,
		.arg = store };
	if (store->conninfo == NULL || store->name == NULL) {
		um_store_free(store);
		return NULL;
	}
	return store;
}

void
um_store_assign(struct um_store *store, const struct um_provider *providers,
	size_t len)
{
	store->providers = providers;
	store->providers_len = len;
}

static void
hand_back(struct um_store *store, struct um_op *op, enum um_store_status status)
{
	op->status = status;
	store->events.done(op, store->events.arg);
}

static void
disconnect(struct um_store *store, int64_t now)
{
	um_queue_put_all_back(&store->queue);
	um_batch_answer_clear(&store->answer);
	um_connect_stop(&store->connect);
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
	store->connected_at = -1;
}

static void
connection_lost(struct um_store *store, int64_t now)
{
	notice(store, "database", PQerrorMessage(store->conn));
	disconnect(store, now);
}

/* Sends what can be sent now, the rest when the socket is writable. */
static bool
flush(struct um_store *store)
{
	int flushed = PQflush(store->conn);

	store->want_write = flushed == 1;
	return flushed >= 0;
}

static void
unanswered(struct um_store *store)
{
	store->connect.asks_leader = true;
	if (store->events.unanswered != NULL)
		store->events.unanswered(store->events.arg);
}

/* One step of connecting. False: it is made, given up, or must wait. */
static bool
connect_step(struct um_store *store, int64_t now)
{
	struct um_error err;
	enum um_connect_step step = um_connect_go_on(&store->connect, &err);

	if (step == UM_CONNECT_WAITS)
		return false;
	store->connection++;
	store->until = now + UM_STORE_CONNECT_MS;
	if (step == UM_CONNECT_MOVED)
		return true;
	if (step == UM_CONNECT_FAILED) {
		notice(store, "database", err.text);
		disconnect(store, now);
		return false;
	}
	store->conn = um_connect_take(&store->connect);
	if (!um_connect_ask(store->conn)) {
		connection_lost(store, now);
		return false;
	}
	store->state = ASKING;
	store->want_write = true;
	return false;
}

/* Sends batches while there are operations and room for a batch. */
static void
start_batches(struct um_store *store, int64_t now)
{
	const struct um_batch *batch;

	while ((batch = um_queue_look(&store->queue, now)) != NULL
		|| (batch = um_queue_start(&store->queue)) != NULL) {
		if (!um_batch_send(store->conn, store->pooled, store->login,
			    batch)
			|| !flush(store)) {
			connection_lost(store, now);
			return;
		}
		for (size_t i = 0; i < batch->len; i++)
			if (batch->ops[i] != NULL)
				batch->ops[i]->was_sent = true;
		if (store->state == IDLE)
			store->until = now + UM_COMMIT_UNANSWERED_MS;
		store->state = BUSY;
		store->sent_us[batch - store->queue.batch] =
			store->events.clock_us();
	}
}

void
um_store_expire(struct um_store *store, int64_t now)
{
	struct um_op *op;

	while ((op = um_queue_take_expired(&store->queue, now)) != NULL)
		hand_back(store, op, UM_STORE_UNAVAILABLE);
}

/* Sends the next batch first: PostgreSQL works while these are handed back. */
static void
batch_committed(struct um_store *store, int64_t now)
{
	struct um_batch batch;
	int64_t sent_us;
	bool fits;

	/* Not earlier: with a full disk, a server accepts connections. */
	store->retry_ms = UM_STORE_RETRY_MIN_MS;
	if (um_queue_oldest(&store->queue)->kinds[0] == UM_OP_HELD) {
		um_batch_read(um_queue_oldest(&store->queue), &store->answer);
		um_queue_take_free(&store->queue, now);
		return;
	}
	sent_us = store->sent_us[store->queue.first];
	um_queue_finish(&store->queue, &batch);
	fits = um_batch_read(&batch, &store->answer);
	if (store->events.committed != NULL)
		store->events.committed(batch.len,
			store->events.clock_us() - sent_us, store->events.arg);
	um_store_expire(store, now);
	start_batches(store, now);
	for (size_t i = 0; i < batch.len; i++)
		if (batch.ops[i] != NULL)
			hand_back(store, batch.ops[i],
				fits ? UM_STORE_DONE : UM_STORE_FAILED);
}

static void
batch_failed(struct um_store *store, int64_t now)
{
	enum um_sqlstate class = um_sqlstate_class(store->answer.sqlstate);

	notice(store, "database: a transaction failed, SQLSTATE",
		store->answer.sqlstate);
	if (class == UM_SQLSTATE_SERVER) {
		disconnect(store, now);
	} else if (class == UM_SQLSTATE_TRANSIENT) {
		um_queue_put_back(&store->queue, false);
	} else if (class == UM_SQLSTATE_LOCK) {
		um_queue_set_aside(&store->queue, now);
	} else if (um_queue_oldest(&store->queue)->len > 1) {
		/* So that one bad row does not make the others fail. */
		um_queue_put_back(&store->queue, true);
	} else {
		struct um_batch batch;

		um_queue_finish(&store->queue, &batch);
		if (batch.ops[0] != NULL)
			memcpy(batch.ops[0]->sqlstate, store->answer.sqlstate,
				sizeof(batch.ops[0]->sqlstate));
		if (batch.ops[0] != NULL)
			hand_back(store, batch.ops[0],
				class == UM_SQLSTATE_ROW
					? UM_STORE_FAILED
					: UM_STORE_UNAVAILABLE);
	}
}

/* Why this is not the login of such a program, or NULL. */
static const char *
wrong_login(enum um_login wanted, enum um_login is)
{
	if (wanted == UM_LOGIN_SERVER)
		return is == UM_LOGIN_SERVER ? NULL
					     : "the login may not execute "
					       "urlmode.read: give the api "
					       "urlmode_server";
	if (is == UM_LOGIN_SERVER)
		return wanted == UM_LOGIN_OPERATOR
			? "the login may execute urlmode.read: give the "
			  "console "
			  "urlmode_operator alone"
			: "the login may execute urlmode.read: give the "
			  "programs urlmode_cgi alone";
	return wanted == UM_LOGIN_OPERATOR && is != UM_LOGIN_OPERATOR
		? "the login may not execute urlmode.show_elicitation: give "
		  "the "
		  "console urlmode_operator"
		: NULL;
}

static void
asked(struct um_store *store, int64_t now)
{
	enum um_login login = UM_LOGIN_CALLBACK;
	bool pooled = false;
	const char *wrong;

	if (store->answer.results_len == 1)
		um_connect_answer(store->conn, store->answer.results[0],
			&pooled, &login);
	wrong = wrong_login(store->login, login);
	if (wrong != NULL) {
		notice(store, "database", wrong);
		disconnect(store, now);
		return;
	}
	if (pooled && !store->pooled)
		notice(store, "database",
			"there is a pooler, so statements are not prepared");
	store->pooled = pooled;
	if (!um_batch_assign(store->conn, store->providers,
		    store->providers_len)
		|| !um_batch_prepare(store->conn, pooled, store->login,
			store->calls)) {
		connection_lost(store, now);
		return;
	}
	store->state = PREPARING;
	store->until = now + UM_STORE_CONNECT_MS;
	store->want_write = true;
}

static void
prepared(struct um_store *store, int64_t now)
{
	if (store->answer.sqlstate[0] != '\0') {
		notice(store, "database: is it migrated? SQLSTATE",
			store->answer.sqlstate);
		disconnect(store, now);
	} else {
		store->down_since = -1;
		store->connected_at = now;
	}
}

/* The Sync has come back: the transaction is committed or rolled back. */
static void
transaction_over(struct um_store *store, int64_t now)
{
	enum state before = store->state;
	bool is_last = store->queue.under_way <= 1;

	store->state = is_last ? IDLE : BUSY;
	store->until = is_last ? -1 : now + UM_COMMIT_UNANSWERED_MS;
	if (before == ASKING)
		asked(store, now);
	else if (before == PREPARING)
		prepared(store, now);
	else if (store->answer.sqlstate[0] != '\0')
		batch_failed(store, now);
	else
		batch_committed(store, now);
	um_batch_answer_clear(&store->answer);
}

/* False when no further result can be read now. */
static bool
take_result(struct um_store *store, int64_t now)
{
	PGresult *res;

	if (PQisBusy(store->conn))
		return false;
	res = PQgetResult(store->conn);
	if (res == NULL) /* the end of the results of one statement */
		return PQstatus(store->conn) != CONNECTION_BAD;
	if (PQresultStatus(res) == PGRES_PIPELINE_SYNC) {
		PQclear(res);
		transaction_over(store, now);
		return store->state == BUSY;
	}
	um_batch_take(&store->answer, res);
	return PQstatus(store->conn) != CONNECTION_BAD;
}

static void
read_results(struct um_store *store, bool ready, int64_t now)
{
	unsigned connection = store->connection;

	if (PQconsumeInput(store->conn) != 1 || !flush(store)) {
		connection_lost(store, now);
		return;
	}
	/* Bytes come, or go: a large batch has longer. */
	if (store->state == BUSY && ready)
		store->until = now + UM_COMMIT_UNANSWERED_MS;
	if (store->state == IDLE)
		return;
	while (take_result(store, now))
		;
	if (store->connection == connection
		&& PQstatus(store->conn) == CONNECTION_BAD)
		connection_lost(store, now);
}

void
um_store_submit(struct um_store *store, struct um_op *op, int64_t now)
{
	bool away = store->down_since >= 0
		&& now - store->down_since >= UM_STORE_WAIT_MS;

	op->isolated = op->is_held = op->was_aside = op->was_sent = false;
	op->deadline = now + UM_STORE_WAIT_MS;
	if (away || um_store_queued(store) >= UM_STORE_QUEUE_MAX
		|| (op->kind == UM_OP_UNREADABLE
			&& um_store_queued(store) >= UM_STORE_UNREADABLE_MAX))
		hand_back(store, op, UM_STORE_UNAVAILABLE);
	else
		um_queue_append(&store->queue, op);
}

void
um_store_run(struct um_store *store, bool ready, int64_t now)
{
	if (store->state == DOWN && store->until <= now) {
		store->state = CONNECTING;
		store->until = now + UM_STORE_CONNECT_MS;
	}
	while (store->state == CONNECTING && connect_step(store, now))
		;
	/* With TLS, data may be buffered that the socket does not show. */
	if (store->state >= ASKING && (ready || PQsslInUse(store->conn)))
		read_results(store, ready, now);
	if (store->state != DOWN && store->state != IDLE
		&& store->until <= now) {
		notice(store, "database", "no answer in time");
		if (store->state == BUSY)
			unanswered(store);
		disconnect(store, now);
	}
	um_store_expire(store, now);
	if (store->state == IDLE || store->state == BUSY)
		start_batches(store, now);
}

int
um_store_watch(const struct um_store *store, bool *want_write,
	unsigned *connection)
{
	*connection = store->connection;
	*want_write = store->want_write;
	if (store->state == CONNECTING) {
		*want_write = store->connect.want_write;
		return um_connect_fd(&store->connect);
	}
	return store->conn != NULL ? PQsocket(store->conn) : -1;
}

int64_t
um_store_deadline(const struct um_store *store)
{
	int64_t deadline = um_queue_deadline(&store->queue);

	if (store->state != IDLE)
		deadline = um_deadline_earlier(deadline, store->until);
	if (store->state >= IDLE)
		deadline = um_deadline_earlier(deadline,
			um_queue_next_look(&store->queue));
	return deadline;
}

int64_t
um_store_connected_at(const struct um_store *store)
{
	return store->connected_at;
}

size_t
um_store_queued(const struct um_store *store)
{
	return store->queue.waiting.len + store->queue.aside.ops.len;
}

void
um_store_free(struct um_store *store)
{
	if (store == NULL)
		return;
	um_batch_answer_clear(&store->answer);
	um_connect_end(&store->connect);
	PQfinish(store->conn);
	um_wipe_free_text(store->conninfo);
	free(store->name);
	free(store);
}
