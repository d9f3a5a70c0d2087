/* SPDX-License-Identifier: MIT */
/* The store: what webhooks bring, and for whom a row is. */
#include <stdlib.h>
#include <string.h>

#include "store_fixture.h"

static struct store_fixture fixture;

/* A row of kind payment, and an event of it, whose identity is its own. */
static void
event_make(struct um_op *op, struct um_event *event, const char *expected)
{
	char uuid[UM_UUID_TEXT_LEN + 1];

	row_make(op, UM_OP_EVENT);
	um_uuid_format(uuid, op->id);
	sql_do(admin_db,
		"UPDATE urlmode.elicitation SET kind = 'payment',"
		" expected = '%s' WHERE id = '%s'",
		expected, uuid);
	um_buf_puts(&op->result, "sealed");
	memcpy(event->identity, uuid, sizeof(uuid));
	op->event = event;
}

/* Another event of the same row. */
static void
event_again(struct um_op *op, const struct um_op *of, struct um_event *event)
{
	row_again(op, of);
	um_buf_puts(&op->result, "sealed");
	op->event = event;
}

static void
submit_and_run(struct um_op *op)
{
	store_fixture_submit(&fixture, op);
	store_fixture_run(&fixture, fixture.done_len + 1);
}

#define TEN "{\"amount\": 1000, \"currency\": \"EUR\"}"
#define ANY "\"any\""
#define PAID_EUR(minor_units)                                                  \
	.effect = UM_EFFECT_PAID, .has_amount = true, .amount = (minor_units), \
	.currency = "EUR"
#define PAID_USD(minor_units)                                                  \
	.effect = UM_EFFECT_PAID, .has_amount = true, .amount = (minor_units), \
	.currency = "USD"

TEST(what_each_effect_does)
{
	static const struct {
		const char *expected;
		struct um_event event;
		const char *outcome;
		const char *row;
	} cases[] = {
		{ ANY, { PAID_USD(1) }, "accept", "completed accept " },
		{ ANY, { PAID_USD(0) }, "cancel",
			"completed cancel amount_mismatch" },
		{ TEN, { PAID_EUR(1000) }, "accept", "completed accept " },
		{ TEN, { PAID_EUR(999) }, "cancel",
			"completed cancel amount_mismatch" },
		{ TEN, { PAID_USD(1000) }, "cancel",
			"completed cancel amount_mismatch" },
		{ "{\"amount\": 9007199254740991, \"currency\": \"EUR\"}",
			{ PAID_EUR(9007199254740991) }, "accept",
			"completed accept " },
		{ TEN, { .effect = UM_EFFECT_PAID }, "recheck", "pending - " },
		{ ANY, { .effect = UM_EFFECT_PAID }, "recheck", "pending - " },
		{ ANY, { .effect = UM_EFFECT_FAILED }, "cancel",
			"completed cancel payment_failed" },
		{ ANY, { .effect = UM_EFFECT_CANCELLED }, "decline",
			"completed decline cancelled" },
		{ ANY, { .effect = UM_EFFECT_EXPIRED }, "cancel",
			"completed cancel expired" },
		{ ANY, { .effect = UM_EFFECT_PROCESSING }, "processing",
			"processing - " },
		{ ANY, { .effect = UM_EFFECT_ATTEMPT_FAILED }, "attempt_failed",
			"pending - " },
		{ ANY, { .effect = UM_EFFECT_REFUNDED }, "refunded",
			"pending - " },
		{ ANY, { .effect = UM_EFFECT_OTHER_MODE }, "other_mode",
			"pending - " },
		{ ANY, { .effect = UM_EFFECT_OTHER_ACCOUNT }, "other_account",
			"pending - " },
		{ ANY, { .effect = UM_EFFECT_RECHECK }, "recheck",
			"pending - " },
		{ ANY, { .effect = UM_EFFECT_IGNORE }, "ignored",
			"pending - " },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_event event = cases[i].event;
		struct um_op op;

		row_begin("%s, %s", cases[i].outcome, cases[i].row);
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

/*
 * A payment is no signature, and an account is accepted by its return alone.
 * Money is written down, whatever it was paid for.
 */
TEST(what_proves_another_kind_proves_nothing)
{
	static const struct {
		const char *kind;
		const char *providers;
		enum um_effect effect;
		const char *outcome;
	} cases[] = {
		{ "signature", "signature", UM_EFFECT_ACCEPTED, "accept" },
		{ "signature", "signature", UM_EFFECT_PAID, "other_kind" },
		{ "signature", "payment", UM_EFFECT_PAID, "other_kind" },
		{ "signature", "payment", UM_EFFECT_EXPIRED, "ignored" },
		{ "oauth", "payment", UM_EFFECT_PAID, "other_kind" },
		{ "oauth", "oauth", UM_EFFECT_PAID, "other_kind" },
		{ "oauth", "oauth", UM_EFFECT_ACCEPTED, "ignored" },
		{ "oauth", "oauth", UM_EFFECT_EXPIRED, "cancel" },
		{ "payment", "signature", UM_EFFECT_ACCEPTED, "ignored" },
		{ "payment", "signature", UM_EFFECT_PAID, "other_kind" },
		{ "payment", "oauth", UM_EFFECT_PAID, "other_kind" },
		{ "payment", "payment", UM_EFFECT_ACCEPTED, "accept" },
		{ "payment", "payment", UM_EFFECT_PAID, "accept" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_event event = { .effect = cases[i].effect,
			.has_amount = true,
			.amount = 5,
			.currency = "EUR" };
		char uuid[UM_UUID_TEXT_LEN + 1];
		struct um_op op;

		row_begin("%s: %s, %d", cases[i].kind, cases[i].providers,
			(int)cases[i].effect);
		event_make(&op, &event, ANY);
		um_uuid_format(uuid, op.id);
		sql_do(admin_db,
			"UPDATE urlmode.elicitation SET kind = '%s'"
			" WHERE id = '%s'",
			cases[i].kind, uuid);
		op.row_kind = cases[i].providers;
		submit_and_run(&op);
		assert_outcome(&op, cases[i].outcome);
		assert_row_text(&op, "coalesce(action, '-')",
			strcmp(cases[i].outcome, "ignored") == 0
					|| strcmp(cases[i].outcome,
						   "other_kind")
						== 0
				? "-"
				: cases[i].outcome);
		um_op_free(&op);
	}
}

/* In one batch or one after the other: the first that completes counts. */
TEST(events_are_recorded_once_and_in_order)
{
	struct um_event events[4] = {
		{ .effect = UM_EFFECT_PROCESSING },
		{ .effect = UM_EFFECT_FAILED },
		{ PAID_EUR(5) },
		{ PAID_EUR(5) },
	};
	static const char *const outcomes[] = { "processing", "cancel", "late",
		"seen" };
	struct um_op ops[4];
	struct um_op again;

	event_make(&ops[0], &events[0], ANY);
	for (size_t i = 0; i < LENGTH(ops); i++) {
		if (i > 0)
			event_again(&ops[i], &ops[0], &events[i]);
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
	ops_free(ops, LENGTH(ops));
}

/* The provider's reference, or the row's id where it sends none. */
TEST(a_reference_pays_for_one_row)
{
	static const struct {
		const char *reference;
		const char *outcome;
	} cases[] = {
		{ "unit-test-1", "accept" },
		{ "unit-test-1", "reference_taken" },
		{ "", "accept" },
		{ "", "accept" },
	};
	char *kept;

	sql_do(admin_db, "DELETE FROM urlmode.payment WHERE provider = '%s'",
		FIXTURE_PROVIDER);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_event event = { PAID_EUR(1000) };
		struct um_op op;

		row_begin("%zu, %s", i, cases[i].outcome);
		event_make(&op, &event, TEN);
		memcpy(event.reference, cases[i].reference,
			strlen(cases[i].reference));
		submit_and_run(&op);
		assert_outcome(&op, cases[i].outcome);
		um_op_free(&op);
	}
	kept = sql(admin_db,
		"SELECT concat_ws(' ', count(*),"
		" count(*) FILTER (WHERE reference = elicitation::text))"
		" FROM urlmode.payment WHERE provider = '%s'",
		FIXTURE_PROVIDER);
	assert_string_equal(kept, "3 2");
	free(kept);
}

/* The same payment again, in an event of its own. */
TEST(a_payment_that_is_told_again)
{
	struct um_event events[2] = { { PAID_EUR(1000) }, { PAID_EUR(1000) } };
	struct um_op ops[2];

	event_make(&ops[0], &events[0], TEN);
	event_again(&ops[1], &ops[0], &events[1]);
	memcpy(events[1].identity, "again", sizeof("again"));
	sql_do(admin_db, "DELETE FROM urlmode.event WHERE provider = '%s'",
		FIXTURE_PROVIDER);
	submit_and_run(&ops[0]);
	submit_and_run(&ops[1]);
	assert_outcome(&ops[0], "accept");
	assert_outcome(&ops[1], "repeated");
	um_op_free(&ops[0]);
	um_op_free(&ops[1]);
}

/* A refund that names its payment alone. The answer says the elicitation. */
TEST(a_refund_finds_its_elicitation)
{
	struct um_event paid = { PAID_EUR(1000), .reference = "unit-test-2",
		.checkout = "unit-test-checkout" };
	struct um_event refund = { .effect = UM_EFFECT_REFUNDED,
		.reference = "unit-test-2",
		.refund = "unit-test-refund" };
	struct um_event other = { .effect = UM_EFFECT_REFUND_REVERSED,
		.identity = "other",
		.reference = "unit-test-3" };
	struct um_op ops[3];
	char *refunded;

	sql_do(admin_db,
		"DELETE FROM urlmode.payment; DELETE FROM urlmode.refund");
	event_make(&ops[0], &paid, TEN);
	submit_and_run(&ops[0]);
	assert_outcome(&ops[0], "accept");

	memcpy(refund.identity, paid.identity, sizeof(paid.identity));
	refund.identity[0] = 'x';
	event_again(&ops[1], &ops[0], &refund);
	ops[1].is_unnamed = true;
	memset(ops[1].id, 0, sizeof(ops[1].id));
	submit_and_run(&ops[1]);
	assert_outcome(&ops[1], "refunded");
	assert_false(ops[1].is_unnamed);
	assert_memory_equal(ops[1].id, ops[0].id, sizeof(ops[0].id));
	refunded = sql(admin_db,
		"SELECT refunded FROM urlmode.payment"
		" WHERE reference = 'unit-test-2'");
	assert_string_equal(refunded, "1000");
	free(refunded);

	event_again(&ops[2], &ops[0], &other);
	ops[2].is_unnamed = true;
	submit_and_run(&ops[2]);
	assert_outcome(&ops[2], "unknown");
	assert_true(ops[2].is_unnamed);
	ops_free(ops, LENGTH(ops));
}

/* What a page is told of attempts that failed, and of a payment too late. */
TEST(what_look_up_says_of_a_payment)
{
	struct um_event failed = { .effect = UM_EFFECT_ATTEMPT_FAILED };
	struct um_event over = { .effect = UM_EFFECT_EXPIRED };
	struct um_event paid = { PAID_EUR(1000) };
	struct um_event *const events[] = { &failed, &over, &paid };
	static const char *const outcomes[] = { "attempt_failed", "cancel",
		"late" };
	struct um_op ops[LENGTH(events)];

	for (size_t i = 0; i < LENGTH(events); i++) {
		struct um_op look;

		row_begin("%s", outcomes[i]);
		if (i == 0)
			event_make(&ops[0], &failed, TEN);
		else
			event_again(&ops[i], &ops[0], events[i]);
		memcpy(events[i]->identity, failed.identity,
			sizeof(failed.identity));
		events[i]->identity[0] = (char)('x' + i);
		submit_and_run(&ops[i]);
		assert_outcome(&ops[i], outcomes[i]);

		row_again(&look, &ops[0]);
		look.kind = UM_OP_LOOK_UP;
		submit_and_run(&look);
		assert_outcome(&look, i == 0 ? "pending" : "completed");
		assert_int_equal(look.row.failed_attempts, 1);
		assert_true(look.row.late == (i == 2));
		assert_int_equal(look.row.amount, 1000);
		assert_string_equal(look.row.currency, "EUR");
		um_op_free(&look);
	}
	ops_free(ops, LENGTH(ops));
}

static int64_t
measure(void)
{
	struct um_op op = { .kind = UM_OP_MEASURE };

	submit_and_run(&op);
	assert_outcome(&op, "ok");
	return op.row.unclaimed;
}

TEST(unclaimed_payments_are_counted)
{
	struct um_event event = { PAID_EUR(1000) };
	int64_t before = measure();
	struct um_op op;

	event_make(&op, &event, TEN);
	submit_and_run(&op);
	assert_int_equal(measure(), before + 1);
	sql_do(admin_db,
		"UPDATE urlmode.payment SET claimed_at = now()"
		" WHERE provider = '%s' AND claimed_at IS NULL",
		FIXTURE_PROVIDER);
	assert_true(measure() <= before);
	um_op_free(&op);
}

/* The provider's own time counts from the expiry, in milliseconds. */
TEST(the_grace_of_a_payment_that_is_opened)
{
	static const char *const kinds[] = { "payment", "signature", "oauth" };
	static const char *const graces[] = { "01:00:00.5", "01:00:00.5",
		"00:00:00" };

	for (size_t i = 0; i < LENGTH(kinds); i++) {
		struct um_event event = { 0 };
		struct um_op op;
		char uuid[UM_UUID_TEXT_LEN + 1];

		row_begin("%s", kinds[i]);
		event_make(&op, &event, ANY);
		um_uuid_format(uuid, op.id);
		sql_do(admin_db,
			"UPDATE urlmode.elicitation SET kind = '%s'"
			" WHERE id = '%s'",
			kinds[i], uuid);
		op.kind = UM_OP_OPEN;
		op.grace_ms = 3600500;
		submit_and_run(&op);
		assert_outcome(&op, "opened");
		assert_row_text(&op, "grace", graces[i]);
		um_op_free(&op);
	}
}

TEST(an_event_with_the_longest_texts)
{
	struct um_event event = { PAID_EUR(1000) };
	struct um_op op;

	event_make(&op, &event, ANY);
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
	struct um_event event = { PAID_EUR(1000) };
	struct um_op op;

	event_make(&op, &event, ANY);
	op.provider = "another";
	submit_and_run(&op);
	assert_outcome(&op, "unknown");
	assert_row_text(&op, "status", "pending");
	um_op_free(&op);
}

/* What is kept of an event that comes too early has its details as well. */
TEST(the_details_of_an_event_are_kept)
{
	struct um_event event = { .effect = UM_EFFECT_REFUNDED,
		.reference = "of-nobody",
		.details = { .occurred_at = 1700000000, .state = "lost" } };
	struct um_event plain = { .effect = UM_EFFECT_REFUNDED,
		.reference = "of-nobody" };
	struct um_event *const events[] = { &event, &plain };
	static const char *const expected[] = {
		"{\"state\": \"lost\", \"occurred_at\": 1700000000}", ""
	};

	for (size_t i = 0; i < LENGTH(events); i++) {
		struct um_op op;
		char *found;

		row_begin("%s", expected[i]);
		event_make(&op, events[i], ANY);
		op.is_unnamed = true;
		submit_and_run(&op);
		assert_outcome(&op, "unknown");
		found = sql(admin_db,
			"SELECT coalesce(details::text, '')"
			" FROM urlmode.unknown_event WHERE identity = '%s'",
			events[i]->identity);
		assert_string_equal(found, expected[i]);
		free(found);
		um_op_free(&op);
	}
}

/* Where it is known who the user is, the row is for its subject alone. */
TEST(only_the_subject_opens_or_completes)
{
	static const enum um_op_kind kinds[] = { UM_OP_OPEN, UM_OP_COMPLETE };
	static const char *const outcomes[] = { "opened", "completed" };

	for (size_t i = 0; i < LENGTH(kinds); i++) {
		struct um_op wrong, right;

		row_begin("%s", outcomes[i]);
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

static void
make_unreadable(struct um_op *op, const char *request)
{
	*op = (struct um_op){ .kind = UM_OP_UNREADABLE,
		.provider = FIXTURE_PROVIDER,
		.reason = "body_malformed",
		.place = "/type: is not readable",
		.request = request,
		.digest = { 1, 2, 3 } };
}

static void
assert_unreadable(const char *expected)
{
	char *found = sql(admin_db,
		"SELECT concat_ws(' ', reason, place, request, times,"
		" encode(digest, 'hex')) FROM urlmode.unreadable_delivery"
		" WHERE provider = '%s'",
		FIXTURE_PROVIDER);

	assert_string_equal(found, expected);
	free(found);
}

/* Another session that records the same one holds up neither of them. */
TEST(what_cannot_be_read_waits_for_nobody)
{
	PGconn *other = sql_connect();
	struct um_op ops[4];

	make_unreadable(&ops[0], "r1");
	submit_and_run(&ops[0]);
	assert_outcome(&ops[0], "ok");
	assert_unreadable("body_malformed /type: is not readable r1 1 "
			  "01020300000000000000000000000000");

	sql_do(other, "BEGIN");
	sql_do(other,
		"UPDATE urlmode.unreadable_delivery SET times = 7"
		" WHERE provider = '%s'",
		FIXTURE_PROVIDER);
	make_unreadable(&ops[1], "r2");
	row_make_complete(&ops[2], "accept", "");
	make_unreadable(&ops[3], "r3");
	for (size_t i = 1; i < LENGTH(ops); i++)
		store_fixture_submit(&fixture, &ops[i]);
	store_fixture_run(&fixture, LENGTH(ops));
	assert_outcome(&ops[1], "ok");
	assert_outcome(&ops[2], "completed");
	assert_int_equal(fixture.batches_len, 2);
	assert_int_equal(fixture.batches[1], 3);
	sql_do(other, "ROLLBACK");
	PQfinish(other);

	make_unreadable(&ops[3], "r4");
	submit_and_run(&ops[3]);
	assert_unreadable("body_malformed /type: is not readable r4 2 "
			  "01020300000000000000000000000000");
	ops_free(ops, LENGTH(ops));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		STORE_TEST(what_each_effect_does),
		STORE_TEST(what_proves_another_kind_proves_nothing),
		STORE_TEST(events_are_recorded_once_and_in_order),
		STORE_TEST(a_reference_pays_for_one_row),
		STORE_TEST(a_payment_that_is_told_again),
		STORE_TEST(a_refund_finds_its_elicitation),
		STORE_TEST(what_look_up_says_of_a_payment),
		STORE_TEST(unclaimed_payments_are_counted),
		STORE_TEST(the_grace_of_a_payment_that_is_opened),
		STORE_TEST(an_event_with_the_longest_texts),
		STORE_TEST(the_details_of_an_event_are_kept),
		STORE_TEST(the_row_of_another_provider_is_unknown),
		STORE_TEST(only_the_subject_opens_or_completes),
		STORE_TEST(what_cannot_be_read_waits_for_nobody),
	};

	return cmocka_run_group_tests(tests, store_fixture_group_set_up,
		store_fixture_group_tear_down);
}
