/* SPDX-License-Identifier: MIT */
/* The store and its batches, with a database that is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/result.h"
#include "postgres/batch.h"
#include "store_fixture.h"

static struct store_fixture fixture;

/* The connection is there, and idle. */
static void
connect_first(void)
{
	struct um_op op;

	row_make(&op, UM_OP_LOOK_UP);
	store_fixture_submit(&fixture, &op);
	store_fixture_run(&fixture, 1);
	assert_outcome(&op, "pending");
	um_op_free(&op);
	fixture.done_len = 0;
	fixture.batches_len = 0;
}

TEST(one_row_from_look_up_to_completion)
{
	struct um_op look, open, complete, after;
	char *expires;

	row_make(&look, UM_OP_LOOK_UP);
	store_fixture_submit(&fixture, &look);
	store_fixture_run(&fixture, 1);
	assert_outcome(&look, "pending");
	assert_string_equal(look.row.requester, "Notes server");
	assert_string_equal(look.row.subject, "user-42");
	assert_null(look.row.action);
	assert_string_equal(look.row.reason, "");
	assert_false(look.row.has_browser);
	assert_null(look.row.currency);
	expires = row_text(&look, "ceil(extract(epoch FROM expires_at))");
	assert_int_equal(look.row.expires, strtoll(expires, NULL, 10));
	free(expires);

	row_again(&open, &look);
	open.kind = UM_OP_OPEN;
	memset(open.browser, 0xc0, sizeof(open.browser));
	store_fixture_submit(&fixture, &open);
	store_fixture_run(&fixture, 2);
	assert_outcome(&open, "opened");
	assert_string_equal(open.row.kind, "oauth");
	assert_string_equal(open.row.target_url, "https://a.example/authorize");
	assert_int_equal(open.row.expires, look.row.expires);
	assert_row_text(&open, "status", "opened");
	assert_row_text(&open, "encode(browser, 'hex')",
		"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0");

	row_again(&complete, &look);
	complete.kind = UM_OP_COMPLETE;
	complete.action = "decline";
	complete.reason = "access_denied";
	um_buf_put(&complete.result, "a\0b", 3);
	store_fixture_submit(&fixture, &complete);
	store_fixture_run(&fixture, 3);
	assert_outcome(&complete, "completed");
	assert_row_text(&complete, "status", "completed");
	assert_row_text(&complete, "action", "decline");
	assert_row_text(&complete, "reason", "access_denied");
	assert_row_text(&complete, "encode(result, 'hex')", "610062");

	row_again(&after, &look);
	store_fixture_submit(&fixture, &after);
	store_fixture_run(&fixture, 4);
	assert_outcome(&after, "completed");
	assert_string_equal(after.row.action, "decline");
	assert_string_equal(after.row.reason, "access_denied");
	assert_true(after.row.has_browser);
	assert_memory_equal(after.row.browser, open.browser, UM_BROWSER_LEN);
	assert_int_equal(fixture.notices.len, 0);
	um_op_free(&look);
	um_op_free(&open);
	um_op_free(&complete);
	um_op_free(&after);
}

/* By the id alone, and what follows is asked with the binding of the row. */
TEST(a_link_says_the_binding)
{
	static const uint8_t none[UM_BINDING_LEN];
	struct um_op look, opens[4];
	uint8_t binding[UM_BINDING_LEN];

	row_make(&look, UM_OP_LOOK_UP_LINK);
	memcpy(binding, look.binding, sizeof(binding));
	memset(look.binding, 0, sizeof(look.binding));
	store_fixture_submit(&fixture, &look);
	store_fixture_run(&fixture, 1);
	assert_outcome(&look, "pending");
	assert_memory_equal(look.binding, binding, sizeof(binding));
	assert_string_equal(look.row.requester, "Notes server");

	for (size_t i = 0; i < LENGTH(opens); i++) {
		row_again(&opens[i], &look);
		opens[i].kind = UM_OP_OPEN_LINK;
		memset(opens[i].binding, 0, sizeof(binding));
		memset(opens[i].browser, 0xc0, sizeof(opens[i].browser));
	}
	opens[0].provider = "another";
	opens[1].id[0] ^= 1;
	opens[2].subject = "somebody";
	for (size_t i = 0; i < LENGTH(opens); i++) {
		store_fixture_submit(&fixture, &opens[i]);
		store_fixture_run(&fixture, 2 + i);
	}
	assert_outcome(&opens[0], "unknown");
	assert_outcome(&opens[1], "unknown");
	assert_outcome(&opens[2], "wrong_user");
	for (size_t i = 0; i < 3; i++) {
		assert_memory_equal(opens[i].binding, none, sizeof(none));
		assert_null(opens[i].row.target_url);
	}
	assert_outcome(&opens[3], "opened");
	assert_memory_equal(opens[3].binding, binding, sizeof(binding));
	assert_string_equal(opens[3].row.target_url,
		"https://a.example/authorize");
	assert_row_text(&opens[3], "encode(browser, 'hex')",
		"c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0");
	um_op_free(&look);
	ops_free(opens, LENGTH(opens));
}

TEST(a_wrong_id_binding_or_provider_is_unknown)
{
	static const enum um_op_kind kinds[] = { UM_OP_LOOK_UP, UM_OP_OPEN,
		UM_OP_COMPLETE };
	struct um_op ops[3 * LENGTH(kinds)];
	size_t len = 0;

	for (size_t k = 0; k < LENGTH(kinds); k++) {
		for (int wrong = 0; wrong < 3; wrong++) {
			struct um_op *op = &ops[len++];

			row_make(op, kinds[k]);
			op->action = "accept";
			op->reason = "";
			if (wrong == 0)
				op->id[0] ^= 1;
			else if (wrong == 1)
				op->binding[0] ^= 1;
			else
				op->provider = "another";
			store_fixture_submit(&fixture, op);
		}
	}
	store_fixture_run(&fixture, len);
	for (size_t i = 0; i < len; i++)
		assert_outcome(&ops[i], "unknown");
	ops_free(ops, len);
}

/* No result is NULL in the row, not an empty value. */
TEST(no_result_is_null_in_the_row)
{
	struct um_op op;

	row_make(&op, UM_OP_COMPLETE);
	op.action = "decline";
	op.reason = "access_denied";
	store_fixture_submit(&fixture, &op);
	store_fixture_run(&fixture, 1);
	assert_outcome(&op, "completed");
	assert_row_text(&op, "result IS NULL", "t");
	um_op_free(&op);
}

TEST(the_largest_result_and_one_byte_more)
{
	struct um_op ops[2];

	for (size_t i = 0; i < LENGTH(ops); i++) {
		row_make(&ops[i], UM_OP_COMPLETE);
		ops[i].action = "accept";
		ops[i].reason = "";
		for (size_t n = 0; n < UM_RESULT_MAX + i; n++)
			um_buf_put(&ops[i].result, "x", 1);
		store_fixture_submit(&fixture, &ops[i]);
	}
	store_fixture_run(&fixture, 2);
	assert_outcome(&ops[0], "completed");
	assert_outcome(&ops[1], "failed");
	ops_free(ops, LENGTH(ops));
}

/* Operations that were submitted while a batch was under way. */
TEST(operations_that_wait_go_together)
{
	static struct um_op ops[300];

	connect_first();
	for (size_t i = 0; i < LENGTH(ops); i++)
		row_make_complete(&ops[i], "accept", "");
	store_fixture_submit(&fixture, &ops[0]);
	store_fixture_run(&fixture, 0);
	for (size_t i = 1; i < LENGTH(ops); i++)
		store_fixture_submit(&fixture, &ops[i]);
	assert_int_equal(um_store_queued(fixture.store), LENGTH(ops) - 1);
	store_fixture_run(&fixture, LENGTH(ops));
	/* 1, 256, 43; or 1, 150, 149 if the first one is not answered yet. */
	assert_int_equal(fixture.batches_len, 3);
	assert_int_equal(fixture.batches[0], 1);
	assert_in_range(fixture.batches[1], LENGTH(ops) / 2, UM_BATCH_MAX);
	assert_int_equal(fixture.batches[1] + fixture.batches[2],
		LENGTH(ops) - 1);
	/* At most one was sent, and one came back, between the two. */
	for (size_t i = 0; i < fixture.batches_len; i++)
		assert_in_range(fixture.took_us[i], 1, 3);
	for (size_t i = 0; i < LENGTH(ops); i++) {
		assert_ptr_equal(fixture.done[i], &ops[i]);
		assert_outcome(&ops[i], "completed");
	}
	assert_int_equal(um_store_queued(fixture.store), 0);
	assert_int_equal(um_store_deadline(fixture.store), -1);
	ops_free(ops, LENGTH(ops));
}

/* Each row of the results goes to the operation that it is for. */
TEST(all_kinds_of_operations_in_one_transaction)
{
	static const enum um_op_kind kinds[] = { UM_OP_COMPLETE, UM_OP_LOOK_UP,
		UM_OP_PING, UM_OP_OPEN, UM_OP_LOOK_UP, UM_OP_PING,
		UM_OP_COMPLETE, UM_OP_MEASURE, UM_OP_OPEN, UM_OP_PING,
		UM_OP_MEASURE, UM_OP_COMPLETE };
	static const char *const outcomes[] = { "completed", "pending", "ok",
		"opened", "unknown", "ok", "unknown", "ok", "unknown", "ok",
		"ok", "completed" };
	struct um_op ops[LENGTH(kinds)];

	connect_first();
	for (size_t i = 0; i < LENGTH(ops); i++) {
		row_make_complete(&ops[i], "accept", "");
		ops[i].kind = kinds[i];
		if (strcmp(outcomes[i], "unknown") == 0)
			ops[i].binding[0] ^= 1;
		store_fixture_submit(&fixture, &ops[i]);
	}
	store_fixture_run(&fixture, LENGTH(ops));
	assert_int_equal(fixture.batches_len, 1);
	for (size_t i = 0; i < LENGTH(ops); i++)
		assert_outcome(&ops[i], outcomes[i]);
	assert_string_equal(ops[1].row.subject, "user-42");
	assert_string_equal(ops[3].row.kind, "oauth");
	assert_null(ops[4].row.subject);
	ops_free(ops, LENGTH(ops));
}

TEST(one_bad_row_fails_alone)
{
	struct um_op ops[9];

	connect_first();
	for (size_t i = 0; i < LENGTH(ops); i++) {
		row_make_complete(&ops[i], "accept",
			i == 4 ? FIXTURE_FAILS : "");
		store_fixture_submit(&fixture, &ops[i]);
	}
	store_fixture_run(&fixture, LENGTH(ops));
	for (size_t i = 0; i < LENGTH(ops); i++) {
		assert_outcome(&ops[i], i == 4 ? "failed" : "completed");
		assert_row_text(&ops[i], "status",
			i == 4 ? "pending" : "completed");
	}
	assert_true(
		str_has(um_buf_str(&fixture.notices), STR("SQLSTATE: P0001")));
	assert_false(
		str_has(um_buf_str(&fixture.notices), STR("this row fails")));
	ops_free(ops, LENGTH(ops));
}

/* It was sent before the server said that the one before it has failed. */
TEST(a_batch_behind_one_that_fails)
{
	struct um_op ops[6];

	connect_first();
	for (size_t i = 0; i < LENGTH(ops); i++)
		row_make_complete(&ops[i], "accept",
			i == 1 ? FIXTURE_FAILS : "");
	for (size_t i = 0; i < 3; i++)
		store_fixture_submit(&fixture, &ops[i]);
	store_fixture_run(&fixture, 0);
	for (size_t i = 3; i < LENGTH(ops); i++)
		store_fixture_submit(&fixture, &ops[i]);
	store_fixture_run(&fixture, LENGTH(ops));
	for (size_t i = 0; i < LENGTH(ops); i++)
		assert_outcome(&ops[i], i == 1 ? "failed" : "completed");
	assert_int_equal(fixture.batches[0], 3);
	ops_free(ops, LENGTH(ops));
}

TEST(the_same_row_twice_in_a_batch)
{
	struct um_op ops[3];

	connect_first();
	row_make_complete(&ops[0], "accept", "");
	row_again(&ops[1], &ops[0]);
	ops[1].action = "cancel";
	ops[1].reason = "provider_error";
	row_make_complete(&ops[2], "accept", "");
	for (size_t i = 0; i < LENGTH(ops); i++)
		store_fixture_submit(&fixture, &ops[i]);
	store_fixture_run(&fixture, LENGTH(ops));
	assert_int_equal(fixture.batches_len, 1);
	assert_outcome(&ops[0], "completed");
	assert_outcome(&ops[1], "already");
	assert_outcome(&ops[2], "completed");
	assert_row_text(&ops[0], "action", "accept");
	assert_row_text(&ops[0], "reason", "");
	ops_free(ops, LENGTH(ops));
}

/* The id and the status, and nothing else. */
TEST(the_payload_of_a_notification)
{
	PGconn *listener = sql_connect();
	struct um_op op;
	struct um_op open;
	char uuid[UM_UUID_TEXT_LEN + 1];
	char expected[2][128];
	int got = 0;

	sql_do(listener, "LISTEN urlmode");
	row_make_complete(&op, "accept", "");
	row_again(&open, &op);
	open.kind = UM_OP_OPEN;
	um_uuid_format(uuid, op.id);
	snprintf(expected[0], sizeof(expected[0]),
		"{\"id\":\"%s\",\"status\":\"opened\"}", uuid);
	snprintf(expected[1], sizeof(expected[1]),
		"{\"id\":\"%s\",\"status\":\"completed\"}", uuid);
	store_fixture_submit(&fixture, &open);
	store_fixture_run(&fixture, 1);
	store_fixture_submit(&fixture, &op);
	store_fixture_run(&fixture, 2);
	sql_do(listener, "SELECT 1");
	for (PGnotify *n; (n = PQnotifies(listener)) != NULL; PQfreemem(n)) {
		assert_string_equal(n->relname, "urlmode");
		if (strstr(n->extra, uuid) == NULL)
			continue; /* somebody else's */
		assert_true(got < 2);
		assert_string_equal(n->extra, expected[got++]);
	}
	assert_int_equal(got, 2);
	PQfinish(listener);
	um_op_free(&op);
	um_op_free(&open);
}

TEST(done_may_submit_another_operation)
{
	struct um_op ops[3];

	connect_first();
	for (size_t i = 0; i < LENGTH(ops); i++)
		row_make_complete(&ops[i], "accept", "");
	fixture.submits_next = &ops[2];
	store_fixture_submit(&fixture, &ops[0]);
	store_fixture_submit(&fixture, &ops[1]);
	store_fixture_run(&fixture, 3);
	for (size_t i = 0; i < LENGTH(ops); i++)
		assert_outcome(&ops[i], "completed");
	assert_int_equal(fixture.batches_len, 2);
	/* One after the other: each was sent, and came back. */
	assert_int_equal(fixture.took_us[0], 1);
	assert_int_equal(fixture.took_us[1], 1);
	ops_free(ops, LENGTH(ops));
}

static struct um_op behind;

/* Only the database can do that by now: it has the batch already. */
static void
until_behind_is_written(void)
{
	for (int i = 0; i < 1000; i++) {
		char *status = row_text(&behind, "status");
		bool is_written = strcmp(status, "completed") == 0;

		free(status);
		if (is_written)
			return;
		usleep(10000);
	}
	fail_msg("what waited is not under way");
}

/* PostgreSQL works on the next batch while the last is handed back. */
TEST(the_next_batch_is_sent_before_the_last_is_handed_back)
{
	struct um_op op;

	connect_first();
	row_make_complete(&op, "accept", "");
	row_make_complete(&behind, "accept", "");
	fixture.calls_next = until_behind_is_written;
	store_fixture_submit(&fixture, &op);
	store_fixture_run(&fixture, 0);
	store_fixture_submit(&fixture, &behind);
	store_fixture_run(&fixture, 2);
	assert_int_equal(fixture.batches_len, 2);
	assert_ptr_equal(fixture.done[0], &op);
	assert_outcome(&op, "completed");
	assert_outcome(&behind, "completed");
	um_op_free(&op);
	um_op_free(&behind);
}

TEST(pg_stat_activity_shows_the_name)
{
	char *count;

	connect_first();
	count = sql(admin_db,
		"SELECT count(*) FROM pg_stat_activity"
		" WHERE application_name = '" FIXTURE_NAME "'");
	assert_string_equal(count, "1");
	free(count);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		STORE_TEST(one_row_from_look_up_to_completion),
		STORE_TEST(a_link_says_the_binding),
		STORE_TEST(a_wrong_id_binding_or_provider_is_unknown),
		STORE_TEST(no_result_is_null_in_the_row),
		STORE_TEST(the_largest_result_and_one_byte_more),
		STORE_TEST(operations_that_wait_go_together),
		STORE_TEST(all_kinds_of_operations_in_one_transaction),
		STORE_TEST(one_bad_row_fails_alone),
		STORE_TEST(a_batch_behind_one_that_fails),
		STORE_TEST(the_same_row_twice_in_a_batch),
		STORE_TEST(the_payload_of_a_notification),
		STORE_TEST(done_may_submit_another_operation),
		STORE_TEST(
			the_next_batch_is_sent_before_the_last_is_handed_back),
		STORE_TEST(pg_stat_activity_shows_the_name),
	};

	return cmocka_run_group_tests(tests, store_fixture_group_set_up,
		store_fixture_group_tear_down);
}
