/* SPDX-License-Identifier: MIT */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fastcgi.h"
#include "store.h"

#define EVENTS_MAX 128
#define LOG_LEN 16384 /* that may gather while there is always more to do */

struct connection {
	struct um_fastcgi *fc;
	struct um_exchange ex;
	struct um_buf path;
	int64_t began_us;      /* this request */
	int64_t partial_since; /* ms; -1: no part of a request is here */
	size_t waiting;        /* operations that the database has */
	bool unwatched;        /* taken out of epoll while busy */
	bool dead;             /* to be freed at the end of the turn */
	struct connection *prev;
	struct connection *next;
};

struct server {
	const struct um_program *program;
	struct um_context *context;
	struct um_log *log;
	struct um_store *store;
	int epoll;
	int listener;
	int signals;
	bool accepting;
	int64_t stop_at;  /* ms; -1: not yet asked to stop */
	int64_t alarm_at; /* ms, when it was set; -1: it is not */
	size_t connections_len;
	size_t busy_len;
	size_t partial_len;
	struct connection *connections; /* the last to ask first */
	struct connection *last;
	struct connection *dead;
	unsigned store_connection; /* what epoll knows of the store's socket */
	bool store_want_write;
	bool submitted;
};

static void
listen_again(struct server *sv, bool on)
{
	/* Several processes share the socket: wake one of them. */
	struct epoll_event ev = { .events = EPOLLIN | EPOLLEXCLUSIVE,
		.data.ptr = &sv->listener };

	if (sv->accepting == on)
		return;
	epoll_ctl(sv->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, sv->listener,
		on ? &ev : NULL);
	sv->accepting = on;
}

static void
set_partial(struct server *sv, struct connection *c, int64_t since)
{
	if (c->partial_since >= 0)
		sv->partial_len--;
	if (since >= 0)
		sv->partial_len++;
	c->partial_since = since;
}

static void
link_first(struct server *sv, struct connection *c)
{
	c->prev = NULL;
	c->next = sv->connections;
	if (c->next != NULL)
		c->next->prev = c;
	else
		sv->last = c;
	sv->connections = c;
}

static void
unlink_connection(struct server *sv, const struct connection *c)
{
	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		sv->connections = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	else
		sv->last = c->prev;
}

/* The memory stays until the end of the turn: an event may still name it. */
static void
close_connection(struct server *sv, struct connection *c)
{
	if (c->dead)
		return;
	c->dead = true;
	set_partial(sv, c, -1);
	um_fastcgi_free(c->fc);
	um_exchange_free(&c->ex);
	um_buf_free(&c->path);
	unlink_connection(sv, c);
	c->next = sv->dead;
	sv->dead = c;
	sv->connections_len--;
	if (sv->stop_at < 0)
		listen_again(sv, true);
}

static void
free_dead(struct server *sv)
{
	while (sv->dead != NULL) {
		struct connection *c = sv->dead;

		sv->dead = c->next;
		free(c);
	}
}

static void
open_connection(struct server *sv, int fd)
{
	struct connection *c = calloc(1, sizeof(*c));
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

	if (c == NULL) {
		close(fd);
		return;
	}
	c->partial_since = -1;
	c->fc = um_fastcgi_new(fd);
	if (c->fc == NULL
		|| epoll_ctl(sv->epoll, EPOLL_CTL_ADD, fd, &ev) != 0) {
		um_fastcgi_free(c->fc);
		free(c);
		return;
	}
	link_first(sv, c);
	sv->connections_len++;
}

/* Makes room for another: the connection that has been silent for longest. */
static bool
close_silent(struct server *sv)
{
	for (struct connection *c = sv->last; c != NULL; c = c->prev) {
		char byte;

		if (c->waiting == 0 && c->partial_since < 0
			&& recv(um_fastcgi_fd(c->fc), &byte, 1,
				   MSG_PEEK | MSG_DONTWAIT)
				< 0) {
			close_connection(sv, c);
			return true;
		}
	}
	return false;
}

static void
accept_connections(struct server *sv)
{
	do {
		int fd;

		if (sv->connections_len >= UM_CONNECTIONS_MAX
			&& !close_silent(sv)) {
			listen_again(sv, false);
			return;
		}
		fd = accept4(sv->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0) {
			if ((errno == EMFILE || errno == ENFILE)
				&& !close_silent(sv)
				&& sv->connections_len != 0)
				listen_again(sv, false);
			return;
		}
		open_connection(sv, fd);
	} while (sv->connections_len < UM_CONNECTIONS_MAX);
}

static void
send_answer(struct server *sv, struct connection *c)
{
	struct um_buf out = { 0 };
	int64_t took_us;
	bool keep;

	um_exchange_write(&c->ex, &out);
	keep = um_fastcgi_answer(c->fc, um_buf_str(&out), sv->stop_at >= 0);
	um_buf_free(&out);
	took_us = um_now_us() - c->began_us;
	um_metrics_count(sv->context->metrics, c->ex.response.status, took_us);
	um_log_request(sv->log, &c->ex, um_wall_ms(), took_us);
	um_exchange_free(&c->ex);
	c->path.len = 0;
	if (!keep)
		close_connection(sv, c);
	else if (sv->stop_at < 0)
		listen_again(sv, true); /* this one could make room */
}

/* Sends the answer, or has the database do first what was asked for. */
static void
submit(struct server *sv, struct connection *c)
{
	struct um_op *ops = c->ex.ops != NULL ? c->ex.ops : &c->ex.op;
	size_t asked = c->ex.asked;
	int64_t now = um_now_ms();

	if (asked == 0) {
		send_answer(sv, c);
		return;
	}
	c->ex.asked = 0;
	c->waiting = asked;
	sv->busy_len++;
	sv->submitted = true;
	/* The last of them may be handed back, and answered, from in here. */
	for (size_t i = 0; i < asked; i++) {
		ops[i].owner = c;
		um_store_submit(sv->store, &ops[i], now);
	}
}

static void
start_request(struct server *sv, struct connection *c)
{
	struct um_exchange *ex = &c->ex;

	unlink_connection(sv, c);
	link_first(sv, c);
	c->began_us = um_now_us();
	sv->context->now_ms = um_wall_ms();
	um_exchange_begin(ex, &c->path, um_fastcgi_param, c->fc, sv->context);
	ex->request.body = um_fastcgi_body(c->fc);
	ex->request.body_too_large = ex->request.body.len
		> sv->program->body_max;
	sv->program->plan(sv->context, ex);
	submit(sv, c);
}

/* The store hands an operation back. */
static void
on_done(struct um_op *op, void *arg)
{
	struct server *sv = arg;
	struct connection *c = op->owner;
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

	if (--c->waiting != 0)
		return;
	sv->busy_len--;
	if (c->unwatched) {
		c->unwatched = false;
		epoll_ctl(sv->epoll, EPOLL_CTL_ADD, um_fastcgi_fd(c->fc), &ev);
	}
	sv->context->now_ms = um_wall_ms();
	sv->program->answer(sv->context, &c->ex);
	submit(sv, c);
}

static void
on_committed(size_t operations, void *arg)
{
	struct server *sv = arg;

	um_metrics_batch(sv->context->metrics, operations);
}

static void
on_trouble(const char *text, void *arg)
{
	struct server *sv = arg;

	um_log_trouble(sv->log, text, um_wall_ms());
}

static void
connection_ready(struct server *sv, struct connection *c)
{
	if (c->dead)
		return;
	if (c->waiting != 0) {
		/* It is gone, or speaks out of turn: look when it is answered. */
		epoll_ctl(sv->epoll, EPOLL_CTL_DEL, um_fastcgi_fd(c->fc), NULL);
		c->unwatched = true;
		return;
	}
	switch (um_fastcgi_read(c->fc)) {
	case UM_FASTCGI_REQUEST:
		set_partial(sv, c, -1);
		start_request(sv, c);
		break;
	case UM_FASTCGI_MORE:
		if (c->partial_since < 0 && um_fastcgi_is_partial(c->fc))
			set_partial(sv, c, um_now_ms());
		break;
	case UM_FASTCGI_CLOSED:
		close_connection(sv, c);
		break;
	}
}

/* Closes what sends a request too slowly; answers when to look again. */
static int64_t
close_slow(struct server *sv, int64_t now)
{
	int64_t next = -1;

	if (sv->partial_len == 0)
		return -1;
	for (struct connection *c = sv->connections, *after; c != NULL;
		c = after) {
		int64_t limit = c->partial_since + UM_SERVE_PARTIAL_MS;

		after = c->next;
		if (c->partial_since < 0)
			continue;
		if (limit <= now)
			close_connection(sv, c);
		else if (next < 0 || limit < next)
			next = limit;
	}
	return next;
}

static void
take_signal(struct server *sv)
{
	struct signalfd_siginfo info;
	struct um_keys *keys;
	struct um_error err = { "" };

	if (read(sv->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo != SIGHUP && info.ssi_signo != SIGUSR2) {
		listen_again(sv, false);
		if (sv->stop_at < 0)
			sv->stop_at = um_now_ms() + UM_SERVE_LINGER_MS;
	} else if (um_keys_load(&keys, sv->context->config->keys_file, &err)) {
		um_keys_free(sv->context->keys);
		sv->context->keys = keys;
		on_trouble("the keys were read again", sv);
	} else {
		on_trouble(err.text, sv);
	}
}

static void
watch_store(struct server *sv)
{
	bool want_write;
	unsigned connection;
	int fd = um_store_watch(sv->store, &want_write, &connection);
	struct epoll_event ev = { .data.ptr = &sv->store,
		.events = EPOLLIN | (want_write ? (uint32_t)EPOLLOUT : 0) };

	if (fd < 0
		|| (connection == sv->store_connection
			&& want_write == sv->store_want_write))
		return;
	if (epoll_ctl(sv->epoll, EPOLL_CTL_MOD, fd, &ev) != 0)
		epoll_ctl(sv->epoll, EPOLL_CTL_ADD, fd, &ev);
	sv->store_connection = connection;
	sv->store_want_write = want_write;
}

static int
timeout_until(int64_t deadline, int64_t now)
{
	if (deadline < 0)
		return -1;
	return deadline <= now ? 0 : (int)(deadline - now);
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/*
 * Once a second, however busy it is: the alarm that ends a process which hangs
 * in a turn, and what there is to be logged.
 */
static void
keep_watch(struct server *sv, int64_t now)
{
	if (sv->alarm_at >= 0 && now - sv->alarm_at < 1000)
		return;
	alarm(UM_SERVE_TURN_S + 1);
	sv->alarm_at = now;
	um_log_flush(sv->log);
}

/* What is ready; when nothing is, the log is written before it waits. */
static int
wait_for_events(struct server *sv, struct epoll_event *events, int64_t now)
{
	int64_t deadline = earlier(um_store_deadline(sv->store),
		close_slow(sv, now));
	int n = epoll_wait(sv->epoll, events, EVENTS_MAX, 0);

	if (n != 0)
		return n;
	keep_watch(sv, now);
	um_log_flush(sv->log);
	now = um_now_ms();
	if (sv->stop_at >= 0 && sv->busy_len == 0)
		deadline = earlier(deadline, sv->stop_at);
	alarm(0);
	sv->alarm_at = -1;
	return epoll_wait(sv->epoll, events, EVENTS_MAX,
		timeout_until(deadline, now));
}

/* One turn: read what has come, let the store work, tidy up. */
static void
turn(struct server *sv)
{
	struct epoll_event events[EVENTS_MAX];
	bool store_ready = false;
	int n = wait_for_events(sv, events, um_now_ms());
	int64_t now = um_now_ms();
	int64_t deadline;

	keep_watch(sv, now);
	for (int i = 0; i < n; i++) {
		void *what = events[i].data.ptr;

		if (what == &sv->listener)
			accept_connections(sv);
		else if (what == &sv->signals)
			take_signal(sv);
		else if (what == &sv->store)
			store_ready = true;
		else
			connection_ready(sv, what);
	}
	now = um_now_ms();
	deadline = um_store_deadline(sv->store);
	if (store_ready || sv->submitted
		|| (deadline >= 0 && deadline <= now)) {
		sv->submitted = false;
		um_store_run(sv->store, store_ready, now);
		watch_store(sv);
	}
	if (sv->log->lines.len >= LOG_LEN)
		um_log_flush(sv->log);
	free_dead(sv);
}

static bool
set_up(struct server *sv)
{
	const struct um_store_events events = { on_done, on_trouble,
		on_committed, sv };
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &sv->signals };
	struct um_error err = { "" };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sv->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sv->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (sv->signals < 0 || sv->epoll < 0
		|| epoll_ctl(sv->epoll, EPOLL_CTL_ADD, sv->signals, &ev) != 0) {
		on_trouble(strerror(errno), sv);
		return false;
	}
	if (!um_fastcgi_init(&err)) {
		on_trouble(err.text, sv);
		return false;
	}
	sv->store = um_store_new(sv->context->config->database_url,
		sv->program->name, &events);
	return sv->store != NULL;
}

int
um_serve(const struct um_program *program, struct um_context *context,
	struct um_log *log, int listener)
{
	struct server sv = { .program = program,
		.context = context,
		.log = log,
		.listener = listener,
		.epoll = -1,
		.signals = -1,
		.stop_at = -1,
		.alarm_at = -1 };
	int status = 1;

	if (set_up(&sv)) {
		status = 0;
		/* Shared with other processes: it must never block one of them. */
		fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK);
		listen_again(&sv, true);
		um_store_run(sv.store, false, um_now_ms());
		watch_store(&sv);
		while (sv.stop_at < 0 || sv.busy_len != 0
			|| um_now_ms() < sv.stop_at)
			turn(&sv);
	}
	um_log_flush(log);
	while (sv.connections != NULL)
		close_connection(&sv, sv.connections);
	free_dead(&sv);
	um_store_free(sv.store);
	if (sv.epoll >= 0)
		close(sv.epoll);
	if (sv.signals >= 0)
		close(sv.signals);
	return status;
}
