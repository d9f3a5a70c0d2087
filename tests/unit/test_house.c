/* SPDX-License-Identifier: MIT */
/* What the api does for the rows that nobody asks for: it marks and purges. */
#include "api/house.h"

#include <stdlib.h>
#include <string.h>

#include "api/calls.h"
#include "contract/limits.h"
#include "support.h"

#define NOW 1000

static struct um_op *submitted[8];
static size_t submitted_len;

static void
submit(struct um_op *op, void *arg)
{
	(void)arg;
	assert_true(submitted_len < LENGTH(submitted));
	submitted[submitted_len++] = op;
}

static void
begin(struct um_house *house)
{
	const struct um_side_loop loop = { .submit = submit };

	submitted_len = 0;
	um_house_begin(house, &loop, NOW);
}

/* Hands all of them back, as the database has answered: so many were purged. */
static void
answer(struct um_house *house, enum um_store_status status)
{
	for (size_t i = 0; i < submitted_len; i++) {
		submitted[i]->status = status;
		um_house_done(house, submitted[i]);
	}
	submitted_len = 0;
}

TEST(results_and_rows_are_purged_each_in_its_time)
{
	struct um_house house;
	int64_t now = NOW;
	unsigned results = 0, rows = 0;

	begin(&house);
	um_house_run(&house, false, now);
	assert_int_equal(submitted_len, 0);
	while ((now = um_house_deadline(&house))
		<= NOW + 2 * (int64_t)UM_PURGE_ROWS_EVERY_MS) {
		um_house_run(&house, false, now);
		assert_true(submitted_len != 0);
		for (size_t i = 0; i < submitted_len; i++) {
			results += submitted[i]->call == &um_call_purge_results;
			rows += submitted[i]->call == &um_call_purge;
		}
		answer(&house, UM_STORE_DONE);
	}
	assert_int_equal(rows, 2);
	assert_int_equal(results,
		2 * UM_PURGE_ROWS_EVERY_MS / UM_PURGE_RESULTS_EVERY_MS);
	assert_false(um_house_is_busy(&house));
	um_house_free(&house);
}

TEST(a_purge_that_fails_is_made_again_in_its_time)
{
	struct um_house house;

	begin(&house);
	um_house_run(&house, false, NOW + UM_PURGE_RESULTS_EVERY_MS);
	assert_int_equal(submitted_len, 1);
	assert_true(um_house_is_busy(&house));
	answer(&house, UM_STORE_UNAVAILABLE);
	assert_int_equal(um_house_deadline(&house),
		NOW + 2 * UM_PURGE_RESULTS_EVERY_MS);
	um_house_free(&house);
}

TEST(what_was_shown_is_marked_together_and_before_the_end)
{
	static const uint8_t id[UM_UUID_LEN] = { 1 },
			     binding[UM_BINDING_LEN] = { 2 };
	struct um_house house;

	begin(&house);
	um_house_mark(&house, id, binding, NOW);
	um_house_mark(&house, id, binding, NOW + 1);
	assert_int_equal(um_house_deadline(&house), NOW + UM_MARK_DELAY_MS);
	um_house_run(&house, false, NOW + UM_MARK_DELAY_MS - 1);
	assert_int_equal(submitted_len, 0);
	um_house_run(&house, true, NOW + UM_MARK_DELAY_MS - 1);
	assert_int_equal(submitted_len, 1);
	assert_ptr_equal(submitted[0]->call, &um_call_mark_shown);
	answer(&house, UM_STORE_DONE);
	assert_false(um_house_is_busy(&house));
	um_house_free(&house);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_and_rows_are_purged_each_in_its_time),
		cmocka_unit_test(a_purge_that_fails_is_made_again_in_its_time),
		cmocka_unit_test(
			what_was_shown_is_marked_together_and_before_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
