/* SPDX-License-Identifier: MIT */
#include "postgres/leader.h"

#include <poll.h>
#include <stdio.h>

#include <libpq-fe.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

#define QUESTION "SELECT timeline FROM urlmode.leader(0)"

/* NULL: none in time, or not the one row. The caller clears it. */
static PGresult *
answer_of(PGconn *conn)
{
	PGresult *res = NULL;

	if (PQsendQuery(conn, QUESTION) != 1)
		return NULL;
	while (PQisBusy(conn)) {
		struct pollfd pfd = { .fd = PQsocket(conn), .events = POLLIN };

		if (poll(&pfd, 1, UM_LEADER_ASK_S * 1000) <= 0
			|| PQconsumeInput(conn) != 1)
			return NULL;
	}
	res = PQgetResult(conn);
	if (PQresultStatus(res) == PGRES_TUPLES_OK && PQntuples(res) == 1)
		return res;
	PQclear(res);
	return NULL;
}

enum um_leader
um_leader_ask(const char *conninfo, const char *host, const char *hostaddr,
	const char *port, char timeline[static UM_TIMELINE_LEN + 1])
{
	/* As for libpq in postgres/connect.c, for this one host. */
	const char *const keywords[] = { "connect_timeout", "dbname", "host",
		"hostaddr", "port", "target_session_attrs", "application_name",
		NULL };
	const char *const values[] = { TEXT(UM_LEADER_ASK_S), conninfo, host,
		hostaddr, port, "any", "urlmode leader", NULL };
	PGconn *conn = PQconnectdbParams(keywords, values, 1);
	PGresult *res = NULL;
	enum um_leader says = UM_LEADER_SILENT;

	if (PQstatus(conn) == CONNECTION_OK && (res = answer_of(conn)) != NULL)
		says = PQgetisnull(res, 0, 0) ? UM_LEADER_FOLLOWS
					      : UM_LEADER_WRITES;
	if (says == UM_LEADER_WRITES)
		snprintf(timeline, UM_TIMELINE_LEN + 1, "%s",
			PQgetvalue(res, 0, 0));
	PQclear(res);
	PQfinish(conn);
	return says;
}
