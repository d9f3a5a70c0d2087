/* SPDX-License-Identifier: MIT */
/* The store: what webhooks bring, and for whom a row is. */
#include <stdlib.h>
#include <string.h>

#include "store_fixture.h"

static struct store_fixture fixture;

static int
open_fixture(void **state)
{
	(void)state;
	store_fixture_open(&fixture, NULL);
	return 0;
}

static int
close_fixture(void **state)
{
	(void)state;
	store_fixture_close(&fixture);
	return 0;
}

/* A row of kind payment, and an event of it, whose identity is its own. */
static void
event_make(struct um_op *op, struct um_event *event, const char *expected)
{
	char uuid[UM_UUID_TEXT_LEN + 1];

	row_make(op, UM_OP_EVENT);
	um_uuid_format(uuid, op->id);
	sql_do(admin_db,
		"UPDATE urlmode.elicitation SET kind = 'payment',"
		" expected = nullif('%s', '')::jsonb WHERE id = '%s'",
		expected, uuid);
	um_buf_puts(&op->result, "sealed");
	memcpy(event->identity, uuid, sizeof(uuid));
	op->event = event;
}

static void
submit_and_run(struct um_op *op)
{
	store_fixture_submit(&fixture, op);
	store_fixture_run(&fixture, fixture.done_len + 1);
}

#define TEN "{\"amount\": 1000, \"currency\": \"EUR\"}"

TEST(what_each_effect_does)
{
	static const struct {
		const char *expected;
		struct um_event event;
		const char *outcome;
		const char *row;
	} cases[] = {
		{ "", { .effect = UM_EFFECT_PAID }, "accept",
			"completed accept " },
		{ TEN,
			{ .effect = UM_EFFECT_PAID,
				.has_amount = true,
				.amount = 1000,
				.currency = "EUR" },
			"accept", "completed accept " },
		{ TEN,
			{ .effect = UM_EFFECT_PAID,
				.has_amount = true,
				.amount = 999,
				.currency = "EUR" },
			"cancel", "completed cancel amount_mismatch" },
		{ TEN,
			{ .effect = UM_EFFECT_PAID,
				.has_amount = true,
				.amount = 1000,
				.currency = "USD" },
			"cancel", "completed cancel amount_mismatch" },
		{ TEN,
			{ .effect = UM_EFFECT_PAID,
				.has_amount = true,
				.amount = INT64_MIN,
				.currency = "EUR" },
			"cancel", "completed cancel amount_mismatch" },
		{ "{\"amount\": 9007199254740991, \"currency\": \"EUR\"}",
			{ .effect = UM_EFFECT_PAID,
				.has_amount = true,
				.amount = 9007199254740991,
				.currency = "EUR" },
			"accept", "completed accept " },
		{ TEN, { .effect = UM_EFFECT_PAID }, "recheck",
			"processing - recheck" },
		{ "", { .effect = UM_EFFECT_FAILED }, "cancel",
			"completed cancel payment_failed" },
		{ "", { .effect = UM_EFFECT_CANCELLED }, "decline",
			"completed decline cancelled" },
		{ "", { .effect = UM_EFFECT_EXPIRED }, "cancel",
			"completed cancel expired" },
		{ "", { .effect = UM_EFFECT_PROCESSING }, "processing",
			"processing - " },
		{ "", { .effect = UM_EFFECT_RECHECK }, "recheck",
			"processing - recheck" },
		{ "", { .effect = UM_EFFECT_IGNORE }, "ignored", "pending - " },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_event event = cases[i].event;
		struct um_op op;

		event_make(&op, &event, cases[i].expected);
		submit_and_run(&op);
		assert_outcome(&op, cases[i].outcome);
		assert_row_text(&op,
			"concat_ws(' ', status, coalesce(action, '-'), reason)",
			cases[i].row);
		assert_row_text(&op,
			"coalesce(convert_from(result, 'UTF8'), '')",
			strncmp(cases[i].row, "completed", 9) == 0 ? "sealed"
								   : "");
		um_op_free(&op);
	}
}

/* In one batch or one after the other: the first that completes counts. */
TEST(events_are_recorded_once_and_in_order)
{
	struct um_event events[4] = {
		{ .effect = UM_EFFECT_PROCESSING },
		{ .effect = UM_EFFECT_FAILED },
		{ .effect = UM_EFFECT_PAID },
		{ .effect = UM_EFFECT_PAID },
	};
	static const char *const outcomes[] = { "processing", "cancel", "late",
		"seen" };
	struct um_op ops[4];
	struct um_op again;

	event_make(&ops[0], &events[0], "");
	for (size_t i = 0; i < LENGTH(ops); i++) {
		if (i > 0)
			row_again(&ops[i], &ops[0]);
		ops[i].event = &events[i];
		events[i].identity[0] = (char)('a' + (i == 3 ? 2 : i));
		memcpy(events[i].identity + 1, events[0].identity + 1,
			UM_UUID_TEXT_LEN);
	}
	for (size_t i = 0; i < LENGTH(ops); i++)
		store_fixture_submit(&fixture, &ops[i]);
	store_fixture_run(&fixture, LENGTH(ops));
	for (size_t i = 0; i < LENGTH(ops); i++)
		assert_outcome(&ops[i], outcomes[i]);
	assert_row_text(&ops[0], "reason", "payment_failed");
	row_again(&again, &ops[0]);
	again.event = &events[1];
	submit_and_run(&again);
	assert_outcome(&again, "seen");
	for (size_t i = 0; i < LENGTH(ops); i++)
		um_op_free(&ops[i]);
}

TEST(an_event_with_the_longest_texts)
{
	struct um_event event = { .effect = UM_EFFECT_PAID };
	struct um_op op;

	event_make(&op, &event, "");
	memset(event.identity + UM_UUID_TEXT_LEN, 'i',
		UM_EVENT_IDENTITY_MAX - UM_UUID_TEXT_LEN);
	memset(event.type, 't', UM_EVENT_TYPE_MAX);
	memset(event.reference, 'r', UM_REFERENCE_MAX);
	submit_and_run(&op);
	assert_outcome(&op, "accept");
	um_op_free(&op);
}

TEST(the_row_of_another_provider_is_unknown)
{
	struct um_event event = { .effect = UM_EFFECT_PAID };
	struct um_op op;

	event_make(&op, &event, "");
	op.provider = "another";
	submit_and_run(&op);
	assert_outcome(&op, "unknown");
	assert_row_text(&op, "status", "pending");
	um_op_free(&op);
}

TEST(bindings)
{
	struct um_op ops[3];

	for (size_t i = 0; i < LENGTH(ops); i++)
		row_make(&ops[i], UM_OP_BINDING);
	ops[1].id[0] ^= 1;
	ops[2].provider = "another";
	for (size_t i = 0; i < LENGTH(ops); i++)
		store_fixture_submit(&fixture, &ops[i]);
	store_fixture_run(&fixture, LENGTH(ops));
	for (size_t i = 0; i < LENGTH(ops); i++)
		assert_int_equal(ops[i].status, UM_STORE_DONE);
	assert_true(ops[0].row.has_binding);
	assert_memory_equal(ops[0].row.binding, ops[0].binding, UM_BINDING_LEN);
	assert_false(ops[1].row.has_binding);
	assert_false(ops[2].row.has_binding);
}

/* Where it is known who the user is, the row is for its subject alone. */
TEST(only_the_subject_opens_or_completes)
{
	static const enum um_op_kind kinds[] = { UM_OP_OPEN, UM_OP_COMPLETE };
	static const char *const outcomes[] = { "opened", "completed" };

	for (size_t i = 0; i < LENGTH(kinds); i++) {
		struct um_op wrong, right;

		row_make_complete(&wrong, "accept", "");
		wrong.kind = kinds[i];
		row_again(&right, &wrong);
		wrong.subject = "user-43";
		right.subject = "user-42";
		submit_and_run(&wrong);
		assert_outcome(&wrong, "wrong_user");
		assert_null(wrong.row.target_url);
		assert_row_text(&wrong, "status", "pending");
		submit_and_run(&right);
		assert_outcome(&right, outcomes[i]);
		um_op_free(&wrong);
		um_op_free(&right);
	}
}

#define STORE_TEST(name)                                                       \
	cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		STORE_TEST(what_each_effect_does),
		STORE_TEST(events_are_recorded_once_and_in_order),
		STORE_TEST(an_event_with_the_longest_texts),
		STORE_TEST(the_row_of_another_provider_is_unknown),
		STORE_TEST(bindings),
		STORE_TEST(only_the_subject_opens_or_completes),
	};

	return cmocka_run_group_tests(tests, store_fixture_group_set_up,
		store_fixture_group_tear_down);
}
