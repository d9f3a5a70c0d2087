/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "core/clock.h"
#include "support.h"

#define MOMENT_MS 10L

static void
pause_ms(long ms)
{
	struct timespec time = { 0, ms * 1000000 };

	nanosleep(&time, NULL);
}

/* Each clock in its own unit; the machine may be slow, and is never early. */
TEST(the_clocks_go_on)
{
	int64_t us = um_monotonic_us(), ms = um_monotonic_ms();

	assert_in_range(ms - us / 1000, 0, 1000);
	pause_ms(MOMENT_MS);
	assert_true(um_monotonic_us() - us >= MOMENT_MS * 1000);
	assert_true(um_monotonic_ms() - ms >= MOMENT_MS - 1);
}

TEST(the_wall_clock_is_unix_time)
{
	int64_t before = time(NULL), now = um_clock_wall_ms();

	assert_true(now / 1000 >= before);
	assert_true(now / 1000 <= (int64_t)time(NULL) + 1);
}

/* A negative deadline means that there is none. */
TEST(deadlines)
{
	static const struct {
		int64_t a, b, earlier;
	} rows[] = {
		{ 1, 2, 1 },
		{ 2, 1, 1 },
		{ 0, 1, 0 },
		{ -1, 5, 5 },
		{ 5, -1, 5 },
		{ -1, -1, -1 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		row_begin("%d and %d", (int)rows[i].a, (int)rows[i].b);
		assert_int_equal(um_deadline_earlier(rows[i].a, rows[i].b),
			rows[i].earlier);
	}
	assert_int_equal(um_deadline_timeout(-1, 100), -1);
	assert_int_equal(um_deadline_timeout(99, 100), 0);
	assert_int_equal(um_deadline_timeout(100, 100), 0);
	assert_int_equal(um_deadline_timeout(103, 100), 3);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clocks_go_on),
		cmocka_unit_test(the_wall_clock_is_unix_time),
		cmocka_unit_test(deadlines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
