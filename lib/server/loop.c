/* SPDX-License-Identifier: MIT */
#include "server/loop.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app/respond.h"
#include "app/route.h"
#include "app/side.h"
#include "postgres/store.h"
#include "server/connections.h"
#include "server/fastcgi.h"
#include "server/issuer_keys.h"
#include "server/metrics.h"
#include "server/watch.h"

#define EVENTS_MAX 128
#define LOG_LEN 16384 /* bytes that are logged at once while it is busy */

struct server {
	const struct um_program *program;
	size_t body_max; /* of its routes */
	struct um_context *context;
	struct um_log *log;
	struct um_store *store;
	struct um_listener *listener;
	struct um_connections connections;
	struct um_memfile *file;
	int epoll;
	int signals;
	struct um_buf out; /* the response that is being sent */
	struct um_op measure;
	int64_t measured_at; /* ms, when it was submitted last */
	bool is_measuring;
	struct um_watch watch;
	struct um_file_version jwks_version; /* of the provider's keys */
	int64_t stopped_at; /* ms; -1: no signal has come yet */
	int64_t alarm_at;   /* ms, when it was last set; -1: off */
	struct watched {
		unsigned connection; /* its socket as epoll has it */
		bool want_write;
	} watched_store, watched_side;
	bool submitted;
};

static void
on_notice(const char *text, void *arg)
{
	struct server *sv = arg;

	um_log_notice(sv->log, text, um_clock_wall_ms());
}

static void
send_answer(struct server *sv, struct um_connection *c)
{
	struct um_error err;
	int64_t took_us;
	bool keep;

	if (c->ex.own != NULL && sv->program->side != NULL)
		sv->program->side->leave(sv->context->side, &c->ex);
	um_respond(sv->context, &c->ex, &sv->out);
	if (!um_issuer_keys_ask(sv->context, &c->ex, &err))
		on_notice(err.text, sv);
	keep = um_fastcgi_answer(c->fc, um_buf_str(&sv->out),
		sv->stopped_at >= 0);
	um_buf_clear(&sv->out);
	took_us = um_monotonic_us() - c->began_us;
	um_metrics_count(sv->context->metrics, &c->ex, took_us);
	um_log_request(sv->log, &c->ex, sv->context->now_ms, took_us);
	um_exchange_free(&c->ex);
	um_buf_clear(&c->path);
	um_connections_answered(&sv->connections, c, keep);
}

/* Sends the response, or submits the operations that come before it. */
static void
submit(struct server *sv, struct um_connection *c)
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
start_request(struct server *sv, struct um_connection *c)
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
	if (!um_issuer_keys_look(sv->context, ex, &sv->jwks_version, &err))
		on_notice(err.text, sv);
	um_route_request(sv->context, ex, sv->program);
	submit(sv, c);
}

/* Asks what the program asks the database beside the requests. */
static void
measure(struct server *sv, int64_t now)
{
	if (sv->program->measures == UM_OP_NONE || sv->is_measuring
		|| now - sv->measured_at < UM_LOOP_MEASURE_MS)
		return;
	sv->measured_at = now;
	sv->is_measuring = true;
	sv->submitted = true;
	sv->measure = (struct um_op){ .kind = sv->program->measures };
	um_store_submit(sv->store, &sv->measure, now);
}

static void
take_measure(struct server *sv)
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
	on_notice(text, sv);
}

/* The store hands an operation back. */
static void
on_done(struct um_op *op, void *arg)
{
	struct server *sv = arg;
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
	struct server *sv = arg;
	struct um_connection *c = (struct um_connection *)((char *)ex
		- offsetof(struct um_connection, ex));

	sv->context->now_ms = um_clock_wall_ms();
	um_exchange_step(sv->context, ex, ex->then);
	submit(sv, c);
}

static void
on_submit(struct um_op *op, void *arg)
{
	struct server *sv = arg;

	op->owner = NULL;
	sv->submitted = true;
	um_store_submit(sv->store, op, um_monotonic_ms());
}

/* A parked request whose peer has gone ends without an answer. */
static void
end_if_gone(struct server *sv, struct um_connection *c)
{
	if (!um_connections_is_gone(c))
		return;
	sv->program->side->leave(sv->context->side, &c->ex);
	um_connections_answered(&sv->connections, c, false);
}

static void
on_committed(size_t operations, int64_t took_us, void *arg)
{
	struct server *sv = arg;

	um_metrics_batch(sv->context->metrics, operations, took_us);
}

static void
reopen_log(struct server *sv)
{
	struct um_error err = { "" };

	if (!um_log_reopen(sv->log, &err))
		on_notice(err.text, sv);
}

static void
stop(struct server *sv)
{
	if (sv->stopped_at >= 0)
		return;
	sv->stopped_at = um_monotonic_ms();
	if (sv->listener->own) {
		/* No other process accepts these connections. */
		um_listener_withdraw(sv->listener);
		um_connections_accept(&sv->connections);
	}
	um_connections_stop(&sv->connections);
	um_listener_close(sv->listener);
	if (sv->program->side != NULL)
		sv->program->side->stop(sv->context->side, sv->stopped_at);
}

static void
take_signal(struct server *sv)
{
	struct signalfd_siginfo info;

	if (read(sv->signals, &info, sizeof(info)) != sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGUSR1:
		reopen_log(sv);
		break;
	case SIGHUP:
	case SIGUSR2:
		reopen_log(sv);
		um_watch_reload_keys(&sv->watch);
		break;
	default:
		stop(sv);
	}
}

/* A socket that changes: `what` is the pointer of its events. */
static void
watch_socket(struct server *sv, struct watched *watched, int fd,
	struct watched now, void *what)
{
	struct epoll_event ev = { .data.ptr = what,
		.events = EPOLLIN | (now.want_write ? (uint32_t)EPOLLOUT : 0) };

	if (fd < 0
		|| (now.connection == watched->connection
			&& now.want_write == watched->want_write))
		return;
	if (epoll_ctl(sv->epoll, EPOLL_CTL_MOD, fd, &ev) != 0)
		epoll_ctl(sv->epoll, EPOLL_CTL_ADD, fd, &ev);
	*watched = now;
}

static void
watch_store(struct server *sv)
{
	struct watched now;
	int fd = um_store_watch(sv->store, &now.want_write, &now.connection);

	watch_socket(sv, &sv->watched_store, fd, now, &sv->store);
}

static void
run_side(struct server *sv, bool ready, int64_t now)
{
	const struct um_side *side = sv->program->side;
	struct watched to;
	int64_t deadline;
	int fd;

	if (side == NULL)
		return;
	deadline = side->deadline(sv->context->side);
	if (!ready && (deadline < 0 || deadline > now))
		return;
	side->run(sv->context->side, ready, now);
	fd = side->watch(sv->context->side, &to.want_write, &to.connection);
	watch_socket(sv, &sv->watched_side, fd, to, &sv->watched_side);
}

/*
 * Once a second, however busy the process is: renews the alarm that ends it if
 * a turn hangs, and writes the log.
 */
static void
renew_alarm(struct server *sv, int64_t now)
{
	if (sv->alarm_at >= 0 && now - sv->alarm_at < 1000)
		return;
	alarm(UM_LOOP_TURN_S + 1);
	sv->alarm_at = now;
	um_log_flush(sv->log);
}

/* Requests in flight have longer than connections without one. */
static int64_t
stops_at(const struct server *sv)
{
	return sv->stopped_at
		+ (sv->connections.busy_len != 0 ? UM_LOOP_STOP_MS
						 : UM_LOOP_LINGER_MS);
}

/* Waits for events; if there are none yet, writes the log first. */
static int
wait_for_events(struct server *sv, struct epoll_event *events, int64_t now)
{
	int64_t deadline = um_deadline_earlier(um_store_deadline(sv->store),
		um_connections_close_slow(&sv->connections, now));
	int n = epoll_wait(sv->epoll, events, EVENTS_MAX, 0);

	if (sv->program->side != NULL)
		deadline = um_deadline_earlier(deadline,
			sv->program->side->deadline(sv->context->side));
	if (n != 0)
		return n;
	renew_alarm(sv, now);
	now = um_monotonic_ms();
	um_log_flush(sv->log);
	if (sv->stopped_at >= 0)
		deadline = um_deadline_earlier(deadline, stops_at(sv));
	alarm(0);
	sv->alarm_at = -1;
	deadline = um_deadline_earlier(deadline, now + UM_METRICS_HEARTBEAT_MS);
	return epoll_wait(sv->epoll, events, EVENTS_MAX,
		um_deadline_timeout(deadline, now));
}

/* At the end of each turn. */
static void
heartbeat(struct server *sv, int64_t now)
{
	um_watch_turn(&sv->watch, now);
	if (sv->program->side != NULL)
		sv->program->side->look(sv->context->side, now);
	um_metrics_heartbeat(sv->context->metrics, now,
		sv->connections.busy_len, um_store_queued(sv->store),
		um_store_connected_at(sv->store));
}

/* One turn: read requests, let the store work, free closed connections. */
static void
turn(struct server *sv)
{
	struct epoll_event events[EVENTS_MAX];
	bool store_ready = false, side_ready = false;
	int n = wait_for_events(sv, events, um_monotonic_ms());
	int64_t now = um_monotonic_ms();
	int64_t deadline;

	renew_alarm(sv, now);
	sv->context->monotonic_ms = now;
	if (n == 0)
		um_connections_resume(&sv->connections);
	for (int i = 0; i < n; i++) {
		void *what = events[i].data.ptr;

		if (what == &sv->connections)
			um_connections_accept(&sv->connections);
		else if (what == &sv->signals)
			take_signal(sv);
		else if (what == &sv->store)
			store_ready = true;
		else if (what == &sv->watched_side)
			side_ready = true;
		else if (((struct um_connection *)what)->ex.is_parked)
			end_if_gone(sv, what);
		else if (um_connections_read(&sv->connections, what, now))
			start_request(sv, what);
	}
	now = um_monotonic_ms();
	if (sv->stopped_at >= 0 && now >= stops_at(sv))
		um_store_expire(sv->store, INT64_MAX);
	measure(sv, now);
	run_side(sv, side_ready, now);
	deadline = um_store_deadline(sv->store);
	if (store_ready || sv->submitted
		|| (deadline >= 0 && deadline <= now)) {
		sv->submitted = false;
		um_store_run(sv->store, store_ready, now);
		watch_store(sv);
	}
	if (sv->log->lines.len >= LOG_LEN)
		um_log_flush(sv->log);
	um_connections_tidy(&sv->connections);
	heartbeat(sv, now);
}

void
um_loop_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGQUIT); /* of multiwatch */
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1);
	sigaddset(set, SIGUSR2);
}

static bool
open_side(struct server *sv)
{
	const struct um_side_loop loop = { on_resume, on_submit, on_notice,
		sv };
	struct um_error err;

	if (sv->program->side == NULL)
		return true;
	sv->context->side = sv->program->side->open(sv->context, &loop, &err);
	if (sv->context->side == NULL)
		on_notice(err.text, sv);
	return sv->context->side != NULL;
}

static bool
set_up(struct server *sv)
{
	const struct um_store_events events = { on_done, on_notice,
		on_committed, um_monotonic_us, sv };
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &sv->signals };
	struct um_error err = { "" };
	sigset_t set;

	um_loop_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sv->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sv->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (sv->signals < 0 || sv->epoll < 0
		|| epoll_ctl(sv->epoll, EPOLL_CTL_ADD, sv->signals, &ev) != 0) {
		on_notice(strerror(errno), sv);
		return false;
	}
	sv->connections.takes_large = sv->body_max > UM_FCGI_BODY_MAX;
	sv->file = um_memfile_new(sv->connections.takes_large
			? UM_FASTCGI_LARGE_FILE_LEN
			: UM_FASTCGI_FILE_LEN,
		&err);
	if (sv->file == NULL || !um_fastcgi_init(&err)) {
		on_notice(err.text, sv);
		return false;
	}
	sv->store = um_store_new(sv->context->config->database_url,
		sv->program->name, sv->program->calls, &events);
	return sv->store != NULL && open_side(sv);
}

int
um_loop_run(const struct um_program *program, struct um_context *context,
	struct um_log *log, struct um_listener *listener)
{
	struct server sv = {
		.program = program,
		.body_max = um_route_body_max(program),
		.context = context,
		.log = log,
		.listener = listener,
		.epoll = -1,
		.signals = -1,
		.stopped_at = -1,
		.alarm_at = -1,
		.watch = { .program = program, .context = context, .log = log }
	};
	int status = 1;

	um_watch_begin(&sv.watch);
	if (set_up(&sv)) {
		status = 0;
		um_metrics_join(context->metrics);
		heartbeat(&sv, um_monotonic_ms());
		if (context->metrics->note.text[0] != '\0')
			on_notice(context->metrics->note.text, &sv);
		um_connections_begin(&sv.connections, sv.epoll, listener->fd,
			sv.file);
		um_store_run(sv.store, false, um_monotonic_ms());
		watch_store(&sv);
		while (sv.stopped_at < 0 || sv.connections.busy_len != 0
			|| (sv.connections.len != 0
				&& um_monotonic_ms() < stops_at(&sv)))
			turn(&sv);
	}
	um_log_flush(log);
	if (context->side != NULL)
		program->side->close(context->side);
	context->side = NULL;
	um_connections_end(&sv.connections);
	um_memfile_free(sv.file);
	um_store_free(sv.store);
	um_buf_free(&sv.out);
	if (sv.epoll >= 0)
		close(sv.epoll);
	if (sv.signals >= 0)
		close(sv.signals);
	return status;
}
