/* SPDX-License-Identifier: MIT */
#include "postgres/connect.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/limits.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

static const char *
field_of(const PGresult *res, int code)
{
	const char *text = PQresultErrorField(res, code);

	return text != NULL ? text : "";
}

static void
receive_notice(void *arg, const PGresult *res)
{
	const struct um_connect *connect = arg;
	char text[400];

	if (strcmp(field_of(res, PG_DIAG_SOURCE_FILE), "async.c") == 0)
		snprintf(text, sizeof(text), "%s. %s %s",
			field_of(res, PG_DIAG_MESSAGE_PRIMARY),
			field_of(res, PG_DIAG_MESSAGE_DETAIL),
			field_of(res, PG_DIAG_MESSAGE_HINT));
	else
		snprintf(text, sizeof(text), "a notice, SQLSTATE: %s",
			field_of(res, PG_DIAG_SQLSTATE));
	connect->on_notice(text, connect->arg);
}

/* Whether this libpq has a keyword. */
static bool
knows(const char *keyword)
{
	PQconninfoOption *options = PQconndefaults();
	bool found = false;

	for (PQconninfoOption *option = options;
		option != NULL && option->keyword != NULL; option++)
		found |= strcmp(option->keyword, keyword) == 0;
	PQconninfoFree(options);
	return found;
}

static enum um_connect_step
start(struct um_connect *connect, const struct um_addresses *addresses,
	struct um_error *err)
{
	/*
	 * libpq expands dbname. It overrides the keywords before it; later
	 * keywords override it. A keyword with NULL is left out.
	 */
	const char *const keywords[] = { "fallback_application_name",
		"target_session_attrs", "tcp_user_timeout", "keepalives_idle",
		"keepalives_interval", "client_encoding", "dbname", "host",
		"hostaddr", "port",
		addresses->is_ordered && knows("load_balance_hosts")
			? "load_balance_hosts"
			: NULL,
		NULL };
	const char *const values[] = { connect->name, "read-write",
		TEXT(UM_CONNECT_UNACKED_MS), TEXT(UM_KEEPALIVE_S),
		TEXT(UM_KEEPALIVE_S), "UTF8", connect->conninfo,
		addresses->host, addresses->hostaddr, addresses->port,
		"disable", NULL };

	connect->conn = PQconnectStartParams(keywords, values, 1);
	if (connect->conn == NULL
		|| PQstatus(connect->conn) == CONNECTION_BAD) {
		um_error(err, "%s",
			connect->conn != NULL ? PQerrorMessage(connect->conn)
					      : "out of memory");
		return UM_CONNECT_FAILED;
	}
	PQsetNoticeReceiver(connect->conn, receive_notice, connect);
	connect->want_write = true;
	return UM_CONNECT_MOVED;
}

/* Looks up the names first, if there are any. */
static enum um_connect_step
begin(struct um_connect *connect, struct um_error *err)
{
	connect->want_write = false;
	connect->resolve = um_resolve_start(connect->conninfo,
		connect->asks_leader);
	return connect->resolve != NULL
		? UM_CONNECT_MOVED
		: start(connect, &(struct um_addresses){ 0 }, err);
}

static enum um_connect_step
resolved(struct um_connect *connect, struct um_error *err)
{
	struct um_resolve *resolve = connect->resolve;
	struct um_addresses addresses;
	enum um_connect_step step = UM_CONNECT_FAILED;

	connect->resolve = NULL;
	if (um_resolve_take(resolve, &addresses, err)) {
		connect->asks_leader &= !addresses.is_certain;
		step = start(connect, &addresses, err);
	}
	um_resolve_free(resolve);
	return step;
}

/* PQconnectPoll() must not be called before the socket is ready. */
static bool
is_ready(const struct um_connect *connect)
{
	struct pollfd pfd = { .fd = PQsocket(connect->conn),
		.events = connect->want_write ? POLLOUT : POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

enum um_connect_step
um_connect_go_on(struct um_connect *connect, struct um_error *err)
{
	if (connect->resolve != NULL)
		return um_resolve_has_ended(connect->resolve)
			? resolved(connect, err)
			: UM_CONNECT_WAITS;
	if (connect->conn == NULL)
		return begin(connect, err);
	if (!is_ready(connect))
		return UM_CONNECT_WAITS;
	/* libpq may open another socket here, for the next host. */
	switch (PQconnectPoll(connect->conn)) {
	case PGRES_POLLING_READING:
		connect->want_write = false;
		return UM_CONNECT_MOVED;
	case PGRES_POLLING_WRITING:
		connect->want_write = true;
		return UM_CONNECT_MOVED;
	case PGRES_POLLING_OK:
		return UM_CONNECT_MADE;
	default:
		um_error(err, "%s", PQerrorMessage(connect->conn));
		return UM_CONNECT_FAILED;
	}
}

PGconn *
um_connect_take(struct um_connect *connect)
{
	PGconn *conn = connect->conn;

	connect->conn = NULL;
	return conn;
}

int
um_connect_fd(const struct um_connect *connect)
{
	if (connect->resolve != NULL)
		return um_resolve_fd(connect->resolve);
	return connect->conn != NULL ? PQsocket(connect->conn) : -1;
}

void
um_connect_stop(struct um_connect *connect)
{
	PQfinish(connect->conn);
	connect->conn = NULL;
}

void
um_connect_end(struct um_connect *connect)
{
	um_connect_stop(connect);
	um_resolve_free(connect->resolve);
	connect->resolve = NULL;
}
