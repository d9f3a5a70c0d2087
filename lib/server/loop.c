/* SPDX-License-Identifier: MIT */
#include "server/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app/route.h"
#include "app/side.h"
#include "postgres/store.h"
#include "server/beat.h"
#include "server/connections.h"
#include "server/fastcgi.h"
#include "server/metrics.h"
#include "server/serving.h"
#include "server/watch.h"

#define EVENTS_MAX 128
#define LOG_LEN 16384 /* bytes that are logged at once while it is busy */

struct loop {
	struct um_serving sv;
	struct um_listener *listener;
	struct um_memfile *file;
	int epoll;
	int signals;
	int64_t alarm_at; /* ms, when it was last set; -1: off */
	struct watched {
		unsigned connection; /* its socket as epoll has it */
		bool want_write;
	} watched_store, watched_side, watched_beat;
	struct um_beat *beat; /* or NULL: the program has none */
};

static void
reopen_log(struct loop *loop)
{
	struct um_error err = { "" };

	if (!um_log_reopen(loop->sv.log, &err))
		um_serving_notice(err.text, &loop->sv);
}

static void
stop(struct loop *loop)
{
	if (loop->sv.stopped_at >= 0)
		return;
	loop->sv.stopped_at = um_monotonic_ms();
	if (loop->listener->own) {
		/* No other process accepts these connections. */
		um_listener_withdraw(loop->listener);
		um_connections_accept(&loop->sv.connections);
	}
	um_connections_stop(&loop->sv.connections);
	um_listener_close(loop->listener);
	if (loop->sv.program->side != NULL)
		loop->sv.program->side->stop(loop->sv.context->side,
			loop->sv.stopped_at);
}

static void
take_signal(struct loop *loop)
{
	struct signalfd_siginfo info;

	if (read(loop->signals, &info, sizeof(info)) != sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGUSR1:
		reopen_log(loop);
		break;
	case SIGHUP:
	case SIGUSR2:
		reopen_log(loop);
		um_watch_reload_keys(&loop->sv.watch);
		break;
	default:
		stop(loop);
	}
}

/* A socket that changes: `what` is the pointer of its events. */
static void
watch_socket(struct loop *loop, struct watched *watched, int fd,
	struct watched now, void *what)
{
	struct epoll_event ev = { .data.ptr = what,
		.events = EPOLLIN | (now.want_write ? (uint32_t)EPOLLOUT : 0) };

	if (fd < 0
		|| (now.connection == watched->connection
			&& now.want_write == watched->want_write))
		return;
	if (epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd, &ev) != 0)
		epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &ev);
	*watched = now;
}

static void
watch_store(struct loop *loop)
{
	struct watched now;
	int fd = um_store_watch(loop->sv.store, &now.want_write,
		&now.connection);

	watch_socket(loop, &loop->watched_store, fd, now, &loop->sv.store);
}

static void
run_side(struct loop *loop, bool ready, int64_t now)
{
	const struct um_side *side = loop->sv.program->side;
	struct watched to;
	int64_t deadline;
	int fd;

	if (side == NULL)
		return;
	deadline = side->deadline(loop->sv.context->side);
	if (!ready && (deadline < 0 || deadline > now))
		return;
	side->run(loop->sv.context->side, ready, now);
	fd = side->watch(loop->sv.context->side, &to.want_write,
		&to.connection);
	watch_socket(loop, &loop->watched_side, fd, to, &loop->watched_side);
}

static void
run_beat(struct loop *loop, bool ready, int64_t now)
{
	struct watched to;
	int fd;

	if (loop->beat == NULL)
		return;
	um_beat_run(loop->beat, ready, now);
	fd = um_beat_watch(loop->beat, &to.want_write, &to.connection);
	watch_socket(loop, &loop->watched_beat, fd, to, &loop->watched_beat);
}

/*
 * Once a second, however busy the process is: renews the alarm that ends it if
 * a turn hangs, and writes the log.
 */
static void
renew_alarm(struct loop *loop, int64_t now)
{
	if (loop->alarm_at >= 0 && now - loop->alarm_at < 1000)
		return;
	alarm(UM_LOOP_TURN_S + 1);
	loop->alarm_at = now;
	um_log_flush(loop->sv.log);
}

/* Requests and answers in flight have longer than connections without one. */
static int64_t
stops_at(const struct loop *loop)
{
	const struct um_side *side = loop->sv.program->side;
	bool idle = loop->sv.connections.busy_len == 0
		&& loop->sv.connections.sending_len == 0
		&& (side == NULL || !side->is_busy(loop->sv.context->side));

	return loop->sv.stopped_at
		+ (idle ? UM_LOOP_LINGER_MS : UM_LOOP_STOP_MS);
}

/* Waits for events; if there are none yet, writes the log first. */
static int
wait_for_events(struct loop *loop, struct epoll_event *events, int64_t now)
{
	int64_t deadline = um_deadline_earlier(um_store_deadline(
						       loop->sv.store),
		um_connections_close_slow(&loop->sv.connections, now));
	int n = epoll_wait(loop->epoll, events, EVENTS_MAX, 0);

	if (loop->sv.program->side != NULL)
		deadline = um_deadline_earlier(deadline,
			loop->sv.program->side->deadline(
				loop->sv.context->side));
	if (loop->beat != NULL)
		deadline = um_deadline_earlier(deadline,
			um_beat_deadline(loop->beat));
	if (n != 0)
		return n;
	renew_alarm(loop, now);
	now = um_monotonic_ms();
	um_log_flush(loop->sv.log);
	if (loop->sv.stopped_at >= 0)
		deadline = um_deadline_earlier(deadline, stops_at(loop));
	alarm(0);
	loop->alarm_at = -1;
	deadline = um_deadline_earlier(deadline, now + UM_METRICS_HEARTBEAT_MS);
	return epoll_wait(loop->epoll, events, EVENTS_MAX,
		um_deadline_timeout(deadline, now));
}

/* At the end of each turn. */
static void
heartbeat(struct loop *loop, int64_t now)
{
	um_watch_turn(&loop->sv.watch, now);
	if (loop->sv.program->side != NULL)
		loop->sv.program->side->look(loop->sv.context->side, now);
	um_metrics_heartbeat(loop->sv.context->metrics, now,
		loop->sv.connections.busy_len, um_store_queued(loop->sv.store),
		um_store_connected_at(loop->sv.store));
}

/* One turn: read requests, let the store work, free closed connections. */
static void
turn(struct loop *loop)
{
	struct epoll_event events[EVENTS_MAX];
	bool store_ready = false, side_ready = false, beat_ready = false;
	int n = wait_for_events(loop, events, um_monotonic_ms());
	int64_t now = um_monotonic_ms();
	int64_t deadline;

	renew_alarm(loop, now);
	loop->sv.context->monotonic_ms = now;
	if (n == 0)
		um_connections_resume(&loop->sv.connections);
	for (int i = 0; i < n; i++) {
		void *what = events[i].data.ptr;

		if (what == &loop->sv.connections)
			um_connections_accept(&loop->sv.connections);
		else if (what == &loop->signals)
			take_signal(loop);
		else if (what == &loop->sv.store)
			store_ready = true;
		else if (what == &loop->watched_side)
			side_ready = true;
		else if (what == &loop->watched_beat)
			beat_ready = true;
		else
			um_serving_event(&loop->sv, what, now);
	}
	now = um_monotonic_ms();
	if (loop->sv.stopped_at >= 0 && now >= stops_at(loop))
		um_store_expire(loop->sv.store, INT64_MAX);
	um_serving_measure(&loop->sv, now);
	run_side(loop, side_ready, now);
	run_beat(loop, beat_ready, now);
	deadline = um_store_deadline(loop->sv.store);
	if (store_ready || loop->sv.submitted
		|| (deadline >= 0 && deadline <= now)) {
		loop->sv.submitted = false;
		um_store_run(loop->sv.store, store_ready, now);
		watch_store(loop);
	}
	if (loop->sv.log->lines.len >= LOG_LEN)
		um_log_flush(loop->sv.log);
	um_connections_tidy(&loop->sv.connections);
	heartbeat(loop, now);
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
open_side(struct loop *loop)
{
	const struct um_side_loop asked = um_serving_side_loop(&loop->sv);
	struct um_error err;

	if (loop->sv.program->side == NULL)
		return true;
	loop->sv.context->side = loop->sv.program->side->open(loop->sv.context,
		&asked, &err);
	if (loop->sv.context->side == NULL)
		um_serving_notice(err.text, &loop->sv);
	return loop->sv.context->side != NULL;
}

static bool
set_up(struct loop *loop)
{
	const struct um_store_events events = um_serving_store_events(
		&loop->sv);
	struct epoll_event ev = { .events = EPOLLIN,
		.data.ptr = &loop->signals };
	struct um_error err = { "" };
	sigset_t set;

	um_loop_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	loop->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->signals < 0 || loop->epoll < 0
		|| epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->signals, &ev)
			!= 0) {
		um_serving_notice(strerror(errno), &loop->sv);
		return false;
	}
	loop->sv.connections.takes_large = loop->sv.body_max > UM_FCGI_BODY_MAX;
	loop->file = um_memfile_new(loop->sv.connections.takes_large
			? UM_FASTCGI_LARGE_FILE_LEN
			: UM_FASTCGI_FILE_LEN,
		&err);
	if (loop->file == NULL || !um_fastcgi_init(&err)) {
		um_serving_notice(err.text, &loop->sv);
		return false;
	}
	loop->sv.store = um_store_new(loop->sv.context->config->database_url,
		loop->sv.program->name, loop->sv.program->login,
		loop->sv.program->calls, &events);
	if (loop->sv.store == NULL)
		return false;
	um_store_assign(loop->sv.store, loop->sv.context->config->providers,
		loop->sv.context->config->providers_len);
	if (loop->sv.program->beats) {
		loop->beat = um_beat_new(loop->sv.context->config->database_url,
			loop->sv.context->metrics, um_monotonic_ms());
		if (loop->beat == NULL)
			return false;
	}
	return open_side(loop);
}

/* Until everything is answered, and connections that are idle had their time. */
static bool
goes_on(const struct loop *loop)
{
	const struct um_side *side = loop->sv.program->side;
	bool lingers = loop->sv.connections.len != 0
		|| (side != NULL && side->is_busy(loop->sv.context->side));

	return loop->sv.stopped_at < 0 || loop->sv.connections.busy_len != 0
		|| (lingers && um_monotonic_ms() < stops_at(loop));
}

int
um_loop_run(const struct um_program *program, struct um_context *context,
	struct um_log *log, struct um_listener *listener)
{
	struct loop loop = {
		.sv = { .program = program,
			.body_max = um_route_body_max(program),
			.context = context,
			.log = log,
			.stopped_at = -1,
			.watch = { .program = program,
				.context = context,
				.log = log } },
		.listener = listener,
		.epoll = -1,
		.signals = -1,
		.alarm_at = -1,
	};
	int status = 1;

	um_watch_begin(&loop.sv.watch);
	if (set_up(&loop)) {
		status = 0;
		um_metrics_join(context->metrics);
		heartbeat(&loop, um_monotonic_ms());
		if (context->metrics->note.text[0] != '\0')
			um_serving_notice(context->metrics->note.text,
				&loop.sv);
		um_connections_begin(&loop.sv.connections, loop.epoll,
			listener->fd, loop.file);
		um_store_run(loop.sv.store, false, um_monotonic_ms());
		watch_store(&loop);
		while (goes_on(&loop))
			turn(&loop);
	}
	um_log_flush(log);
	if (context->side != NULL)
		program->side->close(context->side);
	context->side = NULL;
	um_connections_end(&loop.sv.connections);
	um_memfile_free(loop.file);
	um_store_free(loop.sv.store);
	um_beat_free(loop.beat);
	um_buf_free(&loop.sv.out);
	if (loop.epoll >= 0)
		close(loop.epoll);
	if (loop.signals >= 0)
		close(loop.signals);
	return status;
}
