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

#endif
