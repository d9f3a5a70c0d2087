/* SPDX-License-Identifier: MIT */
#include "postgres/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "contract/limits.h"
#include "core/clock.h"
#include "postgres/batch.h"
#include "postgres/queue.h"
#include "postgres/session.h"
#include "postgres/sqlstate.h"

enum state {
	DOWN,       /* no connection; `until` is the next attempt */
	CONNECTING, /* see postgres/session.h */
	IDLE,
	BUSY, /* one batch is under way, or two */
};

_Static_assert(UM_STORE_QUEUE_MAX >= 2 * UM_EVENTS_MAX,
	"one delivery does not fill the queue");

struct um_store {
	struct um_store_events events;
	char *conninfo;
	char *name;
	struct um_session session;
	enum state state;
	unsigned connection;
	int64_t until;        /* when this state ends at the latest, or -1 */
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
	store->conninfo = strdup(conninfo);
	store->name = strdup(name);
	store->retry_ms = UM_STORE_RETRY_MIN_MS;
	store->down_since = store->connected_at = -1;
	store->session.connect = (struct um_connect){
		.conninfo = store->conninfo,
		.name = store->name,
		.on_notice = on_notice,
		.arg = store
	};
	store->session.login = login;
	store->session.calls = calls;
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
	store->session.providers = providers;
	store->session.providers_len = len;
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
	um_session_stop(&store->session);
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
	notice(store, "database", PQerrorMessage(store->session.conn));
	disconnect(store, now);
}

static void
unanswered(struct um_store *store)
{
	store->session.connect.asks_leader = true;
	if (store->events.unanswered != NULL)
		store->events.unanswered(store->events.arg);
}

/* One step of connecting. False: it is made, given up, or must wait. */
static bool
connect_step(struct um_store *store, bool ready, int64_t now)
{
	struct um_error err;
	enum um_session_step step = um_session_go_on(&store->session, ready,
		&err);

	store->connection += step == UM_SESSION_MOVED;
	if (step != UM_SESSION_WAITS)
		store->until = now + UM_STORE_CONNECT_MS;
	if (step == UM_SESSION_READY) {
		store->state = IDLE;
		store->until = -1;
		store->down_since = -1;
		store->connected_at = now;
	} else if (step == UM_SESSION_FAILED) {
		notice(store, "database", err.text);
		disconnect(store, now);
	}
	return step == UM_SESSION_MOVED;
}

/* Sends batches while there are operations and room for a batch. */
static void
start_batches(struct um_store *store, int64_t now)
{
	const struct um_batch *batch;

	while ((batch = um_queue_look(&store->queue, now)) != NULL
		|| (batch = um_queue_start(&store->queue)) != NULL) {
		if (!um_batch_send(store->session.conn, store->session.pooled,
			    store->session.login, batch)
			|| !um_session_flush(&store->session)) {
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

/* The Sync has come back: the transaction is committed or rolled back. */
static void
transaction_over(struct um_store *store, int64_t now)
{
	bool is_last = store->queue.under_way <= 1;

	store->state = is_last ? IDLE : BUSY;
	store->until = is_last ? -1 : now + UM_COMMIT_UNANSWERED_MS;
	if (store->answer.sqlstate[0] != '\0')
		batch_failed(store, now);
	else
		batch_committed(store, now);
	um_batch_answer_clear(&store->answer);
}

/* False when no further result can be read now. */
static bool
take_result(struct um_store *store, int64_t now)
{
	enum um_received received = um_batch_receive(&store->answer,
		store->session.conn);

	if (received == UM_RECEIVED_SYNC) {
		transaction_over(store, now);
		return store->state == BUSY;
	}
	return received == UM_RECEIVED_RESULT;
}

static void
read_results(struct um_store *store, bool ready, int64_t now)
{
	unsigned connection = store->connection;

	if (PQconsumeInput(store->session.conn) != 1
		|| !um_session_flush(&store->session)) {
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
		&& PQstatus(store->session.conn) == CONNECTION_BAD)
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
	while (store->state == CONNECTING && connect_step(store, ready, now))
		;
	/* With TLS, data may be buffered that the socket does not show. */
	if (store->state >= IDLE && (ready || PQsslInUse(store->session.conn)))
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
	*want_write = false;
	return store->state != DOWN
		? um_session_watch(&store->session, want_write)
		: -1;
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
	um_session_end(&store->session);
	um_wipe_free_text(store->conninfo);
	free(store->name);
	free(store);
}
