/* SPDX-License-Identifier: MIT */
/* Classes of SQLSTATEs (PostgreSQL documentation, appendix A). */
#ifndef UM_SQLSTATE_H
#define UM_SQLSTATE_H

/* What an error says of the transaction that it has ended. */
enum um_sqlstate {
	/* None of those below, such as a function that is missing. */
	UM_SQLSTATE_OTHER,
	/*
	 * The server or the connection cannot work: connection exceptions,
	 * insufficient resources, operator intervention, system errors, or a
	 * server that has become read-only. No operation is at fault.
	 */
	UM_SQLSTATE_SERVER,
	/* A deadlock or a serialization failure: repeat the same transaction. */
	UM_SQLSTATE_TRANSIENT,
	/* Another session holds what the transaction would lock. */
	UM_SQLSTATE_LOCK,
	/*
	 * One row is at fault: its data, a constraint, or an error that a
	 * function raises.
	 */
	UM_SQLSTATE_ROW,
};

enum um_sqlstate um_sqlstate_class(const char *sqlstate);

#endif
