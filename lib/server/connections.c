/* SPDX-License-Identifier: MIT */
#include "server/connections.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"

static void
set_accepting(struct um_connections *list, bool on)
{
	/* Several processes share the socket: an event wakes one of them. */
	struct epoll_event ev = { .events = EPOLLIN | EPOLLEXCLUSIVE,
		.data.ptr = list };

	if (list->accepting == on)
		return;
	epoll_ctl(list->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
		list->listener, on ? &ev : NULL);
	list->accepting = on;
}

void
um_connections_resume(struct um_connections *list)
{
	if (!list->stopped)
		set_accepting(list, true);
}

static void
set_slow(struct um_connections *list, struct um_connection *c, int64_t since)
{
	if (c->slow_since >= 0)
		list->slow_len--;
	if (since >= 0)
		list->slow_len++;
	c->slow_since = since;
}

/* Has epoll report these events and no others; 0: none at all. */
static void
watch(struct um_connections *list, struct um_connection *c, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = c };
	int op = c->watched == 0 ? EPOLL_CTL_ADD
		: events == 0    ? EPOLL_CTL_DEL
				 : EPOLL_CTL_MOD;

	if (c->watched != events)
		epoll_ctl(list->epoll, op, um_fastcgi_fd(c->fc), &ev);
	c->watched = events;
}

static void
set_sending(struct um_connections *list, struct um_connection *c, bool on)
{
	if (c->sending != on)
		list->sending_len += on ? 1 : (size_t)-1;
	c->sending = on;
}

/* An event may still refer to it: um_connections_tidy() frees the memory. */
static void
close_connection(struct um_connections *list, struct um_connection *c)
{
	if (c->dead)
		return;
	c->dead = true;
	set_slow(list, c, -1);
	set_sending(list, c, false);
	um_fastcgi_free(c->fc);
	um_exchange_free(&c->ex);
	um_buf_free(&c->path);
	TAILQ_REMOVE(&list->open, c, link);
	TAILQ_INSERT_HEAD(&list->dead, c, link);
	list->len--;
	um_connections_resume(list); /* there is room again */
}

static void
open_connection(struct um_connections *list, int fd)
{
	struct um_connection *c = calloc(1, sizeof(*c));
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

	if (c == NULL) {
		close(fd);
		return;
	}
	c->slow_since = -1;
	c->fc = um_fastcgi_new(fd, list->file, &list->room);
	if (c->fc == NULL
		|| epoll_ctl(list->epoll, EPOLL_CTL_ADD, fd, &ev) != 0) {
		um_fastcgi_free(c->fc);
		free(c);
		return;
	}
	c->watched = ev.events;
	if (list->takes_large)
		um_fastcgi_take_large(c->fc);
	TAILQ_INSERT_HEAD(&list->open, c, link);
	list->len++;
}

/*
 * Makes room for another connection: closes the one that has been idle for
 * longest, on which nothing has arrived.
 */
static bool
close_idle(struct um_connections *list)
{
	for (struct um_connection *c =
			TAILQ_LAST(&list->open, um_connection_list);
		c != NULL; c = TAILQ_PREV(c, um_connection_list, link)) {
		char byte;

		if (!c->busy && c->slow_since < 0
			&& recv(um_fastcgi_fd(c->fc), &byte, 1,
				   MSG_PEEK | MSG_DONTWAIT)
				< 0) {
			close_connection(list, c);
			return true;
		}
	}
	return false;
}

void
um_connections_begin(struct um_connections *list, int epoll, int listener,
	struct um_memfile *file)
{
	list->epoll = epoll;
	list->listener = listener;
	list->file = file;
	list->room = list->takes_large
		? (struct um_fastcgi_room){ .max = UM_CONNECTIONS_LARGE_ROOM,
			  .small = UM_CONNECTIONS_LARGE_SMALL }
		: (struct um_fastcgi_room){ .max = UM_CONNECTIONS_ROOM,
			  .small = UM_CONNECTIONS_SMALL };
	TAILQ_INIT(&list->open);
	TAILQ_INIT(&list->dead);
	/* Another process may accept first: accept4() must not block then. */
	fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK);
	set_accepting(list, true);
}

void
um_connections_accept(struct um_connections *list)
{
	do {
		int fd;

		if (list->len >= UM_CONNECTIONS_MAX && !close_idle(list)) {
			set_accepting(list, false);
			return;
		}
		fd = accept4(list->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0) {
			/*
			 * Without a free descriptor the connection stays in
			 * the listener's queue, and epoll would report it again
			 * at once.
			 */
			if (errno != EAGAIN && errno != ECONNABORTED
				&& errno != EINTR && !close_idle(list))
				set_accepting(list, false);
			return;
		}
		open_connection(list, fd);
	} while (list->len < UM_CONNECTIONS_MAX);
}

void
um_connections_park(struct um_connections *list, struct um_connection *c)
{
	/* Not EPOLLIN: what a peer sends too early stays where it is. */
	watch(list, c, EPOLLRDHUP);
	um_fastcgi_forget_body(c->fc);
	c->ex.request.body = um_str(NULL);
}

void
um_connections_stop(struct um_connections *list)
{
	set_accepting(list, false);
	list->stopped = true;
}

bool
um_connections_read(struct um_connections *list, struct um_connection *c,
	int64_t now)
{
	if (c->dead)
		return false;
	if (c->busy) {
		/* The peer has closed it or sends too early: answer first. */
		watch(list, c, 0);
		return false;
	}
	switch (um_fastcgi_read(c->fc)) {
	case UM_FASTCGI_REQUEST:
		set_slow(list, c, -1);
		TAILQ_REMOVE(&list->open, c, link);
		TAILQ_INSERT_HEAD(&list->open, c, link);
		c->busy = true;
		list->busy_len++;
		return true;
	case UM_FASTCGI_MORE:
		if (c->slow_since < 0 && um_fastcgi_is_partial(c->fc))
			set_slow(list, c, now);
		break;
	case UM_FASTCGI_CLOSED:
		close_connection(list, c);
		break;
	}
	return false;
}

/* So much of the answer is sent. */
static void
go_on(struct um_connections *list, struct um_connection *c,
	enum um_fastcgi_sent sent, int64_t now)
{
	set_sending(list, c, sent == UM_FASTCGI_SENDING);
	switch (sent) {
	case UM_FASTCGI_SENDING:
		set_slow(list, c, now);
		watch(list, c, EPOLLOUT);
		break;
	case UM_FASTCGI_SENT:
		set_slow(list, c, -1);
		watch(list, c, EPOLLIN);
		um_connections_resume(list); /* it is idle, and can be closed */
		break;
	case UM_FASTCGI_LAST:
		close_connection(list, c);
		break;
	}
}

void
um_connections_answered(struct um_connections *list, struct um_connection *c,
	enum um_fastcgi_sent sent, int64_t now)
{
	c->busy = false;
	list->busy_len--;
	go_on(list, c, sent, now);
}

void
um_connections_send(struct um_connections *list, struct um_connection *c,
	int64_t now)
{
	go_on(list, c, um_fastcgi_send(c->fc), now);
}

int64_t
um_connections_close_slow(struct um_connections *list, int64_t now)
{
	int64_t next = -1;

	if (list->slow_len == 0)
		return -1;
	for (struct um_connection *c = TAILQ_FIRST(&list->open), *after;
		c != NULL; c = after) {
		int64_t limit = c->slow_since + UM_CONNECTIONS_SLOW_MS;

		after = TAILQ_NEXT(c, link);
		if (c->slow_since < 0)
			continue;
		if (limit <= now)
			close_connection(list, c);
		else
			next = um_deadline_earlier(next, limit);
	}
	return next;
}

void
um_connections_tidy(struct um_connections *list)
{
	struct um_connection *c;

	while ((c = TAILQ_FIRST(&list->dead)) != NULL) {
		TAILQ_REMOVE(&list->dead, c, link);
		free(c);
	}
}

void
um_connections_end(struct um_connections *list)
{
	um_connections_stop(list);
	while (!TAILQ_EMPTY(&list->open))
		close_connection(list, TAILQ_FIRST(&list->open));
	um_connections_tidy(list);
}
