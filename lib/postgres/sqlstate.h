/* SPDX-License-Identifier: MIT */
/* Whose fault an error is (PostgreSQL's appendix A, "Error Codes"). */
#ifndef UM_SQLSTATE_H
#define UM_SQLSTATE_H

#include <stdbool.h>

/*
 * The server's or the connection's, and no row's: connection, resources,
 * operator intervention, and a server that has become read-only.
 */
bool um_sqlstate_is_servers(const char *sqlstate);

/* Deadlock and serialization failure: the same transaction again. */
bool um_sqlstate_is_transient(const char *sqlstate);

/* A row's: data, constraints, and what a trigger raises; not a lock, say. */
bool um_sqlstate_is_rows(const char *sqlstate);

#endif
