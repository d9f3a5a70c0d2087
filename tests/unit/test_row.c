/* SPDX-License-Identifier: MIT */
/* The columns of each function, and rows that no function returns. */
#include <stdio.h>
#include <string.h>

#include "postgres/row.h"
#include "support.h"

#define COLUMNS_MAX 12
#define BYTES "\\x000102030405060708090a0b0c0d0e0f"

/* A row of these columns; NULL is SQL's. */
static PGresult *
row_of(const char *const *columns, int len)
{
	PGresult *res = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
	PGresAttDesc descriptions[COLUMNS_MAX] = { 0 };

	for (int i = 0; i < len; i++)
		descriptions[i].name = (char *)"c";
	assert_non_null(res);
	assert_int_equal(PQsetResultAttrs(res, len, descriptions), 1);
	for (int i = 0; i < len; i++)
		assert_int_equal(PQsetvalue(res, 0, i, (char *)columns[i],
					 columns[i] != NULL
						 ? (int)strlen(columns[i])
						 : -1),
			1);
	return res;
}

static bool
read_row(struct um_op *op, const char *const *columns, int len)
{
	PGresult *res = row_of(columns, len);
	bool ok = um_row_read(op, res, 0);

	PQclear(res);
	return ok;
}

TEST(a_row_that_was_looked_up)
{
	static const char *const columns[COLUMNS_MAX] = { "completed", "Notes",
		"user-42", "cancel", "expired", "1800000000", "3", "t", BYTES,
		"1050", "EUR", BYTES };
	struct um_op op = { .kind = UM_OP_LOOK_UP };

	assert_true(read_row(&op, columns, 11));
	assert_int_equal(op.outcome, UM_ROW_COMPLETED);
	assert_string_equal(op.row.requester, "Notes");
	assert_string_equal(op.row.subject, "user-42");
	assert_string_equal(op.row.action, "cancel");
	assert_string_equal(op.row.reason, "expired");
	assert_int_equal(op.row.expires, 1800000000);
	assert_int_equal(op.row.failed_attempts, 3);
	assert_true(op.row.late);
	assert_true(op.row.has_browser);
	assert_int_equal(op.row.browser[15], 15);
	assert_int_equal(op.row.amount, 1050);
	assert_string_equal(op.row.currency, "EUR");
	assert_int_equal(op.binding[15], 0);
	um_op_free(&op);
	op = (struct um_op){ .kind = UM_OP_LOOK_UP_LINK };
	assert_true(read_row(&op, columns, 12));
	assert_int_equal(op.binding[15], 15);
	um_op_free(&op);
}

TEST(a_row_without_most_of_it)
{
	static const char *const columns[COLUMNS_MAX] = { "unknown" };
	struct um_op op = { .kind = UM_OP_LOOK_UP_LINK };

	assert_true(read_row(&op, columns, 12));
	assert_int_equal(op.outcome, UM_ROW_UNKNOWN);
	assert_null(op.row.subject);
	assert_null(op.row.currency);
	assert_false(op.row.has_browser);
	assert_false(op.row.late);
	um_op_free(&op);
}

TEST(rows_that_are_read_or_not)
{
	static const struct {
		const char *label;
		enum um_op_kind kind;
		int len;
		const char *columns[COLUMNS_MAX];
		bool good;
	} rows[] = {
		{ "opened", UM_OP_OPEN, 4, { "opened", "oauth", "u", "1" },
			true },
		{ "opened, with no target", UM_OP_OPEN, 4,
			{ "opened", "oauth", NULL, "1" }, false },
		{ "opened, with no kind", UM_OP_OPEN, 4,
			{ "opened", NULL, "u", "1" }, false },
		{ "expired, with neither", UM_OP_OPEN, 4, { "expired" }, true },
		{ "an outcome of another function", UM_OP_OPEN, 4,
			{ "pending" }, false },
		{ "no outcome", UM_OP_OPEN, 4, { NULL }, false },
		{ "a link", UM_OP_OPEN_LINK, 5,
			{ "opened", "oauth", "u", "1", BYTES }, true },
		{ "a link without its binding", UM_OP_OPEN_LINK, 5,
			{ "opened", "oauth", "u", "1", NULL }, false },
		{ "a binding that is short", UM_OP_OPEN_LINK, 5,
			{ "opened", "oauth", "u", "1", "\\x0001" }, false },
		{ "a binding that is long", UM_OP_OPEN_LINK, 5,
			{ "opened", "oauth", "u", "1", (BYTES "10") }, false },
		{ "a link of another user", UM_OP_OPEN_LINK, 5,
			{ "wrong_user", NULL, NULL, NULL, NULL }, true },
		{ "a link of nobody", UM_OP_OPEN_LINK, 5,
			{ "unknown", NULL, NULL, NULL, NULL }, true },
		{ "a link that was looked up, without its binding",
			UM_OP_LOOK_UP_LINK, 12, { "pending" }, false },
		{ "completed", UM_OP_COMPLETE, 1, { "already" }, true },
		{ "completed, a word of nobody", UM_OP_COMPLETE, 1, { "paid" },
			false },
		{ "an event", UM_OP_EVENT, 3, { "accept", NULL, NULL }, true },
		{ "an event, a word of a row", UM_OP_EVENT, 3,
			{ "opened", NULL, NULL }, false },
		{ "unreadable", UM_OP_UNREADABLE, 1, { "t" }, true },
		{ "unreadable, no", UM_OP_UNREADABLE, 1, { "f" }, false },
		{ "ping", UM_OP_PING, 1, { "t" }, true },
		{ "ping, no", UM_OP_PING, 1, { "f" }, false },
		{ "no operation", UM_OP_NONE, 1, { "t" }, false },
		{ "what only batches ask", UM_OP_HELD, 1, { "t" }, false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_op op = { .kind = rows[i].kind };

		assert_row(rows[i].label,
			read_row(&op, rows[i].columns, rows[i].len)
				== rows[i].good);
		um_op_free(&op);
	}
}

/* An event that names a payment alone is told its elicitation. */
TEST(an_event_that_is_not_named)
{
	static const char id[] = "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11";
	static const struct {
		const char *id;
		bool stays;
	} rows[] = { { id, false }, { NULL, true }, { "6f1c", true } };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *const columns[] = { "accept", "amount",
			rows[i].id };
		struct um_op op = { .kind = UM_OP_EVENT, .is_unnamed = true };
		uint8_t expected[UM_UUID_LEN];

		bytes_of_uuid(expected, id);
		row_begin("%s", rows[i].id != NULL ? rows[i].id : "NULL");
		assert_true(read_row(&op, columns, 3));
		assert_int_equal(op.is_unnamed, rows[i].stays);
		assert_int_equal(memcmp(op.id, expected, sizeof(expected)) == 0,
			!rows[i].stays);
		assert_string_equal(op.row.mismatch, "amount");
		um_op_free(&op);
	}
}

TEST(what_is_measured)
{
	static const char *const columns[] = { "4", "3600", "1800000000123",
		"0.5", "6", "7200", "2" };
	struct um_op op = { .kind = UM_OP_MEASURE };

	assert_true(read_row(&op, columns, 7));
	assert_int_equal(op.row.failing, 2);
	assert_int_equal(op.row.unclaimed, 4);
	assert_int_equal(op.row.unclaimed_age_s, 3600);
	assert_int_equal(op.row.database_ms, 1800000000123);
	assert_int_equal(op.row.undelivered, 6);
	assert_int_equal(op.row.undelivered_age_s, 7200);
	assert_true(op.row.queue_usage > 0.4 && op.row.queue_usage < 0.6);
	um_op_free(&op);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_that_was_looked_up),
		cmocka_unit_test(a_row_without_most_of_it),
		cmocka_unit_test(rows_that_are_read_or_not),
		cmocka_unit_test(an_event_that_is_not_named),
		cmocka_unit_test(what_is_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
