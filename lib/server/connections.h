/* SPDX-License-Identifier: MIT */
/*
 * The connections that web servers keep open to a program. A connection is
 * closed when its peer closes it, when a request takes too long to arrive or the
 * peer reads nothing of its answer for as long, or to make room for a new
 * connection.
 *
 * Events come from the caller's epoll: data.ptr is the list for the listening
 * socket, and the connection for a connection. Times are milliseconds of a
 * monotonic clock, which the caller passes.
 */
#ifndef UM_CONNECTIONS_H
#define UM_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "app/exchange.h"
#include "server/fastcgi.h"

/* At a time. To accept another one, the one that is idle longest is closed. */
#define UM_CONNECTIONS_MAX 1024
/* Until a request must be complete, and a peer must have read more of an answer. */
#define UM_CONNECTIONS_SLOW_MS 10000
/*
 * Bytes of requests and answers that all of them hold, and bytes of one that do
 * not count: those of a request without a body. Then the same where bodies are
 * large.
 */
#define UM_CONNECTIONS_ROOM ((size_t)32 * 1024 * 1024)
#define UM_CONNECTIONS_SMALL 65536
#define UM_CONNECTIONS_LARGE_ROOM ((size_t)64 * 1024 * 1024)
#define UM_CONNECTIONS_LARGE_SMALL 131072

struct um_connection {
	struct um_fastcgi *fc;

	/* The request on it; these belong to the caller that answers it. */
	struct um_exchange ex;
	struct um_buf path;
	int64_t began_us;
	size_t waiting; /* operations that the store still has */

	/* These belong to the list. */
	int64_t slow_since; /* -1: nothing arrives or is being sent */
	uint32_t watched;   /* the events that epoll has; 0: it is not there */
	bool busy;          /* its request is not yet answered */
	bool sending;       /* the peer has not read the whole answer */
	bool dead;          /* closed; um_connections_tidy() frees it */
	TAILQ_ENTRY(um_connection) link;
};

TAILQ_HEAD(um_connection_list, um_connection);

/* Zeroed to begin with. Callers read it; only these functions change it. */
struct um_connections {
	int epoll;
	int listener;
	struct um_memfile *file; /* for um_fastcgi_new() */
	bool takes_large; /* set by the caller before: um_fastcgi_take_large() */
	struct um_fastcgi_room room;
	bool accepting;
	bool stopped;
	size_t len;
	size_t busy_len;
	size_t sending_len;
	size_t slow_len;
	struct um_connection_list open; /* the latest request comes first */
	struct um_connection_list dead;
};

/*
 * Starts accepting. The descriptors and the file stay the caller's, who closes
 * them after um_connections_end().
 */
void um_connections_begin(struct um_connections *list, int epoll, int listener,
	struct um_memfile *file);

/*
 * The listening socket is readable: accepts as many as there is room for. If
 * that fails, for example without free descriptors, and no idle connection can
 * be closed, accepting stops until a connection ends or
 * um_connections_resume().
 */
void um_connections_accept(struct um_connections *list);

/* Accepts again after a failure. Call it now and then while nothing happens. */
void um_connections_resume(struct um_connections *list);

/*
 * The request on this connection is parked, and its body is forgotten. The next
 * event of the connection says that its peer has closed it, and nothing else.
 */
void um_connections_park(struct um_connections *list, struct um_connection *c);

/* Stops accepting; open connections stay open. */
void um_connections_stop(struct um_connections *list);

/*
 * The connection is readable. True: a complete request has arrived
 * (um_fastcgi_param(), _body()), and the connection is busy until
 * um_connections_answered(). False: there is nothing to do; the connection may
 * have been closed.
 */
bool um_connections_read(struct um_connections *list, struct um_connection *c,
	int64_t now);

/*
 * The request is answered: keeps the connection for the next, or closes it. While
 * its answer is being `sending`, each event of it is for um_connections_send().
 */
void um_connections_answered(struct um_connections *list,
	struct um_connection *c, enum um_fastcgi_sent sent, int64_t now);
void um_connections_send(struct um_connections *list, struct um_connection *c,
	int64_t now);

/*
 * Closes the connections on which a request has been arriving, or an answer has
 * not moved, for UM_CONNECTIONS_SLOW_MS. Returns the time of the next call, or
 * -1: there are none.
 */
int64_t um_connections_close_slow(struct um_connections *list, int64_t now);

/* Frees closed connections, when no pending event refers to one any more. */
void um_connections_tidy(struct um_connections *list);

/* Closes all of them, busy ones without a response. */
void um_connections_end(struct um_connections *list);

#endif
