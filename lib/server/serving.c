/* SPDX-License-Identifier: MIT */
#include "server/serving.h"

#include <stddef.h>
#include <stdio.h>

#include "app/respond.h"
#include "app/route.h"
#include "core/clock.h"
#include "server/fastcgi.h"
#include "server/issuer_keys.h"
#include "server/metrics.h"

void
um_serving_notice(const char *text, void *arg)
{
	struct um_serving *sv = arg;

	um_log_notice(sv->log, text, um_clock_wall_ms());
}

static void
send_answer(struct um_serving *sv, struct um_connection *c)
{
	enum um_fastcgi_sent sent;
	struct um_error err;
	int64_t took_us;

	if (c->ex.own != NULL && sv->program->side != NULL)
		sv->program->side->leave(sv->context->side, &c->ex);
	um_respond(sv->context, &c->ex, &sv->out);
	if (!um_fastcgi_has_room(c->fc, sv->out.len)) {
		c->ex.refusal = UM_REFUSAL_UNAVAILABLE;
		um_buf_free(&sv->out);
		um_respond(sv->context, &c->ex, &sv->out);
	}
	if (!um_issuer_keys_ask(sv->context, &c->ex, &err))
		um_serving_notice(err.text, sv);
	sent = um_fastcgi_answer(c->fc, um_buf_str(&sv->out),
		sv->stopped_at >= 0);
	if (sv->out.cap > UM_CONNECTIONS_LARGE_SMALL)
		um_buf_free(&sv->out);
	um_buf_clear(&sv->out);
	took_us = um_monotonic_us() - c->began_us;
	um_metrics_count(sv->context->metrics, &c->ex, took_us);
	um_log_request(sv->log, &c->ex, sv->context->now_ms, took_us);
	um_exchange_free(&c->ex);
	um_buf_clear(&c->path);
	um_connections_answered(&sv->connections, c, sent, um_monotonic_ms());
}

/* Sends the response, or submits the operations that come before it. */
static void
submit(struct um_serving *sv, struct um_connection *c)
{
	struct um_exchange *ex = &c->ex;
	size_t len = ex->ops_len;
	int64_t now;

	if (ex->then == NULL) {
		send_answer(sv, c);
		return;
	}
	now = um_monotonic_ms();
	if (ex->is_parked) {
		um_connections_park(&sv->connections, c);
		sv->program->side->park(sv->context->side, ex, now);
		return;
	}
	/* The steps of a program with a side have copies of what they need. */
	if (sv->program->side != NULL) {
		um_fastcgi_free_body(c->fc);
		ex->request.body = um_str(NULL);
	}
	c->waiting = len;
	sv->submitted = true;
	/* The store may hand back the last one, and answer, in this loop. */
	for (size_t i = 0; i < len; i++) {
		struct um_op *op = &ex->ops[i];

		op->owner = c;
		um_store_submit(sv->store, op, now);
	}
}

/* An incomplete body counts as none: the code in it may be incomplete, too. */
static void
take_body(struct um_exchange *ex, struct um_str body, size_t max)
{
	unsigned long long len;

	ex->request.body_too_large = body.len > max;
	if (um_request_content_length(&ex->request, &len)
			!= UM_CONTENT_LENGTH_KNOWN
		|| len == body.len)
		ex->request.body = body;
}

static void
start_request(struct um_serving *sv, struct um_connection *c)
{
	struct um_exchange *ex = &c->ex;
	struct um_error err;

	c->began_us = um_monotonic_us();
	um_watch_for_request(&sv->watch, c->began_us / 1000);
	if (sv->program->side != NULL)
		sv->program->side->look(sv->context->side, c->began_us / 1000);
	sv->context->now_ms = um_clock_wall_ms();
	um_exchange_begin(ex, &c->path, um_fastcgi_param, c->fc, sv->context);
	take_body(ex, um_fastcgi_body(c->fc), sv->body_max);
	ex->request.body_dropped = um_fastcgi_is_dropped(c->fc);
	if (!um_issuer_keys_look(sv->context, ex, &sv->jwks_version, &err))
		um_serving_notice(err.text, sv);
	um_route_request(sv->context, ex, sv->program);
	submit(sv, c);
}

void
um_serving_measure(struct um_serving *sv, int64_t now)
{
	if (sv->program->measures == UM_OP_NONE || sv->is_measuring
		|| now - sv->measured_at < UM_SERVING_MEASURE_MS)
		return;
	sv->measured_at = now;
	sv->is_measuring = true;
	sv->submitted = true;
	sv->measure = (struct um_op){ .kind = sv->program->measures };
	um_store_submit(sv->store, &sv->measure, now);
}

static void
take_measure(struct um_serving *sv)
{
	struct um_metrics *metrics = sv->context->metrics;
	bool was_filling = um_metrics_queue_is_filling(metrics);
	double usage = sv->measure.row.queue_usage;
	char text[256];

	sv->is_measuring = false;
	if (sv->measure.status != UM_STORE_DONE)
		return;
	um_metrics_set_queue_usage(metrics, usage);
	if (was_filling || !um_metrics_queue_is_filling(metrics))
		return;
	snprintf(text, sizeof(text),
		"database: %.0f %% of the notification queue are in use: a "
		"session that listens does not read, or has a transaction that "
		"does not end (urlmode check names those that may be it)",
		usage * 100);
	um_serving_notice(text, sv);
}

/* The store hands an operation back. */
static void
on_done(struct um_op *op, void *arg)
{
	struct um_serving *sv = arg;
	struct um_connection *c = op->owner;

	if (op == &sv->measure) {
		take_measure(sv);
		return;
	}
	if (c == NULL) {
		sv->program->side->done(sv->context->side, op);
		return;
	}
	um_metrics_event(sv->context->metrics, op);
	if (--c->waiting != 0)
		return;
	sv->context->now_ms = um_clock_wall_ms();
	um_exchange_step(sv->context, &c->ex, c->ex.then);
	submit(sv, c);
}

/* The side asks for these (app/side.h). */
static void
on_resume(struct um_exchange *ex, void *arg)
{
	struct um_serving *sv = arg;
	struct um_connection *c = (struct um_connection *)((char *)ex
		- offsetof(struct um_connection, ex));

	sv->context->now_ms = um_clock_wall_ms();
	um_exchange_step(sv->context, ex, ex->then);
	submit(sv, c);
}

static void
on_submit(struct um_op *op, void *arg)
{
	struct um_serving *sv = arg;

	op->owner = NULL;
	sv->submitted = true;
	um_store_submit(sv->store, op, um_monotonic_ms());
}

/* A parked request whose peer has gone ends without an answer. */
static void
end_parked(struct um_serving *sv, struct um_connection *c, int64_t now)
{
	sv->program->side->leave(sv->context->side, &c->ex);
	/* The status that nginx has for this. */
	c->ex.response.status = 499;
	c->ex.outcome = "gone";
	um_log_request(sv->log, &c->ex, um_clock_wall_ms(),
		um_monotonic_us() - c->began_us);
	um_connections_answered(&sv->connections, c, UM_FASTCGI_LAST, now);
}

void
um_serving_event(struct um_serving *sv, struct um_connection *c, int64_t now)
{
	if (c->sending)
		um_connections_send(&sv->connections, c, now);
	else if (c->ex.is_parked)
		end_parked(sv, c, now);
	else if (um_connections_read(&sv->connections, c, now))
		start_request(sv, c);
}

static void
on_committed(size_t operations, int64_t took_us, void *arg)
{
	struct um_serving *sv = arg;

	um_metrics_batch(sv->context->metrics, operations, took_us);
}

static void
on_unanswered(void *arg)
{
	struct um_serving *sv = arg;

	if (sv->program->side != NULL)
		sv->program->side->unanswered(sv->context->side,
			um_monotonic_ms());
}

struct um_store_events
um_serving_store_events(struct um_serving *sv)
{
	return (struct um_store_events){ on_done, um_serving_notice,
		on_committed, um_monotonic_us, on_unanswered, sv };
}

struct um_side_loop
um_serving_side_loop(struct um_serving *sv)
{
	return (struct um_side_loop){ on_resume, on_submit, um_serving_notice,
		sv };
}
