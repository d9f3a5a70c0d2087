/* SPDX-License-Identifier: MIT */
/*
 * um_store against a real PostgreSQL. URLMODE_ADMIN_DATABASE_URL names a
 * migrated database, URLMODE_CGI_DATABASE_URL the same one for the role
 * urlmode_cgi.
 */
#ifndef TEST_RIG_H
#define TEST_RIG_H

#include <libpq-fe.h>

#include "postgres/op.h"
#include "postgres/store.h"
#include "support.h"

#define RIG_PROVIDER "unit-test" /* of every row that a test makes */
#define RIG_OPS_MAX 1024

/*
 * Reasons with which a row is completed in its own way, while the tests run:
 * fails; fails with this SQLSTATE the first time; says something in passing.
 */
#define RIG_FAILS "unit_fails"
#define RIG_FAILS_ONCE_40001 "unit_40001"
#define RIG_FAILS_ONCE_53100 "unit_53100"
#define RIG_WARNS "unit_warns"

struct rig {
	struct um_store *store;
	struct um_op *done[RIG_OPS_MAX]; /* as they were handed back */
	size_t done_len;
	size_t batches[RIG_OPS_MAX]; /* how many operations each had */
	size_t batches_len;
	struct um_buf troubles;
	struct um_op *submits_next; /* from within done(), once */
	void (*calls_next)(void);   /* the same */
	int64_t now;                /* set by hand; 0: the real clock */
};

/* The administrator's connection; for statements beside the store. */
extern PGconn *rig_admin;

/* Group set-up and tear-down; makes and drops what the reasons above need. */
int rig_begin(void **state);
int rig_end(void **state);

/* NULL: the URL of the role urlmode_cgi. */
void rig_open(struct rig *rig, const char *conninfo);
void rig_close(struct rig *rig);

void rig_submit(struct rig *rig, struct um_op *op);
/* Until so many operations have been handed back; at most ten seconds. */
void rig_run(struct rig *rig, size_t done_len);
/* Until it is connected, and idle; at most ten seconds. */
void rig_run_until_idle(struct rig *rig);
/* For so long, whatever comes. */
void rig_run_ms(struct rig *rig, int ms);

/* The name by which pg_stat_activity knows the rig's connection. */
#define RIG_NAME "urlmode-unit-test"

/* A new pending row of kind oauth, and an operation on it. */
void row_make(struct um_op *op, enum um_op_kind kind);
/* The same for COMPLETE, with this action and reason. */
void row_make_complete(struct um_op *op, const char *action,
	const char *reason);
/* An operation on the same row. */
void row_again(struct um_op *op, const struct um_op *of);
/* A column's text of an operation's row; the caller frees it. */
char *row_text(const struct um_op *op, const char *column);
void assert_row_text(const struct um_op *op, const char *column,
	const char *expected);

PGconn *sql_connect(void);
/* Runs a statement; the first value, or NULL: the caller frees it. */
char *sql(PGconn *conn, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same, for what answers nothing. */
void sql_do(PGconn *conn, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
