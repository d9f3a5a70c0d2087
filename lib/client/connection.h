/* SPDX-License-Identifier: MIT */
/*
 * A connection to PostgreSQL with a time limit for every wait.
 * A deadline is a time of um_monotonic_ms().
 */
#ifndef UM_CONNECTION_H
#define UM_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "core/str.h"

/* A statement whose parameters are text unless `formats` says otherwise. */
struct um_statement {
	const char *sql;
	int params;
	const Oid *types; /* or NULL: the server decides */
	const char *const *values;
	const int *lengths; /* or NULL */
	const int *formats; /* or NULL: all text */
};

/* Connects and executes LISTEN urlmode. *conn is NULL when that failed. */
bool um_connection_open(PGconn **conn, const char *database_url,
	int64_t deadline, struct um_error *err);

/*
 * Executes the statement and returns its rows, for PQclear(). NULL, with the
 * reason, if that fails. The connection stays open if the server would refuse
 * the statement again (SQLSTATE class 42 or 3F). Otherwise it is closed, *conn
 * is NULL, and the statement may succeed on a new connection.
 */
PGresult *um_connection_run(PGconn **conn, const struct um_statement *statement,
	int64_t deadline, struct um_error *err);

/*
 * Waits until the deadline or a notification, and takes all that have come.
 * False: the connection was lost, and *conn is NULL.
 */
bool um_connection_wait(PGconn **conn, int64_t deadline, struct um_error *err);

#endif
