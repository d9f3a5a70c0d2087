/* SPDX-License-Identifier: MIT */
#include "core/clock.h"

#include <time.h>

static int64_t
read_us(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t
um_monotonic_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}

int64_t
um_monotonic_ms(void)
{
	return um_monotonic_us() / 1000;
}

int64_t
um_clock_wall_ms(void)
{
	return read_us(CLOCK_REALTIME) / 1000;
}
