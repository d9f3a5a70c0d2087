/* SPDX-License-Identifier: MIT */
/*
 * The machine's clocks. Only servers and clients read them; everything else
 * gets the time from its caller.
 */
#ifndef UM_CLOCK_H
#define UM_CLOCK_H

#include <stdint.h>

/* The monotonic clock, which is never set, in milliseconds and microseconds. */
int64_t um_monotonic_ms(void);
int64_t um_monotonic_us(void);

/* Unix time in milliseconds. */
int64_t um_clock_wall_ms(void);

/* The earlier of two deadlines. A negative one means that there is none. */
static inline int64_t
um_deadline_earlier(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* The milliseconds until a deadline, for epoll_wait(). -1: there is none. */
static inline int
um_deadline_timeout(int64_t deadline, int64_t now)
{
	if (deadline < 0)
		return -1;
	return deadline <= now ? 0 : (int)(deadline - now);
}

#endif
