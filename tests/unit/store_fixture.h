/* SPDX-License-Identifier: MIT */
/*
 * um_store against a real PostgreSQL. URLMODE_ADMIN_DATABASE_URL names a
 * migrated database, URLMODE_PROGRAMS_DATABASE_URL the same one for the role
 * urlmode_cgi.
 */
#ifndef TEST_STORE_FIXTURE_H
#define TEST_STORE_FIXTURE_H

#include <libpq-fe.h>

#include "postgres/op.h"
#include "postgres/store.h"
#include "support.h"

#define FIXTURE_PROVIDER "unit-test" /* of every row that a test makes */
#define FIXTURE_OPS_MAX 1024

/*
 * Reasons that a trigger looks for while the tests run. It makes the completion
 * of such a row fail, fail as if the disk were full, fail the first time with
 * this SQLSTATE, or raise a warning.
 */
#define FIXTURE_FAILS "unit_fails"
#define FIXTURE_FULL "unit_full"
#define FIXTURE_FAILS_ONCE_40001 "unit_40001"
#define FIXTURE_FAILS_ONCE_53100 "unit_53100"
#define FIXTURE_WARNS "unit_warns"

struct store_fixture {
	struct um_store *store;
	struct um_op *done[FIXTURE_OPS_MAX]; /* as they were handed back */
	size_t done_len;
	size_t batches[FIXTURE_OPS_MAX];  /* how many operations each had */
	int64_t took_us[FIXTURE_OPS_MAX]; /* as the fixture's clock counts */
	size_t batches_len;
	struct um_buf notices;
	struct um_op *submits_next; /* from within done(), once */
	void (*calls_next)(void);   /* the same */
	int64_t now;                /* set by hand; 0: the real clock */
};

/* The administrator's connection; for statements beside the store. */
extern PGconn *admin_db;

/* Group set-up and tear-down; makes and drops what the reasons above need. */
int store_fixture_group_set_up(void **state);
int store_fixture_group_tear_down(void **state);

/* NULL: the URL of the role urlmode_cgi. */
void store_fixture_open(struct store_fixture *fixture, const char *conninfo);
void store_fixture_close(struct store_fixture *fixture);

/* A test of the file's `static struct store_fixture fixture`. */
#define STORE_TEST(name)                                                       \
	cmocka_unit_test_prestate_setup_teardown(name, store_fixture_set_up,   \
		store_fixture_tear_down, &fixture)
/* The same for a test that opens it itself. */
#define STORE_TEST_OPENS(name)                                                 \
	cmocka_unit_test_prestate_setup_teardown(name, NULL,                   \
		store_fixture_tear_down, &fixture)
int store_fixture_set_up(void **state);
int store_fixture_tear_down(void **state);

void store_fixture_submit(struct store_fixture *fixture, struct um_op *op);
/* Until so many operations have been handed back; at most ten seconds. */
void store_fixture_run(struct store_fixture *fixture, size_t done_len);
/* Until it is connected, and idle; at most ten seconds. */
void store_fixture_run_until_idle(struct store_fixture *fixture);
/* For so long, whatever comes. */
void store_fixture_run_ms(struct store_fixture *fixture, int ms);

/* The name by which pg_stat_activity knows the fixture's connection. */
#define FIXTURE_NAME "urlmode-unit-test"

/* A new pending row of kind oauth, and an operation on it. */
void row_make(struct um_op *op, enum um_op_kind kind);
/* The same for COMPLETE, with this action and reason. */
void row_make_complete(struct um_op *op, const char *action,
	const char *reason);
/* An operation on the same row. */
void row_again(struct um_op *op, const struct um_op *of);
void ops_free(struct um_op *ops, size_t len);
/* `outcome` is the word that SQL returns, "unavailable" or "failed". */
void assert_outcome(const struct um_op *op, const char *outcome);
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
