/* SPDX-License-Identifier: MIT */
/* Classes of SQLSTATEs (PostgreSQL documentation, appendix A). */
#ifndef UM_SQLSTATE_H
#define UM_SQLSTATE_H

#include <stdbool.h>

/*
 * The server or the connection cannot work: connection exceptions, insufficient
 * resources, operator intervention, system errors, or a server that has become
 * read-only. No operation is at fault.
 */
bool um_sqlstate_is_servers(const char *sqlstate);

/* A deadlock or a serialization failure: repeat the same transaction. */
bool um_sqlstate_is_transient(const char *sqlstate);

/* Another session holds what the transaction would lock. */
bool um_sqlstate_is_lock(const char *sqlstate);

/*
 * One row is at fault: its data, a constraint, or an error that a function
 * raises. A lock that was not granted in time is not among these.
 */
bool um_sqlstate_is_rows(const char *sqlstate);

#endif
