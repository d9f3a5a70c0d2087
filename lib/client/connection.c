/* SPDX-License-Identifier: MIT */
#include "client/connection.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "contract/limits.h"
#include "core/clock.h"

static void
ignore_notice(void *arg __attribute__((unused)),
	const PGresult *res __attribute__((unused)))
{
}

/* Closes the connection. The reason is libpq's first line, or `otherwise`. */
static void
drop(PGconn **conn, const char *otherwise, struct um_error *err)
{
	const char *message = PQerrorMessage(*conn);

	if (message[0] == '\0')
		message = otherwise;
	um_error(err, "database: %.*s", (int)strcspn(message, "\n"), message);
	PQfinish(*conn);
	*conn = NULL;
}

/* How TCP notices a connection that died in silence (contract/limits.json). */
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define UNACKED_MS TEXT(UM_UNACKED_MS)
#define KEEPALIVE_S TEXT(UM_KEEPALIVE_S)
#define KEEPALIVE_COUNT TEXT(UM_KEEPALIVE_COUNT)

enum ready { READY, NOT_IN_TIME, POLL_FAILED };

static enum ready
wait_for_socket(PGconn *conn, short events, int64_t deadline)
{
	struct pollfd pfd = { .fd = PQsocket(conn), .events = events };
	int ready;

	do {
		int64_t rest = deadline - um_monotonic_ms();

		rest = rest < 0 ? 0 : rest > INT_MAX ? INT_MAX : rest;
		ready = poll(&pfd, 1, (int)rest);
	} while (ready < 0 && errno == EINTR);
	return ready > 0 ? READY : ready == 0 ? NOT_IN_TIME : POLL_FAILED;
}

bool
um_connection_open(PGconn **conn, const char *database_url, int64_t deadline,
	struct um_error *err)
{
	static const struct um_statement listen = { .sql = "LISTEN urlmode" };
	/* What the URL says counts: a later keyword overrides it. */
	const char *const keywords[] = { "tcp_user_timeout", "keepalives_idle",
		"keepalives_interval", "keepalives_count", "dbname",
		"fallback_application_name", "client_encoding", NULL };
	const char *const values[] = { UNACKED_MS, KEEPALIVE_S, KEEPALIVE_S,
		KEEPALIVE_COUNT, database_url, "um_wait", "UTF8", NULL };
	PostgresPollingStatusType next = PGRES_POLLING_WRITING;
	PGresult *res;

	PQfinish(*conn);
	*conn = PQconnectStartParams(keywords, values, 1);
	PQsetNoticeReceiver(*conn, ignore_notice, NULL);
	while (PQstatus(*conn) != CONNECTION_BAD && next != PGRES_POLLING_OK
		&& next != PGRES_POLLING_FAILED) {
		if (wait_for_socket(*conn,
			    next == PGRES_POLLING_READING ? POLLIN : POLLOUT,
			    deadline)
			!= READY)
			break;
		next = PQconnectPoll(*conn);
	}
	if (next != PGRES_POLLING_OK) {
		drop(conn, "no connection in time", err);
		return false;
	}
	res = um_connection_run(conn, &listen, deadline, err);
	PQclear(res);
	if (res == NULL) {
		PQfinish(*conn);
		*conn = NULL;
	}
	return res != NULL;
}

/* Waits for the statement's last result; NULL when the connection is lost. */
static PGresult *
last_result(PGconn *conn, int64_t deadline)
{
	PGresult *last = NULL, *res;

	for (;;) {
		while (PQisBusy(conn)) {
			if (wait_for_socket(conn, POLLIN, deadline) != READY
				|| PQconsumeInput(conn) != 1) {
				PQclear(last);
				return NULL;
			}
		}
		res = PQgetResult(conn);
		if (res == NULL)
			return last;
		PQclear(last);
		last = res;
	}
}

/* Something that the statement names is missing or not permitted. */
static bool
is_lasting(const PGresult *res)
{
	const char *sqlstate = PQresultErrorField(res, PG_DIAG_SQLSTATE);

	return sqlstate != NULL
		&& (strncmp(sqlstate, "42", 2) == 0
			|| strncmp(sqlstate, "3F", 2) == 0);
}

PGresult *
um_connection_run(PGconn **conn, const struct um_statement *statement,
	int64_t deadline, struct um_error *err)
{
	PGresult *res = NULL;
	ExecStatusType status;

	if (PQsendQueryParams(*conn, statement->sql, statement->params,
		    statement->types, statement->values, statement->lengths,
		    statement->formats, 0)
		== 1)
		res = last_result(*conn, deadline);
	if (res == NULL || PQstatus(*conn) != CONNECTION_OK) {
		PQclear(res);
		drop(conn, "no answer in time", err);
		return NULL;
	}
	status = PQresultStatus(res);
	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
		const char *message = PQresultErrorMessage(res);

		um_error(err, "database: %.*s", (int)strcspn(message, "\n"),
			message);
		if (!is_lasting(res)) {
			PQfinish(*conn);
			*conn = NULL;
		}
		PQclear(res);
		return NULL;
	}
	return res;
}

bool
um_connection_wait(PGconn **conn, int64_t deadline, struct um_error *err)
{
	PGnotify *notify = PQnotifies(*conn);

	if (notify == NULL) {
		enum ready ready = wait_for_socket(*conn, POLLIN, deadline);

		if (ready == NOT_IN_TIME)
			return true;
		if (ready == POLL_FAILED || PQconsumeInput(*conn) != 1) {
			drop(conn, "poll failed", err);
			return false;
		}
		notify = PQnotifies(*conn);
	}
	for (; notify != NULL; notify = PQnotifies(*conn))
		PQfreemem(notify);
	return true;
}
