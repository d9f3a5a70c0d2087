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
set_partial(struct um_connections *list, struct um_connection *c, int64_t since)
{
	if (c->partial_since >= 0)
		list->partial_len--;
	if (since >= 0)
		list->partial_len++;
	c->partial_since = since;
}

/* An event may still refer to it: um_connections_tidy() frees the memory. */
static void
close_connection(struct um_connections *list, struct um_connection *c)
{
	if (c->dead)
		return;
	c->dead = true;
	set_partial(list, c, -1);
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
	c->partial_since = -1;
	c->fc = um_fastcgi_new(fd, list->file);
	if (c->fc == NULL
		|| epoll_ctl(list->epoll, EPOLL_CTL_ADD, fd, &ev) != 0) {
		um_fastcgi_free(c->fc);
		free(c);
		return;
	}
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

		if (!c->busy && c->partial_since < 0
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
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

	if (c->unwatched)
		epoll_ctl(list->epoll, EPOLL_CTL_ADD, um_fastcgi_fd(c->fc),
			&ev);
	c->unwatched = false;
}

bool
um_connections_is_gone(const struct um_connection *c)
{
	char byte;
	ssize_t n = recv(um_fastcgi_fd(c->fc), &byte, 1,
		MSG_PEEK | MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
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
		epoll_ctl(list->epoll, EPOLL_CTL_DEL, um_fastcgi_fd(c->fc),
			NULL);
		c->unwatched = true;
		return false;
	}
	switch (um_fastcgi_read(c->fc)) {
	case UM_FASTCGI_REQUEST:
		set_partial(list, c, -1);
		TAILQ_REMOVE(&list->open, c, link);
		TAILQ_INSERT_HEAD(&list->open, c, link);
		c->busy = true;
		list->busy_len++;
		return true;
	case UM_FASTCGI_MORE:
		if (c->partial_since < 0 && um_fastcgi_is_partial(c->fc))
			set_partial(list, c, now);
		break;
	case UM_FASTCGI_CLOSED:
		close_connection(list, c);
		break;
	}
	return false;
}

void
um_connections_answered(struct um_connections *list, struct um_connection *c,
	bool keep)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

	c->busy = false;
	list->busy_len--;
	if (!keep) {
		close_connection(list, c);
		return;
	}
	if (c->unwatched)
		epoll_ctl(list->epoll, EPOLL_CTL_ADD, um_fastcgi_fd(c->fc),
			&ev);
	c->unwatched = false;
	um_connections_resume(list); /* it is idle, and can be closed */
}

int64_t
um_connections_close_slow(struct um_connections *list, int64_t now)
{
	int64_t next = -1;

	if (list->partial_len == 0)
		return -1;
	for (struct um_connection *c = TAILQ_FIRST(&list->open), *after;
		c != NULL; c = after) {
		int64_t limit = c->partial_since + UM_CONNECTIONS_PARTIAL_MS;

		after = TAILQ_NEXT(c, link);
		if (c->partial_since < 0)
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
